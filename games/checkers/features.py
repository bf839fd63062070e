"""The feature sets of checkers: which terms evaluators read together."""

from __future__ import annotations

from games.checkers.rules import swap_sides
from games.checkers.samuel_connectives import CONNECTIVES, RESERVE
from games.checkers.samuel_terms import INITIAL_ACTIVE, SIMPLE_TERMS, piece_advantage
from games.checkers.terms import (
    advance,
    back_row,
    bridge,
    centre,
    double_corner,
    edge,
    far_advanced,
    hanging,
    king_centre,
    kings,
    men,
    mobility,
    runaways,
    superiority,
    supported,
    trapped_kings,
)
from games.features import FeatureSet

CLASSIC_TERMS = {
    "men": men,
    "kings": kings,
    "superiority": superiority,
    "back_row": back_row,
    "bridge": bridge,
    "centre": centre,
    "king_centre": king_centre,
    "edge": edge,
    "advance": advance,
    "far_advanced": far_advanced,
    "runaways": runaways,
    "mobility": mobility,
    "hanging": hanging,
    "double_corner": double_corner,
    "trapped_kings": trapped_kings,
    "supported": supported,
}

#: Sixteen terms that checkers books and programs agree on.
CLASSIC = FeatureSet("classic", CLASSIC_TERMS, swap_sides)

#: Samuel's library (1959) in the order in which its terms come into play: the fixed piece
#: advantage, the sixteen that are active at first, and the reserve.
SAMUEL = FeatureSet(
    "samuel",
    {
        "PIECES": piece_advantage,
        **{name: (SIMPLE_TERMS | CONNECTIVES)[name] for name in (*INITIAL_ACTIVE, *RESERVE)},
    },
    swap_sides,
)

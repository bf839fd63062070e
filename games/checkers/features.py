"""The feature sets of checkers: sets of terms that evaluators read together."""

from __future__ import annotations

from games.checkers import terms
from games.checkers.rules import swap_sides
from games.checkers.samuel_connectives import CONNECTIVES, RESERVE
from games.checkers.samuel_terms import INITIAL_ACTIVE, SIMPLE_TERMS, piece_advantage
from games.features import FeatureSet

CLASSIC_TERMS = {
    name: getattr(terms, name)
    for name in (
        "men", "kings", "superiority", "back_row", "bridge", "centre",
        "king_centre", "edge", "advance", "far_advanced", "runaways",
        "mobility", "hanging", "squares_1_5_6", "trapped_kings", "supported",
    )
}  # fmt: skip

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

"""The evaluator of the C yardstick (ab.c) as Plysmith evaluators: sixteen linear terms.

There are eight terms of the side to move and the same eight of the other side, each with its own
weight: once as a feature set, once as a handwritten kernel.
"""

from __future__ import annotations

import numpy as np

from games.checkers.rules import WHITE, swap_sides
from games.contract import Game
from games.features import FeatureSet
from games.kernels import kernel, popcount
from search import KernelEvaluator, LinearEvaluator

BACK, BACK_W = 15, 32212254720
CENTRE, EDGE, MIDDLE = 26790912, 3227529240, 4055040
ADVANCED, ADVANCED_W = 34288435200, 7935
HOME, HOME_W = 255, 34225520640
WEIGHTS = (100.0, 130.0, 8.0, 3.0, -2.0, 2.0, 4.0, 1.0)


@kernel
def men(position):
    """Men."""
    return popcount(position[0] & ~position[2])


@kernel
def kings(position):
    """Kings."""
    return popcount(position[0] & position[2])


@kernel
def back(position):
    """Men on the back row."""
    return popcount(position[0] & ~position[2] & (BACK_W if position[3] == WHITE else BACK))


@kernel
def centre(position):
    """Pieces in the centre."""
    return popcount(position[0] & CENTRE)


@kernel
def edge(position):
    """Pieces on the edge."""
    return popcount(position[0] & EDGE)


@kernel
def middle(position):
    """Pieces in the middle."""
    return popcount(position[0] & MIDDLE)


@kernel
def advanced(position):
    """Men far forward."""
    on = position[0] & ~position[2]
    return popcount(on & (ADVANCED_W if position[3] == WHITE else ADVANCED))


@kernel
def home(position):
    """Men on the first two rows."""
    return popcount(position[0] & ~position[2] & (HOME_W if position[3] == WHITE else HOME))


@kernel
def their_men(position):
    """Men of the other side; and so on."""
    return men(swap_sides(position))


@kernel
def their_kings(position):
    """Kings."""
    return kings(swap_sides(position))


@kernel
def their_back(position):
    """Men on the back row."""
    return back(swap_sides(position))


@kernel
def their_centre(position):
    """Pieces in the centre."""
    return centre(swap_sides(position))


@kernel
def their_edge(position):
    """Pieces on the edge."""
    return edge(swap_sides(position))


@kernel
def their_middle(position):
    """Pieces in the middle."""
    return middle(swap_sides(position))


@kernel
def their_advanced(position):
    """Men far forward."""
    return advanced(swap_sides(position))


@kernel
def their_home(position):
    """Men on the first two rows."""
    return home(swap_sides(position))


OWN = (men, kings, back, centre, edge, middle, advanced, home)
THEIRS = (
    their_men,
    their_kings,
    their_back,
    their_centre,
    their_edge,
    their_middle,
    their_advanced,
    their_home,
)
TERMS = FeatureSet("yardstick", {term.__name__: term for term in (*OWN, *THEIRS)})


@kernel
def half(weights, first, position):
    """The weighted sum of the eight terms of the side to move, its weights from `first` on."""
    own, _, crowned, side = position
    on = own & ~crowned
    white = side == WHITE
    return (
        weights[first] * popcount(on)
        + weights[first + 1] * popcount(own & crowned)
        + weights[first + 2] * popcount(on & (BACK_W if white else BACK))
        + weights[first + 3] * popcount(own & CENTRE)
        + weights[first + 4] * popcount(own & EDGE)
        + weights[first + 5] * popcount(own & MIDDLE)
        + weights[first + 6] * popcount(on & (ADVANCED_W if white else ADVANCED))
        + weights[first + 7] * popcount(on & (HOME_W if white else HOME))
    )


@kernel
def value(weights, position):
    """The same sum as `TERMS`, written by hand."""
    return half(weights, 0, position) - half(weights, 8, swap_sides(position))


def as_feature_set(game: Game) -> LinearEvaluator:
    """Returns the evaluator of ab.c as weights over a feature set."""
    return LinearEvaluator(game, TERMS, [*WEIGHTS, *(-weight for weight in WEIGHTS)])


def as_kernel(game: Game) -> KernelEvaluator:
    """Returns the evaluator of ab.c as one kernel."""
    return KernelEvaluator(game, value, np.array(WEIGHTS * 2))

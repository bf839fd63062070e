"""Exact equities with the cube for short races, for money: the measure of every estimate.

Both sides have at most a few checkers left, all at home, so that there are no gammons. Each side
doubles, takes and moves as is best for its equity with the cube (as in the two-sided databases of
GNU Backgammon). Positions are numbered as in `games.backgammon.bear_off`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from games.backgammon.bear_off import list_successors, positions_of
from games.backgammon.rules import MOST_MOVES, PROBABILITIES
from games.kernels import kernel

__all__ = ["Endings", "endings"]

_ROLLS = len(PROBABILITIES)
#: Who has the cube, from the view of the side to move.
OWN, THEIRS, MIDDLE = range(3)


@dataclass(frozen=True, eq=False)
class Endings:
    """Equities of the side to move before its roll, [positions, positions], for a cube of 1.

    Each is without a double now: the side rolls, and both act rightly from then on.

    own: the side to move has the cube.
    theirs: the other side has it.
    middle: the cube is in the middle.
    """

    own: NDArray[np.float64]
    theirs: NDArray[np.float64]
    middle: NDArray[np.float64]


@kernel
def _offered(equities, owner, mine, theirs):
    """Returns the equity of the side to move before it may double."""
    rolling = equities[owner, mine, theirs]
    if owner == THEIRS:
        return rolling
    return max(rolling, min(2.0 * equities[THEIRS, mine, theirs], 1.0))


@kernel
def _fill_one(equities, begins, lists, mine, theirs):
    """Fill the three equities of one position."""
    for owner in range(3):
        # after the move the other side is to move, and the cube is seen from there
        turned = 1 - owner if owner != MIDDLE else MIDDLE
        value = 0.0
        for roll in range(_ROLLS):
            worst = 2.0
            for i in range(begins[_ROLLS * mine + roll], begins[_ROLLS * mine + roll + 1]):
                worst = min(worst, _offered(equities, turned, theirs, lists[i]))
            value -= PROBABILITIES[roll] * worst
        equities[owner, mine, theirs] = value
    return 0


@kernel
def _fill(equities, begins, lists):
    """Fill `equities` [3, positions, positions] from the lists of `list_successors`."""
    size = equities.shape[1]
    for owner in range(3):
        for number in range(size):
            equities[owner, number, 0] = -1.0
            equities[owner, 0, number] = 1.0
    for high in range(1, size):
        for low in range(1, high + 1):
            _fill_one(equities, begins, lists, high, low)
            _fill_one(equities, begins, lists, low, high)
    return 0


@functools.cache
def endings(checkers: int = 4) -> Endings:
    """Returns the equities for at most `checkers` checkers a side, 1 to 6.

    Building those of 4 takes a fraction of a second, those of 6 some seconds.
    """
    if not 1 <= checkers <= 6:
        raise ValueError(f"checkers: expected 1 to 6, found {checkers}")
    moves, after = np.zeros((2, MOST_MOVES), dtype=np.int64)
    pairs = positions_of(checkers)
    begins = np.zeros(pairs * _ROLLS + 1, dtype=np.int64)
    count = list_successors(begins, np.zeros(1, dtype=np.int64), moves, after)
    lists = np.zeros(count, dtype=np.int64)
    list_successors(begins, lists, moves, after)
    equities = np.zeros((3, pairs, pairs))
    _fill(equities, begins, lists)
    equities.setflags(write=False)
    return Endings(equities[OWN], equities[THEIRS], equities[MIDDLE])

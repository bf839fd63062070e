"""Blockades: the freedom that a side's points leave to the checkers behind them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from games.backgammon.rules import BAR, ROLLS
from games.kernels import kernel, popcount

_POINTS = (1 << BAR) - 2
_NEXT_SIX = 63
_NEXT_TWELVE = 4095


def _escape_table() -> NDArray[np.int8]:
    """Returns the number of rolls that escape for each set of blocked points of the next twelve.

    Bit 0 is the next point. A roll escapes if it takes the checker, by way of points that are not
    blocked, farther than the last blocked point among the next six; all do if none is blocked.
    """
    sets = np.arange(_NEXT_TWELVE + 1)
    last = sum((sets & _NEXT_SIX) >= 1 << bit for bit in range(6))

    def lands(pips: int) -> NDArray[np.bool_]:
        open_points: NDArray[np.bool_] = (sets >> (pips - 1) & 1) == 0
        return open_points

    rolls = np.zeros(len(sets), dtype=np.int8)
    for high, low in ROLLS:
        if high == low:
            escapes, on_the_way = last == 0, np.ones(len(sets), dtype=bool)
            for pips in range(high, min(4 * high, 12) + 1, high):
                on_the_way = on_the_way & lands(pips)
                escapes = escapes | on_the_way & (pips > last)
            rolls += escapes
        else:
            both = (lands(high) | lands(low)) & lands(high + low)
            escapes = lands(high) & (high > last) | lands(low) & (low > last)
            rolls += 2 * (escapes | both & (high + low > last) | (last == 0))
    return rolls


_ESCAPES = _escape_table()


@kernel
def blocked_ahead(point, their_made):
    """Returns which of the twelve points before a checker are blocked, the next one in bit 0.

    `their_made` are the points that the other side has made, as it numbers them.
    """
    return (their_made & _POINTS) >> (26 - point) & _NEXT_TWELVE


@kernel
def escaping_rolls(point, their_made):
    """Returns the number of rolls, of 36, that pass the blocked points among the next six."""
    return int(_ESCAPES[blocked_ahead(point, their_made)])


@kernel
def blocked_next(point, their_made):
    """Returns the number of blocked points among the next six before a checker."""
    return popcount(blocked_ahead(point, their_made) & _NEXT_SIX)


@kernel
def longest_prime(made):
    """Returns the largest number of points made in a row."""
    run = made & _POINTS
    length = 0
    while run:
        run &= run >> 1
        length += 1
    return length


@kernel
def entering_rolls(their_made):
    """Returns the number of rolls, of 36, that enter a checker from the bar."""
    closed = popcount(their_made & 0b1111110)
    return 36 - closed * closed


@kernel
def freedom(far, their_made):
    """Returns the escaping rolls summed over the checkers on points 19 to 25."""
    back = far >> 24
    rolls = 0
    for place in range(7):
        rolls += (back >> 4 * place & 15) * escaping_rolls(19 + place, their_made)
    return rolls


@kernel
def hardest_escape(made):
    """Returns the fewest rolls that would free an enemy checker on the bar or our points 1 to 7.

    `made` are the side's own points, as it numbers them.
    """
    fewest = 36
    for point in range(18, 26):
        fewest = min(fewest, escaping_rolls(point, made))
    return fewest

"""Lookups of Connect Four: openings that the solver has valued, and short searches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from games.connect_four.features import completing
from games.connect_four.rules import ALL, BOTTOM, has_four
from games.connect_four.solver import (
    KEY,
    SPREAD,
    SQUARES,
    bounds_of,
    key_of,
    known_bounds,
    plies_left,
    score_of,
    search,
)
from games.kernels import kernel, popcount, product
from games.values import WIN

__all__ = ["DEEPEST", "forget", "known_by_key", "new_tables", "probe_openings", "probe_solver"]

#: Later positions of whole games are shipped for lookups, not for the solver, which is fast there.
DEEPEST = 19
#: Positions that a probe searches for each of its questions when it first asks about a position; 2
#: to the power of DOUBLED times as many for each time that it has asked, and for each stone that is
#: missing to EASY, but at most MOST_FIRST times for these and MOST_DOUBLED times in all.
FIRST, DOUBLED, MOST_ASKED = 100, 3, 3
EASY, MOST_FIRST, MOST_DOUBLED = 14, 2, 5


@kernel
def probe_openings(openings, position):
    """Probes the book: returns whether a position is won, drawn or lost, as lookups do.

    openings: as `known_by_key` returns them. The number of plies to the end is the greatest that
    the bounds leave open.
    """
    keys, entries = openings
    own, opponent, _ = position
    stones = popcount(own | opponent)
    if stones > DEEPEST:
        return (False, 0.0, 0)
    key = key_of(own, own | opponent)
    place = np.searchsorted(keys, key)
    if place == len(keys) or keys[place] != key:
        return (False, 0.0, 0)
    low, high = bounds_of(entries[place])
    if low > 0:
        return (True, WIN - plies_left(stones, low), 1000)
    if high < 0:
        return (True, plies_left(stones, high) - WIN, 1000)
    return (low == high, 0.0, 1000)


def known_by_key() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the keys of all shipped entries, in ascending order, and the entries."""
    entries = np.concatenate((known_bounds(), known_bounds("later")))
    order = np.argsort(entries & KEY)
    return (entries & KEY)[order], entries[order]


@kernel
def probe_solver(tables, position):
    """Probes the book as `probe_openings` does, and searches for a proof elsewhere, which is short
    unless there are few stones.

    tables: as `new_tables` returns them. After a question in vain, the next search of the same
        position may look at eight times the positions.
    """
    keys, entries, table, asked, never = tables
    own, opponent, _ = position
    stones = own | opponent
    count = popcount(stones)
    known = probe_openings((keys, entries), position)
    if known[0] or stones == ALL or has_four(opponent):
        return known
    if completing((own, opponent, 0)) & (stones + BOTTOM):
        return (True, WIN - 1.0, 1000)
    key = key_of(own, stones)
    slot = (product(int(key), SPREAD) >> 36) & (len(asked) - 1)
    times = asked[slot] & 31 if asked[slot] >> 5 == key else 0
    low, high = -SQUARES, SQUARES
    first = min(max(0, EASY - count), MOST_FIRST)
    most = FIRST << DOUBLED * min(times + first, MOST_DOUBLED)
    for beta in (1, 0):
        if low < beta <= high:
            found = search(own, opponent, beta, most, table, table, never)
            if found >= 0 and score_of(found) >= beta:
                low = score_of(found)
            elif found >= 0:
                high = score_of(found)
    if low > 0:
        return (True, WIN - plies_left(count, low), 1000)
    if high < 0:
        return (True, plies_left(count, high) - WIN, 1000)
    if low == 0 and high == 0:
        return (True, 0.0, 1000)
    asked[slot] = key << 5 | min(times + 1, MOST_ASKED)
    return (False, 0.0, 0)


def new_tables() -> tuple[NDArray[np.int64], ...]:
    """Returns the tables of `probe_solver`: the openings, empty bounds and vain questions."""
    return *known_by_key(), *(np.zeros(size, dtype=np.int64) for size in (1 << 19, 1 << 12, 1))


def forget(tables: tuple[NDArray[np.int64], ...]) -> None:
    """Forget what probes found, so that the next answers are those of new tables."""
    tables[2][:] = 0
    tables[3][:] = 0

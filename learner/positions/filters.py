"""Filters of stored positions: which rows and games to use, and each position only once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.values import EXACT, PROVEN
from learner.positions.positions import noisy, standard_keys
from learner.positions.shards import UNKNOWN, Rows

__all__ = ["Filter", "Games", "distinct"]

#: Makes the hashes of kinds of bounds different; an exact value does not change its hash.
BOUND_MARK = 0x1E3779B97F4A7C15


@dataclass(frozen=True)
class Games:
    """A sample of games: those whose number hashes, with the seed, to a share from `low` to `high`.

    A whole game is in the sample or not, and the answer is always the same.
    """

    low: float = 0.0
    high: float = 1.0
    seed: int = 0

    def holds(self, numbers: Any) -> NDArray[np.bool_]:
        """Returns whether each of the games is in the sample."""
        mixed = np.atleast_1d(numbers).astype(np.uint64)  # scalars would warn of overflow
        mixed += np.uint64((self.seed * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) % (1 << 64))
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)  # splitmix64
        share = (mixed >> np.uint64(11)) * 2.0**-53
        return (self.low <= share) & (share < self.high)


@dataclass(frozen=True)
class Filter:
    """A choice of rows to read; by default all whose value is exact.

    first_bounded: from the game with this number on, also positions whose value is only a bound
        (default: no such positions).
    quiet: no positions that the game calls noisy.
    undecided: no positions whose value is that of a game won or lost (beyond PROVEN).
    known: no positions whose result is unknown.
    first_game: no positions of games with numbers before this one.
    """

    first_bounded: int | None = None
    quiet: bool = False
    undecided: bool = False
    known: bool = False
    first_game: int = 0

    def apply(self, game: Game, rows: Rows) -> Rows:
        """Returns the rows that pass the filter, in their order."""
        passing = rows.bound == EXACT
        if self.first_bounded is not None:
            passing |= rows.game_number >= self.first_bounded
        if self.undecided:
            passing &= np.abs(rows.value) <= PROVEN
        if self.known:
            passing &= rows.result != UNKNOWN
        if self.first_game > 0:
            passing &= rows.game_number >= self.first_game
        if not passing.all():
            rows = rows.take(passing)
        if self.quiet:
            loud = noisy(game, rows.positions)
            rows = rows.take(~loud) if loud.any() else rows
        return rows


def distinct(game: Game, rows: Rows) -> Rows:
    """Returns the rows with every position once, in the order of first appearance.

    Positions that are the same by symmetry count as one
    (`learner.positions.positions.standard_keys`), but its exact values, its lower and its upper
    bounds are different rows. `count` is the number of rows that each stands for; ply and game
    number are those of the first.

    Results are means over the rows with known results (float32; 2 if there are none). Values are
    means over all rows, but over won or lost ones alone if there are any, because these are proven
    and the others estimated.

    Split by games before; otherwise a position counts for the first game that has it. Needs about
    150 bytes per row.
    """
    keys = standard_keys(game, rows.positions)
    keys ^= rows.bound.astype(np.int64) * BOUND_MARK
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    del keys
    order = np.argsort(first, kind="stable")
    count = np.bincount(group, rows.count, minlength=len(first))[order]
    unique = rows.take(first[order])
    decided = np.abs(rows.value) > PROVEN
    value: NDArray[Any] = _means(group, rows.value, rows.count * ~decided, len(first))[order]
    proven = _means(group, rows.value, rows.count * decided, len(first))[order]
    value = np.where(np.isnan(proven), value, proven).astype(np.float32)
    labelled = rows.result != UNKNOWN
    result: NDArray[Any] = _means(group, rows.result, rows.count * labelled, len(first))[order]
    result = np.where(np.isnan(result), UNKNOWN, result).astype(np.float32)
    return replace(unique, value=value, result=result, count=count.astype(np.uint32))


def _means(group: Any, label: Any, weight: Any, groups: int) -> NDArray[np.float64]:
    """Returns the weighted mean of a label over each group; NaN if all weights are 0."""
    total = np.bincount(group, label.astype(np.float64) * weight, minlength=groups)
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = total / np.bincount(group, weight, minlength=groups)
    return means

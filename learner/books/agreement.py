"""Agreement of an evaluator with a book: Samuel's coefficient, and shares of moves predicted.

Intervals are 95 % intervals over games, because moves of one game are alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learner.books.book import BookEntry
from play.ratings.ratios import ratio_interval
from play.ratings.statistics import Estimate
from programs.phrases import counted
from search import WIN, Evaluator

__all__ = ["Agreement", "BookRows", "agreement", "parts_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class BookRows:
    """The moves of many entries as arrays, one row for each move, the moves of an entry together.

    positions: the settled positions, [rows].
    signs: as in `BookEntry`, [rows].
    outcomes: as in `BookEntry`, [rows]; NaN if the game is not over.
    entry: the entry that each row belongs to, [rows].
    first: the first row of each entry, [entries].
    chosen: the row of each entry's preferred move, [entries].
    games: the game of each entry, [entries].
    """

    positions: list[Any]
    signs: Floats
    outcomes: Floats
    entry: Ints
    first: Ints
    chosen: Ints
    games: Ints

    @classmethod
    def of(cls, entries: Iterable[BookEntry]) -> BookRows:
        """Returns the rows of entries, in their order."""
        entries = list(entries)
        sizes = np.array([len(entry.moves) for entry in entries], dtype=np.int64)
        first = np.cumsum(sizes) - sizes
        return cls(
            [position for entry in entries for position in entry.settled],
            np.array([sign for entry in entries for sign in entry.signs], dtype=np.float64),
            np.array([o for entry in entries for o in entry.outcomes], dtype=np.float64),
            np.repeat(np.arange(len(entries)), sizes),
            first,
            first + np.array([entry.chosen for entry in entries], dtype=np.int64),
            np.array([entry.game for entry in entries], dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.positions)

    def values(self, evaluator: Evaluator) -> Floats:
        """Returns an evaluator's value of every move, for the side that chooses; [rows]."""
        if not self.positions:
            return np.zeros(0)
        values = self.signs * evaluator.values(self.positions)
        over = ~np.isnan(self.outcomes)
        values[over] = WIN * self.outcomes[over]
        return values

    def votes(self) -> Ints:
        """Returns the vote of each move for the position it leads to, [rows].

        A move that was not preferred votes -1. The preferred one votes as often for itself as there
        are others, so that the votes of an entry add up to 0. Moves that end the game have no vote.
        If the preferred move ends it, no move of the entry has one.
        """
        own = self.chosen[self.entry]
        is_open = np.isnan(self.outcomes)
        other = is_open & is_open[own] & (np.arange(len(self)) != own)
        votes = np.where(other, -1, 0)
        others = np.bincount(self.entry[other], minlength=len(self.first))
        votes[self.chosen] = np.where(is_open[self.chosen], others, 0)
        return votes.astype(np.int64)


@dataclass(frozen=True)
class Agreement:
    """Agreement of an evaluator with the moves of a book.

    coefficient: C = (L - H) / (L + H), where L and H count the legal moves rated lower and higher
        than the book move; moves rated the same count in neither (Samuel 1959).
    strict: the coefficient with ties in the denominator, so that indifference does not pay.
    shares: shares of book moves rated first, second and third; among moves rated the same, the
        probability of that place in a random order.
    entries: number of entries.
    """

    coefficient: Estimate
    strict: Estimate
    shares: tuple[Estimate, Estimate, Estimate]
    entries: int

    def text(self) -> str:
        """Returns C, and how often the preferred move comes first, second and third."""
        shares = ", ".join(
            f"{name} {100 * share.value:.1f} %"
            for name, share in zip(("first", "second", "third"), self.shares, strict=True)
        )
        return (
            f"C {self.coefficient.text('.3f')}, ties counted {self.strict.text('.3f')}, of"
            f" {counted(self.entries, 'move')}; {shares}"
        )


def agreement(evaluator: Evaluator, entries: Iterable[BookEntry]) -> Agreement:
    """Returns the agreement of an evaluator with the moves of a book.

    Raises ValueError if there are no entries.
    """
    rows = BookRows.of(entries)
    sums = _by_game(evaluator, rows)
    loose, strict, *shares = (ratio_interval(*part, most=1.0) for part in parts_of(sums))
    places = shares[0], shares[1], shares[2]
    return Agreement(_from_share(loose), _from_share(strict), places, len(rows.first))


def parts_of(sums: Floats) -> list[tuple[Floats, Floats]]:
    """Returns sums and sizes by game: L of L + H, then with ties in the size, then the places."""
    lower, higher, tied, entries, *places = sums.T
    compared, moves = lower + higher, lower + higher + tied
    return [(lower, compared), (lower + tied / 2, moves), *((place, entries) for place in places)]


def _from_share(share: Estimate) -> Estimate:
    """Returns L - H in parts of their sum from the share of L."""
    return Estimate(2 * share.value - 1, 2 * share.low - 1, 2 * share.high - 1)


def _by_game(evaluator: Evaluator, rows: BookRows) -> Floats:
    """Returns the counts of each game, [games, counts].

    They are L, H, ties, entries, and entries rated 1st, 2nd and 3rd.
    """
    if not len(rows):
        raise ValueError("expected entries of a book, found none")
    values = rows.values(evaluator)
    own = values[rows.chosen][rows.entry]
    lower = np.add.reduceat(values < own, rows.first, dtype=np.float64)
    higher = np.add.reduceat(values > own, rows.first, dtype=np.float64)
    tied = np.add.reduceat(values == own, rows.first, dtype=np.float64) - 1.0
    ranked = [
        np.where((higher <= place) & (place <= higher + tied), 1.0 / (tied + 1.0), 0.0)
        for place in range(3)
    ]
    columns = np.stack([lower, higher, tied, np.ones_like(lower), *ranked], axis=1)
    games, index = np.unique(rows.games, return_inverse=True)
    sums = np.zeros((len(games), columns.shape[1]))
    np.add.at(sums, index, columns)
    return sums

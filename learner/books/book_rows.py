"""The moves of book entries as arrays, for counting agreement and for learning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from learner.books.book import BookEntry
from search import WIN, Evaluator

__all__ = ["BookRows", "Pairs", "fitted_scale"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class BookRows:
    """The moves of many entries as arrays, one row for each move, the moves of an entry together.

    positions: the settled positions, [rows].
    signs: as in `BookEntry`, [rows].
    outcomes: as in `BookEntry`, [rows]; NaN if the game goes on.
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

    def votes(self, material: Floats, within: float | None) -> Ints:
        """Returns the vote of each move for the position it leads to, [rows].

        A move that was not preferred votes -1. The preferred one votes as often for itself as there
        are others, so that the votes of an entry add up to 0. Moves that end the game have no vote,
        nor those after which the mover's material, [rows], differs by more than `within` from that
        after the preferred move (None: all have): material decides there, and nothing needs to be
        learned.
        """
        own = self.chosen[self.entry]
        open_ = np.isnan(self.outcomes)
        take_part = open_ & open_[own]
        if within is not None:
            take_part &= np.abs(material - material[own]) <= within
        is_chosen = np.arange(len(self)) == own
        others = np.bincount(self.entry[take_part & ~is_chosen], minlength=len(self.first))
        votes = np.where(take_part & ~is_chosen, -1, 0)
        votes[self.chosen] = np.where(take_part[self.chosen], others, 0)
        return votes.astype(np.int64)


@dataclass(frozen=True)
class Pairs:
    """Pairs of a preferred move and another move of the same entry.

    better: the rows of the preferred moves, [pairs].
    worse: the rows of the other moves, [pairs].
    weight: the weight of each pair, [pairs].
    material: the fixed part of the value for the side that chooses, [rows].
    """

    better: Ints
    worse: Ints
    weight: Floats
    material: Floats

    @property
    def material_ahead(self) -> Floats:
        """Returns the material of the preferred moves minus that of the others; [pairs]."""
        return np.asarray(self.material[self.better] - self.material[self.worse])


def fitted_scale(pairs: Pairs, positional: Floats) -> float:
    """Returns the factor of `positional`, [rows], before it is added to material.

    A move is taken to be preferred to another with probability 1 / (1 + exp(-k * (material + scale
    * positional))), of differences between the two; k and scale are fitted by logistic regression.
    The result is at least 0, and 1 if the pairs do not determine it.
    """
    columns = np.stack(
        [pairs.material_ahead, positional[pairs.better] - positional[pairs.worse]], axis=1
    )
    if len(columns) < 2 or not columns.any(axis=0).all():
        return 1.0
    turned = np.where(np.arange(len(columns)) % 2, -1.0, 1.0)
    model = LogisticRegression(C=1e3, fit_intercept=False)
    model.fit(turned[:, None] * columns, turned > 0, sample_weight=pairs.weight)
    for_material, for_position = model.coef_[0]
    return max(0.0, float(for_position / for_material)) if for_material > 0 else 1.0

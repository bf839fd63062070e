"""Pairs of preferred and other moves, and the coefficients of the cells that they lead to.

The cells of all tables of a level are stored one after the other, once for each phase of the game.
Each move has its cell in every table of the level.

Source: A. L. Samuel, "Some Studies in Machine Learning Using the Game of Checkers. II - Recent
Progress", IBM Journal of Research and Development 11 (1967).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

__all__ = [
    "CellPairs",
    "Floats",
    "MovePairs",
    "counted_cells",
    "fitted_scale",
    "levels_of",
    "mirrored_cells",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class MovePairs:
    """Pairs of a preferred move and another move of the same entry.

    better: the rows of the preferred moves, [pairs].
    worse: the rows of the other moves, [pairs].
    material: the fixed part of the value for the side that chooses, [rows].
    """

    better: Ints
    worse: Ints
    material: Floats

    @property
    def material_ahead(self) -> Floats:
        """Returns the material of the preferred moves minus that of the others; [pairs]."""
        return np.asarray(self.material[self.better] - self.material[self.worse])


def fitted_scale(pairs: MovePairs, positional: Floats) -> float:
    """Returns the factor of `positional`, [rows], before it is added to material.

    The model: a move is preferred to another with probability 1 / (1 + exp(-k * (material + scale
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
    model.fit(turned[:, None] * columns, turned > 0)
    for_material, for_position = model.coef_[0]
    return max(0.0, float(for_position / for_material)) if for_material > 0 else 1.0


@dataclass(frozen=True)
class CellPairs(MovePairs):
    """Pairs of moves by the cells that they lead to, from the view of the side that chooses.

    phase: the phase of each row, below `phases`, [rows].
    """

    phase: Ints
    phases: int

    def places(self, cells: Ints, size: int) -> Ints:
        """Returns the indices of all rows' cells among those of all phases, [rows, tables]."""
        return np.asarray(self.phase[:, None] * size + cells)

    def occurrences(self, cells: Ints, size: int) -> Floats:
        """Returns how often pairs lead to each cell; [phases, size]."""
        places = self.places(cells, size)
        both = np.concatenate([self.better, self.worse])
        counts = np.bincount(places[both].ravel(), minlength=self.phases * size)
        return counts.reshape(self.phases, size).astype(np.float64)


def mirrored_cells(sizes: tuple[int, ...]) -> Ints:
    """Returns each cell's index from the other side's view; layouts are symmetric."""
    ends = np.cumsum(sizes)
    return np.concatenate(
        [np.arange(end - 1, end - size - 1, -1) for size, end in zip(sizes, ends, strict=True)]
    )


def counted_cells(
    pairs: CellPairs, cells: Ints, size: int, *, smoothing: float, mirror: Ints
) -> Floats:
    """Returns (A - D) / (A + D) of every cell; [phases, size] (Samuel 1967).

    A counts the occurrences of the cell for the preferred move and D for the other, over the pairs
    whose moves differ in the table; if both lead to the same cell, it says nothing about the
    choice. `smoothing` votes of the cell in all phases together are added to those of each phase,
    and as many undecided votes to these, so that rare cells get small coefficients. Each vote
    for a cell counts against its mirror image, `mirror`.
    """
    places = pairs.places(cells, size)
    total = pairs.phases * size
    good, bad = np.zeros(total), np.zeros(total)
    for table in range(cells.shape[1]):
        better, worse = places[pairs.better, table], places[pairs.worse, table]
        differ = better != worse
        good += np.bincount(better[differ], minlength=total)
        bad += np.bincount(worse[differ], minlength=total)
    a, d = good.reshape(pairs.phases, size), bad.reshape(pairs.phases, size)
    a, d = a + d[:, mirror], d + a[:, mirror]
    together = (a - d).sum(axis=0) / np.maximum((a + d).sum(axis=0) + smoothing, 1e-300)
    return np.asarray((a - d + smoothing * together) / np.maximum(a + d + smoothing, 1e-300))


def levels_of(
    coefficients: Floats, occurrences: Floats, sizes: tuple[int, ...], count: int
) -> NDArray[np.int8]:
    """Returns output levels of tables from their cells' coefficients; both [phases, cells].

    Each table in each phase has `count` levels of equal width; the outermost levels begin at the
    size that 97 % of its occurrences stay below.
    """
    levels = np.full(coefficients.shape, count // 2, dtype=np.int8)
    start = 0
    for size in sizes:
        for phase in range(len(coefficients)):
            place = (phase, slice(start, start + size))
            values, seen = coefficients[place], occurrences[place]
            order = np.argsort(np.abs(values), kind="stable")
            share = np.cumsum(seen[order])
            if share[-1] > 0:
                largest = abs(values[order[np.searchsorted(share, 0.97 * share[-1])]])
                if largest > 0:
                    level = np.rint(np.clip(values / largest, -1, 1) * count / 2 + (count - 1) / 2)
                    levels[place] = np.clip(level, 0, count - 1)
        start += size
    return levels

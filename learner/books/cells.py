"""Pairs of preferred and other moves, and the coefficients of the cells that they lead to.

The cells of all tables of a level are stored one after the other, once for each phase of the game.
For each move its cell in every table of the level is known.

Source: A. L. Samuel, "Some Studies in Machine Learning Using the Game of Checkers. II - Recent
Progress", IBM Journal of Research and Development 11 (1967).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

__all__ = [
    "CellPairs",
    "Floats",
    "MovePairs",
    "counted_cells",
    "fitted_scale",
    "levels_of",
    "mirrored_cells",
    "regressed_cells",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Most iterations of a regression.
ITERATIONS = 80


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
        """Returns how often the pairs lead to each cell; [phases, size]."""
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


def regressed_cells(
    pairs: CellPairs, cells: Ints, trend: Floats, *, smoothing: float, mirror: Ints
) -> Floats:
    """Returns the log-odds of every cell, [phases, size], by regression.

    A move is preferred to another with probability 1 / (1 + exp(-d)), where d is the difference of
    the sums of their cells and material (Bradley and Terry 1952). A cell's coefficient is a
    polynomial of its inputs' levels, which are `trend`, [size, inputs], plus the cell's own part:
    one for all phases and one for each phase, with the penalties `smoothing` / 3 and `smoothing` on
    their squares. Coefficients of rare cells therefore follow the polynomial. A cell and its
    mirror image, `mirror`, have opposite coefficients.
    """
    size, inputs = trend.shape
    phases = pairs.phases
    design = _design(pairs, cells, size)
    transposed = design.T.tocsr()
    material, ones = pairs.material_ahead, np.ones(len(pairs.worse))
    parts = np.cumsum([inputs, size, phases * size])
    penalty = np.zeros(parts[-1] + 1)
    penalty[parts[0] : parts[1]] = smoothing / 3
    penalty[parts[1] : parts[2]] = smoothing
    penalty[parts[2]] = 1e-6

    def folded(table: Floats) -> Floats:
        return table - table[:, mirror]

    def unpacked(parameters: Floats) -> Floats:
        slopes, common, own, _ = np.split(parameters, parts)
        return folded(trend @ slopes + common + own.reshape(phases, size))

    def packed(table: Floats, rest: float) -> Floats:
        common = table.sum(axis=0)
        return np.concatenate([trend.T @ common, common, table.ravel(), [rest]])

    # approximate curvature: the search runs in units in which it is equal in all directions
    curved = (transposed.multiply(transposed) @ ones).reshape(phases, size) / 5
    curvature = packed(curved, float(ones @ material**2) / 5)
    columns = design @ np.tile(trend, (phases, 1))
    curvature[:inputs] = ones @ columns**2 / 5
    unit = 1.0 / np.sqrt(curvature + penalty + 1.0)

    def loss(scaled: Floats) -> tuple[float, Floats]:
        parameters = unit * scaled
        odds = design @ unpacked(parameters).ravel() + parameters[-1] * material
        wrong = 1.0 / (1.0 + np.exp(np.clip(odds, -500, 500)))
        slope = folded(-(transposed @ wrong).reshape(phases, size))
        value = ones @ np.logaddexp(0.0, -odds) + (penalty * parameters**2).sum() / 2
        gradient = packed(slope, -float(material @ wrong)) + penalty * parameters
        return float(value), unit * gradient

    start = np.zeros(len(penalty))
    start[-1] = 1.0 / unit[-1]
    options = {"maxiter": ITERATIONS}
    solution = unit * minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    return np.asarray(unpacked(solution))


def _design(pairs: CellPairs, cells: Ints, size: int) -> csr_matrix:
    """Returns each pair's difference for each cell of each phase; [pairs, phases * size]."""
    places = pairs.places(cells, size)
    shape = (len(pairs.better), pairs.phases * size)
    rows = np.repeat(np.arange(shape[0]), cells.shape[1])
    ones = np.ones(len(rows))
    better, worse = (
        csr_matrix((ones, (rows, places[moves].ravel())), shape=shape)
        for moves in (pairs.better, pairs.worse)
    )
    design = csr_matrix(better - worse)
    design.eliminate_zeros()
    return design


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

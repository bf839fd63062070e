"""Coefficients of a table's cells from what was preferred to what: by counting, or by regression.

The cells of all tables of a level lie behind one another, once for each phase of the game. A pair
is a preferred move and another one of the same entry; of each the cell it leads to is known in
every table of the level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from learner.books.book_rows import Pairs

__all__ = ["CellPairs", "counted_cells", "levels_of", "mirrored_cells", "regressed_cells"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class CellPairs(Pairs):
    """Pairs of moves by the cells that they lead to; see `learner.books.book_rows.Pairs`.

    sign: 1 for a row whose cells are as the side that chooses sees them, -1 as the other does,
    [rows]. phase: [rows], below `phases`.
    """

    sign: Floats
    phase: Ints
    phases: int

    def places(self, cells: Ints, size: int) -> Ints:
        """Where the cells of all rows, [rows, tables], lie among those of all phases."""
        return np.asarray(self.phase[:, None] * size + cells)

    def occurrences(self, cells: Ints, size: int) -> Floats:
        """How often the pairs lead to each cell; [phases, size]."""
        places = self.places(cells, size)
        weight = np.repeat(self.weight, cells.shape[1])
        total = self.phases * size
        found = np.bincount(places[self.better].ravel(), weight, total)
        found += np.bincount(places[self.worse].ravel(), weight, total)
        return np.asarray(found.reshape(self.phases, size), dtype=np.float64)


def mirrored_cells(sizes: tuple[int, ...]) -> Ints:
    """The cell that the other side sees, for tables of symmetric layouts, by their sizes."""
    ends = np.cumsum(sizes)
    return np.concatenate(
        [np.arange(end - 1, end - size - 1, -1) for size, end in zip(sizes, ends, strict=True)]
    )


def counted_cells(
    pairs: CellPairs, cells: Ints, size: int, *, smoothing: float, mirror: Ints | None
) -> Floats:
    """(A - D) / (A + D) of every cell; [phases, size] (Samuel 1967).

    A is how often the cell occurred for the preferred move and D for the other, over the pairs
    whose moves differ in the table: where both lead to the same cell, it says nothing of the
    choice. `smoothing` votes of the cell in all phases together are added to those of each
    phase, and as many that are undecided to these, so that cells seen rarely say little. With
    `mirror` what speaks for a cell speaks against its mirror image.
    """
    places = pairs.places(cells, size)
    total = pairs.phases * size
    good, bad = np.zeros(total), np.zeros(total)
    for table in range(cells.shape[1]):
        better, worse = places[pairs.better, table], places[pairs.worse, table]
        differ = (better != worse) | (pairs.sign[pairs.better] != pairs.sign[pairs.worse])
        for row, place, preferred in ((pairs.better, better, 1), (pairs.worse, worse, -1)):
            speaks_for = differ & (pairs.sign[row] == preferred)
            speaks_against = differ & (pairs.sign[row] == -preferred)
            good += np.bincount(place[speaks_for], pairs.weight[speaks_for], total)
            bad += np.bincount(place[speaks_against], pairs.weight[speaks_against], total)
    a, d = good.reshape(pairs.phases, size), bad.reshape(pairs.phases, size)
    if mirror is not None:
        a, d = a + d[:, mirror], d + a[:, mirror]
    together = (a - d).sum(axis=0) / np.maximum((a + d).sum(axis=0) + smoothing, 1e-300)
    return np.asarray((a - d + smoothing * together) / np.maximum(a + d + smoothing, 1e-300))


def regressed_cells(
    pairs: CellPairs,
    cells: Ints,
    trend: Floats,
    *,
    smoothing: float,
    mirror: Ints | None,
    iterations: int = 80,
) -> tuple[Floats, float]:
    """Log-odds of every cell, [phases, size], and of a unit of material, by logistic regression.

    A move is preferred to another with probability 1 / (1 + exp(-d)), d the difference of the
    sums of their cells and material (Bradley and Terry 1952). A cell's coefficient is a polynomial
    of its inputs' levels, which are `trend`, [size, inputs], and what the cell adds to it: a part
    for all phases and one for each, `smoothing` / 3 and `smoothing` the penalties of their squares.
    So what is seen rarely is taken to be as the polynomial has it. With `mirror` a cell and its
    mirror image have opposite coefficients.
    """
    size, inputs = trend.shape
    phases = pairs.phases
    design = _design(pairs, cells, size)
    transposed = design.T.tocsr()
    material = pairs.material_ahead
    parts = np.cumsum([inputs, size, phases * size])
    penalty = np.zeros(parts[-1] + 1)
    penalty[parts[0] : parts[1]] = smoothing / 3
    penalty[parts[1] : parts[2]] = smoothing
    penalty[parts[2]] = 1e-6

    def folded(table: Floats) -> Floats:
        return table if mirror is None else table - table[:, mirror]

    def unpacked(parameters: Floats) -> Floats:
        slopes, common, own, _ = np.split(parameters, parts)
        return folded(trend @ slopes + common + own.reshape(phases, size))

    def packed(table: Floats, rest: float) -> Floats:
        common = table.sum(axis=0)
        return np.concatenate([trend.T @ common, common, table.ravel(), [rest]])

    # curvature, about: the search runs in units in which it is the same in all directions
    curved = (transposed.multiply(transposed) @ pairs.weight).reshape(phases, size) / 5
    curvature = packed(curved, float(pairs.weight @ material**2) / 5)
    columns = design @ np.tile(trend, (phases, 1))
    curvature[:inputs] = pairs.weight @ columns**2 / 5
    unit = 1.0 / np.sqrt(curvature + penalty + 1.0)

    def loss(scaled: Floats) -> tuple[float, Floats]:
        parameters = unit * scaled
        odds = design @ unpacked(parameters).ravel() + parameters[-1] * material
        wrong = pairs.weight / (1.0 + np.exp(np.clip(odds, -500, 500)))
        slope = folded(-(transposed @ wrong).reshape(phases, size))
        value = pairs.weight @ np.logaddexp(0.0, -odds) + (penalty * parameters**2).sum() / 2
        gradient = packed(slope, -float(material @ wrong)) + penalty * parameters
        return float(value), unit * gradient

    start = np.zeros(len(penalty))
    start[-1] = 1.0 / unit[-1]
    options = {"maxiter": iterations}
    found = unit * minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    return unpacked(found), float(found[-1])


def _design(pairs: CellPairs, cells: Ints, size: int) -> csr_matrix:
    """What each pair tells of each cell of each phase; [pairs, phases * size]."""
    places = pairs.places(cells, size)
    shape = (len(pairs.better), pairs.phases * size)
    rows = np.repeat(np.arange(shape[0]), cells.shape[1])
    signs = np.repeat(pairs.sign, cells.shape[1]).reshape(places.shape)
    better, worse = (
        csr_matrix((signs[moves].ravel(), (rows, places[moves].ravel())), shape=shape)
        for moves in (pairs.better, pairs.worse)
    )
    design = csr_matrix(better - worse)
    design.eliminate_zeros()
    return design


def levels_of(
    coefficients: Floats, occurrences: Floats, sizes: tuple[int, ...], count: int
) -> NDArray[np.int8]:
    """Output levels of tables from their cells' coefficients; both [phases, cells].

    Each table in each phase has `count` levels that are evenly wide, the outermost of them reaching
    up to the size that 97 % of its occurrences stay below (and beyond).
    """
    levels = np.full(coefficients.shape, count // 2, dtype=np.int8)
    start = 0
    for size in sizes:
        for phase in range(len(coefficients)):
            place = (phase, slice(start, start + size))
            found, seen = coefficients[place], occurrences[place]
            order = np.argsort(np.abs(found), kind="stable")
            share = np.cumsum(seen[order])
            if share[-1] > 0:
                largest = abs(found[order[np.searchsorted(share, 0.97 * share[-1])]])
                if largest > 0:
                    level = np.rint(np.clip(found / largest, -1, 1) * count / 2 + (count - 1) / 2)
                    levels[place] = np.clip(level, 0, count - 1)
        start += size
    return levels

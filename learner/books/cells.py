"""Coefficients of the cells of signature tables, by counting preferences or by regression.

The cells of all tables of a level are stored one after the other, once for each phase of the game.
A pair is a preferred move and another one of the same entry; for each move its cell in every table
of the level is known.
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

    sign: 1 if a row's cells are from the view of the side that chooses, -1 for the other, [rows].
    phase: the phase of each row, below `phases`, [rows].
    """

    sign: Floats
    phase: Ints
    phases: int

    def places(self, cells: Ints, size: int) -> Ints:
        """Returns the indices of all rows' cells among those of all phases, [rows, tables]."""
        return np.asarray(self.phase[:, None] * size + cells)

    def occurrences(self, cells: Ints, size: int) -> Floats:
        """Returns how often the pairs lead to each cell; [phases, size]."""
        places = self.places(cells, size)
        weight = np.repeat(self.weight, cells.shape[1])
        total = self.phases * size
        counts = np.bincount(places[self.better].ravel(), weight, total)
        counts += np.bincount(places[self.worse].ravel(), weight, total)
        return np.asarray(counts.reshape(self.phases, size), dtype=np.float64)


def mirrored_cells(sizes: tuple[int, ...]) -> Ints:
    """Returns each cell's index from the other side's view, for tables of symmetric layouts."""
    ends = np.cumsum(sizes)
    return np.concatenate(
        [np.arange(end - 1, end - size - 1, -1) for size, end in zip(sizes, ends, strict=True)]
    )


def counted_cells(
    pairs: CellPairs, cells: Ints, size: int, *, smoothing: float, mirror: Ints | None
) -> Floats:
    """Returns (A - D) / (A + D) of every cell; [phases, size] (Samuel 1967).

    A counts the occurrences of the cell for the preferred move and D for the other, over the pairs
    whose moves differ in the table; if both lead to the same cell, it says nothing about the
    choice. `smoothing` votes of the cell in all phases together are added to those of each phase,
    and as many undecided votes to these, so that rare cells get small coefficients. With `mirror`
    each vote for a cell counts against its mirror image.
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
    """Returns the log-odds of every cell, [phases, size], and of a unit of material, by regression.

    A move is preferred to another with probability 1 / (1 + exp(-d)), where d is the difference of
    the sums of their cells and material (Bradley and Terry 1952). A cell's coefficient is a
    polynomial of its inputs' levels, which are `trend`, [size, inputs], plus the cell's own part:
    one for all phases and one for each phase, with the penalties `smoothing` / 3 and `smoothing` on
    their squares. Coefficients of rare cells therefore follow the polynomial. With `mirror` a cell
    and its mirror image have opposite coefficients.
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

    # approximate curvature: the search runs in units in which it is equal in all directions
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
    solution = unit * minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    return unpacked(solution), float(solution[-1])


def _design(pairs: CellPairs, cells: Ints, size: int) -> csr_matrix:
    """Returns each pair's difference for each cell of each phase; [pairs, phases * size]."""
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

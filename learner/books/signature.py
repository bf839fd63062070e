"""Signature tables learned from preferred moves, of a book or of a search.

The cells of all tables of a level are stored one after the other, once for each phase of the game.
A pair is a preferred move and another one of the same entry; for each move its cell in every table
of the level is known.

Source: A. L. Samuel, "Some Studies in Machine Learning Using the Game of Checkers. II - Recent
Progress", IBM Journal of Research and Development 11 (1967).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from games.contract import Game
from games.features import FeatureSet
from learner.books.agreement import BookRows
from learner.books.book_learner import BookLearner, Floats, Pairs
from learner.options import ranged
from search.evaluators.signature import SignatureEvaluator, SignatureLayout, layout_of

__all__ = ["SignatureTables"]

Ints = NDArray[np.int64]


@dataclass(kw_only=True, eq=False, repr=False)
class SignatureTables(BookLearner):
    """Learns the cells of signature tables from preferred moves, level by level.

    The coefficients of the first-level cells come first and are quantised to output levels; these
    determine the cells of the second level that moves lead to, and so on. If the layout is summed,
    the coefficients of all levels are fitted once more together at the end.

    layout: the layout of the tables (None: the game's own; for "samuel" the value is then that of
        the third level alone, as in Samuel's program).
    material: as for `BookLearner`, of the layout's terms of material.
    method: "samuel" counts (A - D) / (A + D), see `counted_cells`; "logistic" regresses all tables
        of a level at once, see `regressed_cells`.
    smoothing: votes for "samuel", or the penalty of the regression (None: 30 and 1000).
    antisymmetric: whether the value for one side is minus that for the other; needs a symmetric
        layout with odd numbers of levels.
    """

    layout: SignatureLayout | None = None
    smoothing: float | None = ranged(None, above=0)
    antisymmetric: bool = True

    def _set_up(self, game: Game) -> tuple[FeatureSet, tuple[str, ...]]:
        layout = self.layout
        if layout is None:
            layout = layout_of(game)
            layout = replace(layout, summed=layout.summed and self.method != "samuel")
        self.layout_ = layout
        smoothing = self.smoothing
        if smoothing is None:
            smoothing = 30.0 if self.method == "samuel" else 1000.0
        self._smoothing = smoothing
        odd = layout.first_levels % 2 == 1 and layout.second_levels % 2 == 1
        if self.antisymmetric and not (layout.symmetric and odd):
            raise ValueError(
                f"antisymmetric: expected a symmetric layout with odd numbers of levels, found"
                f" {layout.name}"
            )
        self._evaluator = SignatureEvaluator(
            game, layout, material=self._worth(layout.material), name=f"signature, {self.method}"
        )
        return layout.features, layout.material

    def _inputs(self, rows: BookRows, terms: Floats) -> dict[str, NDArray[Any]]:
        layout, sign = self.layout_, rows.signs
        cells = layout.first_cells(terms)
        if self.antisymmetric:
            mirrored = mirrored_cells(layout.sizes[0])[cells]
            cells = np.where(sign[:, None] < 0, mirrored, cells)
            sign = np.ones_like(sign)
        phases = layout.phases_of(rows.positions) if len(rows) else np.zeros(0)
        return {
            "cells": cells.astype(np.int16),
            "sign": sign.astype(np.int8),
            "phase": phases.astype(np.int8),
        }

    def _learn(self, pairs: Pairs) -> tuple[Floats, float]:
        layout, tables = self.layout_, self._evaluator.tables
        stored = self._kept
        pairs = CellPairs(
            pairs.better,
            pairs.worse,
            pairs.material,
            stored["sign"].astype(np.float64),
            stored["phase"].astype(np.int64),
            layout.phases,
        )
        first, second, third = layout.sizes
        phase = pairs.phase[:, None]
        cells = self._kept["cells"].astype(np.int64)
        tables["first"][:], _ = self._cells(pairs, cells, first, layout.inputs(1))
        seen = pairs.occurrences(cells, sum(first))
        tables["first_levels"][:] = levels_of(tables["first"], seen, first, layout.first_levels)
        above = layout.second_cells(tables["first_levels"][phase, cells])
        tables["second"][:], _ = self._cells(pairs, above, second, layout.inputs(2))
        seen = pairs.occurrences(above, sum(second))
        tables["second_levels"][:] = levels_of(tables["second"], seen, second, layout.second_levels)
        top = layout.third_cells(tables["second_levels"][phase, above])[:, None]
        if not layout.summed:
            tables["third"][:], unit = self._cells(pairs, top, (third,), layout.inputs(3))
            positional = tables["third"][pairs.phase, top[:, 0]]
        else:
            every = np.concatenate(
                [cells, sum(first) + above, sum(first) + sum(second) + top], axis=1
            )
            joint, unit = self._cells(
                pairs,
                every,
                (*first, *second, third),
                block_diag(*(layout.inputs(level) for level in (1, 2, 3))),
            )
            for name, part in zip(
                ("first", "second", "third"),
                np.split(joint, np.cumsum([sum(first), sum(second)]), axis=1),
                strict=True,
            ):
                tables[name][:] = part
            positional = joint[phase, every].sum(axis=1)
        return positional * pairs.sign, 1.0 / unit if unit > 0 else 1.0

    def _apply_scale(self, scale: float) -> None:
        self._evaluator.scale[0] = scale

    def _cells(
        self, pairs: CellPairs, cells: Ints, sizes: tuple[int, ...], inputs: Floats
    ) -> tuple[Floats, float]:
        """Returns the coefficients of the cells of a level, and of a unit of material."""
        mirror = mirrored_cells(sizes) if self.antisymmetric else None
        smoothing = self._smoothing
        if self.method == "samuel":
            return counted_cells(pairs, cells, sum(sizes), smoothing=smoothing, mirror=mirror), 1.0
        return regressed_cells(pairs, cells, inputs, smoothing=smoothing, mirror=mirror)


# --- cells --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CellPairs(Pairs):
    """Pairs of moves by the cells that they lead to; see `learner.books.book_learner.Pairs`.

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
        both = np.concatenate([self.better, self.worse])
        counts = np.bincount(places[both].ravel(), minlength=self.phases * size)
        return counts.reshape(self.phases, size).astype(np.float64)


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
            good += np.bincount(place[speaks_for], minlength=total)
            bad += np.bincount(place[speaks_against], minlength=total)
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
    material, ones = pairs.material_ahead, np.ones(len(pairs.worse))
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

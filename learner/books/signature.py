"""Signature tables learned from preferred moves, of a book or of a search.

Source: A. L. Samuel, "Some Studies in Machine Learning Using the Game of Checkers. II - Recent
Progress", IBM Journal of Research and Development 11 (1967).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from games.contract import Game
from games.features import FeatureSet
from learner.books.book_learner import BookLearner, Floats
from learner.books.book_rows import BookRows, Pairs
from learner.books.cells import CellPairs, counted_cells, levels_of, mirrored_cells, regressed_cells
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
    method: "samuel" counts (A - D) / (A + D), see `learner.books.cells.counted_cells`; "logistic"
        regresses all tables of a level at once, see `regressed_cells`.
    smoothing: votes for "samuel", or the penalty of the regression (None: 30 and 1000).
    antisymmetric: whether the value for one side is minus that for the other; needs a symmetric
        layout with odd numbers of levels.
    within, half_life, scale: see `BookLearner`.
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
            game,
            layout,
            material=self._worth(layout.material),
            name=f"signature, {self.method}",
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
            pairs.weight,
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

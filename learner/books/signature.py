"""Signature tables learned from preferred moves of a book.

A pair is a preferred move and another one of the same entry; `learner.books.cells` has the
coefficients of the cells that the moves of pairs lead to.

Sources: A. L. Samuel, "Some Studies in Machine Learning Using the Game of Checkers", IBM Journal of
Research and Development 3 (1959), and its second part, 11 (1967).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

import games as all_games
from games.contract import Game
from games.features import FeatureSet
from learner.books.agreement import BookRows
from learner.books.book import BookEntry
from learner.books.cells import (
    CellPairs,
    Floats,
    Ints,
    MovePairs,
    counted_cells,
    fitted_scale,
    levels_of,
    mirrored_cells,
)
from learner.options import check_options, ranged
from play.players.opponents import reference
from search import Evaluator
from search.evaluators.signature import SignatureEvaluator, SignatureLayout, layout_of

__all__ = ["SignatureTables"]


@dataclass(kw_only=True, eq=False, repr=False)
class SignatureTables(BaseEstimator):  # type: ignore[misc]
    """Learns the cells of signature tables from preferred moves, level by level.

    The coefficients of the first-level cells come first and are quantised to output levels; these
    determine the second-level cells that moves lead to, and so on. A coefficient is Samuel's (A -
    D) / (A + D), see `counted_cells`.

    game: the game or its name.
    layout: the layout of the tables; default: the game's own.
    material: fixed weights of the layout's terms of material; default: those of the game's
        reference evaluator.
    smoothing: number of undecided votes that are added to those of each cell.

    The value for one side is minus that for the other; so layouts must be symmetric, with odd
    numbers of levels.

    After `fit` or `partial_fit`: `evaluator_`, and `entries_`, the number of entries learned from.
    Learning in portions gives the same bits as learning at once, whenever `evaluator_` is read.
    """

    game: Any = field(default="checkers", kw_only=False)
    layout: SignatureLayout | None = None
    material: dict[str, float] | None = None
    smoothing: float = ranged(30.0, above=0)

    entries_: int = field(init=False)
    _evaluator: Any = field(init=False)

    # --- learning -----------------------------------------------------------------------------

    def fit(self, entries: Iterable[BookEntry]) -> SignatureTables:
        """Learn from these entries alone; returns the learner.

        Raises ValueError for invalid options.
        """
        self.prepare()
        return self.partial_fit(entries)

    def prepare(self) -> None:
        """Check the options and forget all entries; `fit` does so first."""
        self.game_: Game = all_games.load(self.game) if isinstance(self.game, str) else self.game
        check_options(self)
        self.features_, material = self._set_up(self.game_)
        worth = self._worth(material)
        self._worths = np.array([worth.get(term, 0.0) for term in self.features_.names])
        self._kept: dict[str, NDArray[Any]] = {}
        self.entries_ = 0
        self._stale = False

    def _worth(self, terms: tuple[str, ...]) -> dict[str, float]:
        """Returns the fixed weights by the terms of material."""
        if self.material is not None:
            unknown = [term for term in self.material if term not in terms]
            if unknown:
                raise ValueError(
                    f"material: expected some of {', '.join(terms) or 'no terms'}, found"
                    f" {', '.join(unknown)}"
                )
            return self.material
        judge = self.game_.evaluators.get(reference(self.game_))
        weights = judge[1] if isinstance(judge, tuple) else {}
        return {term: weights[term] for term in terms if term in weights}

    def partial_fit(self, entries: Iterable[BookEntry]) -> SignatureTables:
        """Learn from more entries; returns the learner."""
        if not hasattr(self, "_kept"):
            self.prepare()
        rows = BookRows.of(entries)
        if not len(rows):
            return self
        terms = self.features_.measure(rows.positions)
        material = rows.signs * (terms @ self._worths)
        new = {
            "material": material,  # for the side that chooses
            "votes": rows.votes().astype(np.int16),
            "chosen": (rows.chosen - rows.first).astype(np.int16),  # of an entry
            "size": np.diff(np.append(rows.first, len(rows))).astype(np.int16),  # of an entry
            **self._inputs(rows, terms),
        }
        for name, array in new.items():
            earlier = self._kept.get(name)
            self._kept[name] = array if earlier is None else np.concatenate([earlier, array])
        self.entries_ += len(rows.first)
        self._stale = True
        return self

    @property
    def evaluator_(self) -> Evaluator:
        """The evaluator learned so far; AttributeError before there is one."""
        if not hasattr(self, "_evaluator"):
            raise AttributeError(f"{type(self).__name__}: expected `fit` before evaluator_")
        if self._stale:
            self._stale = False
            pairs = self._pairs()
            self._apply_scale(fitted_scale(pairs, self._learn(pairs)))
        evaluator: Evaluator = self._evaluator
        return evaluator

    def _pairs(self) -> MovePairs:
        """Returns the pairs of preferred and other moves to learn from."""
        stored = self._kept
        size = stored["size"].astype(np.int64)
        first = np.cumsum(size) - size
        entry = np.repeat(np.arange(len(size)), size)
        worse = np.flatnonzero(stored["votes"] < 0)
        return MovePairs((first + stored["chosen"])[entry[worse]], worse, stored["material"])

    # --- the tables ---------------------------------------------------------------------------

    def _set_up(self, game: Game) -> tuple[FeatureSet, tuple[str, ...]]:
        """Make `_evaluator`; returns the terms to measure, and the terms of material among them."""
        layout = layout_of(game) if self.layout is None else self.layout
        self.layout_ = layout
        odd = layout.first_levels % 2 == 1 and layout.second_levels % 2 == 1
        if not (layout.symmetric and odd):
            raise ValueError(
                f"layout: expected a symmetric layout with odd numbers of levels, found"
                f" {layout.name}"
            )
        self._evaluator = SignatureEvaluator(
            game, layout, material=self._worth(layout.material), name="signature"
        )
        return layout.features, layout.material

    def _inputs(self, rows: BookRows, terms: Floats) -> dict[str, NDArray[Any]]:
        """Returns the arrays to store in addition to those of all moves; each [rows, ...].

        terms: terms of the settled positions, from the view of their side to move, [rows, terms].
        """
        layout = self.layout_
        cells = layout.first_cells(terms)
        mirrored = mirrored_cells(layout.sizes[0])[cells]
        cells = np.where(rows.signs[:, None] < 0, mirrored, cells)
        phases = layout.phases_of(rows.positions) if len(rows) else np.zeros(0)
        return {"cells": cells.astype(np.int16), "phase": phases.astype(np.int8)}

    def _learn(self, pairs: MovePairs) -> Floats:
        """Change `_evaluator` by the stored moves.

        Returns the positional part of the value of all moves for the side that chooses, [rows].
        """
        layout, tables = self.layout_, self._evaluator.tables
        phases = self._kept["phase"].astype(np.int64)
        pairs = CellPairs(pairs.better, pairs.worse, pairs.material, phases, layout.phases)
        first, second, third = layout.sizes
        phase = pairs.phase[:, None]
        cells = self._kept["cells"].astype(np.int64)
        tables["first"][:] = self._cells(pairs, cells, first)
        seen = pairs.occurrences(cells, sum(first))
        tables["first_levels"][:] = levels_of(tables["first"], seen, first, layout.first_levels)
        above = layout.second_cells(tables["first_levels"][phase, cells])
        tables["second"][:] = self._cells(pairs, above, second)
        seen = pairs.occurrences(above, sum(second))
        tables["second_levels"][:] = levels_of(tables["second"], seen, second, layout.second_levels)
        top = layout.third_cells(tables["second_levels"][phase, above])[:, None]
        tables["third"][:] = self._cells(pairs, top, (third,))
        return np.asarray(tables["third"][pairs.phase, top[:, 0]])

    def _apply_scale(self, scale: float) -> None:
        self._evaluator.scale[0] = scale

    def _cells(self, pairs: CellPairs, cells: Ints, sizes: tuple[int, ...]) -> Floats:
        """Returns the coefficients of the cells of a level, [phases, cells]."""
        return counted_cells(
            pairs, cells, sum(sizes), smoothing=self.smoothing, mirror=mirrored_cells(sizes)
        )

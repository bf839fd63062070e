"""The base class of learners from preferred moves: they store the moves, and learn when asked."""

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
from learner.books.book import BookEntry
from learner.books.book_rows import BookRows, Pairs, fitted_scale
from learner.options import check_options, choice, ranged
from play.players.opponents import reference
from search import Evaluator

__all__ = ["METHODS", "BookLearner"]

Floats = NDArray[np.float64]

METHODS = ("samuel", "logistic")


@dataclass(kw_only=True, eq=False, repr=False)
class BookLearner(BaseEstimator):  # type: ignore[misc]
    """A learner from entries of a book, or of games that a search played against itself.

    game: the game or its name.
    material: fixed weights of the terms of material (None: those of the game's evaluator
        `classic`).
    method: "samuel" for counting, "logistic" for regression.
    within: learn only from moves whose material is at most this far from the preferred move's,
        because material decides about the others (None: from all).
    half_life: number of entries after which the influence of an entry halves (None: never).
    scale: factor of the positional part of the value, in the unit of material (None: fitted to the
        same entries).

    After `fit` or `partial_fit`: `evaluator_`, and `entries_`, the number of entries learned from.
    Learning in portions gives the same bits as learning at once, whenever `evaluator_` is read.
    """

    game: Any = field(default="checkers", kw_only=False)
    material: dict[str, float] | None = None
    method: str = choice("logistic", METHODS)
    within: float | None = ranged(None, above=0)
    half_life: float | None = ranged(None, above=0)
    scale: float | None = ranged(None, above=0)

    entries_: int = field(init=False)
    _evaluator: Any = field(init=False)

    # --- what a subclass says -----------------------------------------------------------------

    def _set_up(self, game: Game) -> tuple[FeatureSet, tuple[str, ...]]:
        """Make `_evaluator`; returns the terms to measure, and the terms of material among them."""
        raise NotImplementedError

    def _inputs(self, rows: BookRows, terms: Floats) -> dict[str, NDArray[Any]]:
        """Returns the arrays to store beside those that all learners store; each [rows, ...].

        terms: terms of the settled positions, from the view of their side to move, [rows, terms].
        """
        raise NotImplementedError

    def _learn(self, pairs: Pairs) -> tuple[Floats, float]:
        """Change `_evaluator` by the stored moves.

        Returns the positional part of the value of all moves for the side that chooses, [rows], and
        its factor if the scale is not to be fitted.
        """
        raise NotImplementedError

    # --- learning -----------------------------------------------------------------------------

    def fit(self, entries: Iterable[BookEntry]) -> BookLearner:
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

    def partial_fit(self, entries: Iterable[BookEntry]) -> BookLearner:
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
            "votes": rows.votes(material, self.within).astype(np.int16),
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
            positional, scale = self._learn(pairs)
            if self.scale is None and len(pairs.worse):
                scale = fitted_scale(pairs, positional)
            self._apply_scale(self.scale if self.scale is not None else scale)
        evaluator: Evaluator = self._evaluator
        return evaluator

    def _apply_scale(self, scale: float) -> None:
        raise NotImplementedError

    def _pairs(self) -> Pairs:
        """Returns the pairs of preferred and other moves to learn from."""
        stored = self._kept
        size = stored["size"].astype(np.int64)
        first = np.cumsum(size) - size
        entry = np.repeat(np.arange(len(size)), size)
        worse = np.flatnonzero(stored["votes"] < 0)
        weight = np.ones(len(worse))
        if self.half_life is not None:
            weight = 0.5 ** ((len(size) - 1 - entry[worse]) / self.half_life)
        return Pairs((first + stored["chosen"])[entry[worse]], worse, weight, stored["material"])

    # --- going on later -----------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Returns everything on which further learning depends: arrays, and a number of entries."""
        return {"entries": self.entries_, **{name: a.copy() for name, a in self._kept.items()}}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state of `get_state`, whose arrays may be lists.

        Raises ValueError for a state of another learner.
        """
        self.prepare()
        arrays = {**state}
        entries = arrays.pop("entries", None)
        stored = {name: np.asarray(array) for name, array in arrays.items()}
        names = self._names()
        if not isinstance(entries, int) or (stored and set(stored) != set(names)):
            raise ValueError(
                f"expected a state with entries, {', '.join(names)}; found {', '.join(state)}"
            )
        if stored:
            rows = int(stored["size"].sum())
            for name, kind in names.items():
                expected = entries if name in ("chosen", "size") else rows
                if len(stored[name]) != expected:
                    raise ValueError(f"{name}: expected {expected}, found {len(stored[name])}")
                self._kept[name] = stored[name].astype(kind)
        self.entries_ = entries
        self._stale = bool(stored)

    def _names(self) -> dict[str, Any]:
        """Returns the names and types of the stored arrays."""
        rows = BookRows.of(())
        new = self._inputs(rows, np.zeros((0, len(self.features_))))
        common = {"material": np.float64, "votes": np.int16, "chosen": np.int16, "size": np.int16}
        return {**common, **{name: array.dtype for name, array in new.items()}}

"""Learning from preferred moves: the frame of what is learned from the differences between them.

Source: A. L. Samuel, "Some Studies in Machine Learning Using the Game of Checkers", IBM Journal of
    Research and Development 3 (1959), and its second part, 11 (1967).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

import games as all_games
from games.contract import Game
from games.features import FeatureSet
from learner.books.agreement import BookRows
from learner.books.book import BookEntry
from learner.options import check_options, choice
from play.players.opponents import reference
from search import Evaluator

__all__ = ["METHODS", "BookLearner", "Pairs"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

METHODS = ("samuel", "logistic")


@dataclass(frozen=True)
class Pairs:
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
    model.fit(turned[:, None] * columns, turned > 0)
    for_material, for_position = model.coef_[0]
    return max(0.0, float(for_position / for_material)) if for_material > 0 else 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class BookLearner(BaseEstimator):  # type: ignore[misc]
    """A learner from entries of a book, or of games that a search played against itself.

    game: the game or its name.
    material: fixed weights of the terms of material (None: those of the game's evaluator
        `classic`).
    method: "samuel" for counting, "logistic" for regression.

    After `fit` or `partial_fit`: `evaluator_`, and `entries_`, the number of entries learned from.
    Learning in portions gives the same bits as learning at once, whenever `evaluator_` is read.
    """

    game: Any = field(default="checkers", kw_only=False)
    material: dict[str, float] | None = None
    method: str = choice("logistic", METHODS)

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
            positional, scale = self._learn(pairs)
            self._apply_scale(fitted_scale(pairs, positional) if len(pairs.worse) else scale)
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
        return Pairs((first + stored["chosen"])[entry[worse]], worse, stored["material"])

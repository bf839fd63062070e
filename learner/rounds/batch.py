"""Batch learning: weights fitted to the stored positions of many games, all at once.

After each round of games (`learner.rounds.frame`) all weights are fitted to the positions of the
last rounds ("Texel tuning", Österlund 2014; see `learner.regression.logistic`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from learner.game_learner import MAN, feature_set, linear_start
from learner.models.model import numbers_of
from learner.options import ranged
from learner.positions.shards import Rows
from learner.regression.logistic import LogisticFit
from learner.rounds.frame import RoundsLearner, scale_of
from search import LinearEvaluator

__all__ = ["BatchFit", "LinearFit"]


@dataclass
class LinearFit:
    """The fit of weights over terms to the positions of each round.

    evaluator: the weights.
    fixed: weights by term that stay as they are.
    loss, blend, alpha: see `LogisticFit`.
    K: see `BatchFit`.

    Raises ValueError for an option that is not allowed, and where no term is left to learn.
    """

    evaluator: LinearEvaluator
    fixed: Mapping[str, float]
    loss: str
    blend: float
    alpha: float
    K: float | None

    def __post_init__(self) -> None:
        self._regression(None).check()

    def fit(
        self,
        rows: Rows,
        rounds: Sequence[Mapping[str, Any]],
        *,
        reserve: Sequence[str] = (),
        counts: ArrayLike | None = None,
    ) -> LogisticFit:
        """Returns the weights that fit the rows of a round; the evaluator's stay as they are.

        rounds: the figures of the rounds before this one.
        reserve: terms whose weights become 0.
        counts: the weight of each row (default: its `count`).
        """
        last = next((figures["K"] for figures in reversed(rounds) if "K" in figures), None)
        # refitted each time without a fixed weight, K would grow without bound as values shrink
        free = any(self.fixed.values()) or last is None
        given = None if free and scale_of(rows) is not None else last or 1.0
        return self._regression(self.K or given, reserve).fit_rows(rows, counts)

    def _regression(self, scale: float | None, reserve: Sequence[str] = ()) -> LogisticFit:
        return LogisticFit(
            self.evaluator.features,
            loss=self.loss,
            blend=self.blend,
            scale=scale,
            alpha=self.alpha,
            fixed={**self.fixed, **dict.fromkeys(reserve, 0.0)},
        )

    def get_state(self) -> list[float]:
        """Returns the weights, as plain JSON values."""
        return self.evaluator.weights.tolist()  # type: ignore[no-any-return, unused-ignore]

    def set_state(self, weights: Any) -> None:
        """Take the weights that `get_state` returned."""
        self.evaluator.weights[:] = numbers_of(weights, len(self.evaluator.weights))


@dataclass(kw_only=True, eq=False, repr=False)
class BatchFit(RoundsLearner):
    """Weights over terms, fitted by logistic regression to the positions of the last rounds.

    inputs: a feature set or its name (default: the game's first).
    fixed: weights by term that are never learned and set the unit (default: 1 for the term `men` if
        the set has it). With none, the unit is that of the values of the first round; K is 1 if
        these are all equal or do not predict the results.
    loss, alpha: see `LogisticFit`.
    K: a value predicts the result sigmoid(K * value) (default: fitted to the results of each
        round).

    In checkers from material, fitting the search's value alone (blend 0, K 4/3, squared loss) over
    many small rounds played best (docs/notebook.md), because each round carries values a few plies
    further.

    In games with dice, values are exact averages over all rolls, in points; the result that `blend`
    mixes in says who won, not by how much.
    """

    inputs: Any = None
    fixed: dict[str, float] | None = None
    round_games: int = 100
    keep_rounds: int = 6
    loss: str = "cross_entropy"
    alpha: float = ranged(1e-5, 0)
    K: float | None = ranged(None, above=0)
    evaluator_: LinearEvaluator = field(init=False)

    kinds = ()

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        self.features_ = feature_set(self.game_, self.inputs)
        self.evaluator_, fixed = linear_start(
            self.game_, self.features_, self.fixed, evaluator, usual=MAN, name="batchfit"
        )
        self._fitter = LinearFit(self.evaluator_, fixed, self.loss, self.blend, self.alpha, self.K)

    def fit_rows(self, rows: Rows) -> dict[str, Any]:
        counts = None
        if self.game_.players > 2:
            # a position of several games has a row for each, so that each game counts alike
            counts = rows.count / np.bincount(rows.game_number)[rows.game_number]
        fitted = self._fitter.fit(rows, self.rounds_, counts=counts)
        self.evaluator_.weights[:] = fitted.weights_
        return {"K": float(fitted.K_), "loss": float(fitted.loss_)}

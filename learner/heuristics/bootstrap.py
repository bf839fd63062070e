"""A heuristic from its own solutions: solve positions, learn from them, solve harder ones.

`HeuristicBatch` does so with the solutions that known heuristics find.

Every position on a solution, with its cost to the goal, is an example to learn from.

Source: Arfaee, Zilles and Holte 2011, in a simple form; the weights of unknown inputs are ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learner.heuristics.examples import Examples
from learner.heuristics.fit import fit_weights, sums_of
from learner.heuristics.frame import HeuristicLearner, SolvedPosition, base_values, starting_weights
from learner.options import ranged
from learner.positions.packing import packed, unpacked
from search.evaluators.heuristic import LearnedHeuristic

__all__ = ["HeuristicBatch", "HeuristicBootstrap"]

#: About the greatest number of examples that the weight of unknown inputs is taken from.
GUESSED = 5000


@dataclass(kw_only=True, eq=False, repr=False)
class HeuristicBootstrap(HeuristicLearner):
    """Fits weights of an encoding's inputs to the costs along solutions.

    Options beside those of `HeuristicLearner`:

    over: weight of an overestimate's squared error; an underestimate's has the weight 1.
    ridge: weight of the squared distance of the weights from those of the previous round.
    percentile: the offset makes this percentage of the held-out errors negative.
    held_out: share of the positions that are used to choose the offset, and not learned from.
    rows: greatest number of positions to learn from; the newest are kept.
    """

    over: float = ranged(10.0, 1)
    ridge: float = ranged(1.0, 0)
    percentile: float = ranged(95.0, 0, 100)
    held_out: float = ranged(0.1, 0, 0.9)
    rows: int = ranged(150_000, 1)

    evaluator_: LearnedHeuristic = field(init=False)

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        self._examples = Examples(self.game_, self.encoding_, self.rows)
        self._weights = np.zeros(self.encoding_.size)
        if self.base:
            values = base_values(self.game_, self.base)
            self._weights = starting_weights(self.game_, self.encoding_, values, seed=self.seed)
        self.evaluator_ = LearnedHeuristic(
            self.game_, self.encoding_, self._weights, base=self.base
        )

    def _learn(self, lessons: list[SolvedPosition], chances: list[float]) -> int:
        """Add the solutions to the examples, fit the weights to most, and choose the offset."""
        for lesson, chance in zip(lessons, chances, strict=True):
            if lesson.moves is not None:
                aside = chance < self.held_out
                self._examples.add(lesson.start, lesson.moves, lesson.cost, aside=aside)
        self._fit()
        return len(self._examples)

    def _fit(self) -> None:
        """Fit the weights to most examples, and choose the offset by those held out."""
        rows, costs, aside = self._examples.known()
        if not len(rows):
            return
        self._fit_to(rows, costs, np.flatnonzero(~aside))
        judged = np.flatnonzero(aside if aside.any() else ~aside)
        errors = self._sums(rows, judged) - costs[judged]
        self.evaluator_.offset = -max(float(np.percentile(errors, self.percentile)), 0.0)

    def _fit_to(
        self, rows: NDArray[Any], costs: NDArray[np.float64], chosen: NDArray[np.int64]
    ) -> None:
        """Fit the estimates of the chosen examples to their costs."""
        if not self.base:
            some = chosen[:: 1 + len(chosen) // GUESSED]
            self._guess(rows[some], costs[some])
        self._weights = fit_weights(
            rows[chosen], costs[chosen], start=self._weights, over=self.over, ridge=self.ridge
        )
        self.evaluator_.weights[:] = self._weights

    def _guess(self, rows: NDArray[Any], costs: NDArray[np.float64]) -> None:
        """Set the weights of inputs that no example has had to one common weight.

        It is the cost for each input that the goal does not have. With 0 what is unknown would
        look as cheap as the goal, and searches would look there first.
        """
        away = np.ones(self.encoding_.size + 1)
        away[self.encoding_.active_rows([self.game_.goal()])[0]] = 0.0
        away = away[:-1]
        counts = sums_of(rows, away)
        each = float(counts @ costs) / max(float(counts @ counts), 1.0)
        self._weights = np.where(self._examples.seen, self._weights, each * away)

    def _sums(self, rows: NDArray[Any], chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the estimates of the chosen examples, without offset or rounding."""
        return sums_of(rows[chosen], self._weights)

    # --- state --------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        return {
            **super()._get_state(),
            "model": {"weights": packed(self._weights)},
            "offset": self.evaluator_.offset,
            "examples": self._examples.get_state(),
        }

    def _set_state(self, state: dict[str, Any]) -> None:
        super()._set_state(state)
        weights = unpacked(state["model"]["weights"], np.float64, size=self.encoding_.size)
        if not np.isfinite(weights).all():
            raise ValueError("weights: expected finite numbers, found NaN or infinity")
        self._weights = weights
        self.evaluator_.weights[:] = weights
        self.evaluator_.offset = float(state["offset"])
        self._examples.set_state(state["examples"])


@dataclass(kw_only=True, eq=False, repr=False)
class HeuristicBatch(HeuristicBootstrap):
    """As `HeuristicBootstrap`, but its searches never use what it has learned.

    With base heuristics that never overestimate and the weight 1 the costs are the least ones.
    """

    weight: float = 1.0

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        none = np.zeros(self.encoding_.size)
        self._known = LearnedHeuristic(self.game_, self.encoding_, none, base=self.base)

    def _searcher(self) -> Any:
        return self._known

"""A heuristic from its own solutions: solve positions, learn from them, solve harder ones.

`BatchFit` does so with the solutions that known heuristics find.

Every position on a solution, with its cost to the goal, is an example to learn from.

Source: Arfaee, Zilles and Holte 2011, in a simple form; the weights of unknown inputs are ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.problem import KernelProblem
from learner.heuristics.examples import Examples
from learner.heuristics.fit import fit_weights, sums_of
from learner.heuristics.frame import HeuristicLearner, Lesson, base_values, starting_weights
from learner.options import ranged
from learner.positions.packing import packed, unpacked
from search.evaluators.heuristic import LearnedHeuristic
from search.evaluators.pattern_database import PatternDatabase
from search.single_agent.patterns import build_patterns

__all__ = ["BatchFit", "Bootstrap", "small_patterns"]

#: About the greatest number of examples that the weight of unknown inputs is taken from.
GUESSED = 5000


def small_patterns(problem: KernelProblem, *, each: int = 2) -> PatternDatabase:
    """Returns patterns of `each` pieces: their sum where costs may be added, else the largest.

    A first heuristic that nobody wrote: such small databases are built in a moment by search
    backwards from the goal. For sliding tiles their sum is at least the Manhattan distance, which
    is the same with one tile at a time. (Culberson and Schaeffer 1998; that relaxed problems give
    heuristics: Pearl 1984, Prieditis 1993.)

    The pieces are those of the problem's usual patterns. Raises ValueError if it has none.
    """
    usual = next(iter(problem.patterns.values()), ())
    pieces = sorted({piece for part in usual for piece in part})
    if not pieces:
        raise ValueError(f"{problem.name}: expected a problem with patterns, found none")
    parts = [tuple(pieces[first : first + each]) for first in range(0, len(pieces), each)]
    try:
        problem.pattern(parts[0], additive=True)
    except ValueError:
        return build_patterns(problem, [[part] for part in parts])
    return build_patterns(problem, [parts])


@dataclass(kw_only=True, eq=False, repr=False)
class Bootstrap(HeuristicLearner):
    """Fits weights of an encoding's inputs to the costs along solutions.

    Options beside those of `HeuristicLearner`:

    abstractions: if `base` is empty, begin from the costs of the problem with only two pieces told
        apart (`small_patterns`) and random positions, instead of from 0 and walks.
    over: weight of an overestimate's squared error; an underestimate's has the weight 1.
    ridge: weight of the squared distance of the weights from those of the previous round.
    percentile: the offset makes this percentage of the held-out errors negative.
    held_out: share of the positions that are used to choose the offset, and not learned from.
    rows: greatest number of positions to learn from; the newest are kept.
    """

    abstractions: bool = False
    over: float = ranged(10.0, 1)
    ridge: float = ranged(1.0, 0)
    percentile: float = ranged(95.0, 0, 100)
    held_out: float = ranged(0.1, 0, 0.9)
    rows: int = ranged(150_000, 1)

    evaluator_: LearnedHeuristic = field(init=False)

    def _check_options(self) -> None:
        super()._check_options()
        if self.abstractions and self.base:
            raise ValueError(f"abstractions: expected no base, found {', '.join(self.base)}")

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        if self.abstractions:
            self._steps, self._weight = 0.0, self.weight
        self._examples = Examples(self.game_, self.encoding_, self.rows)
        self._weights = np.zeros(self.encoding_.size)
        if self.base or self.abstractions:
            values = base_values(self.game_, self.base)
            if not self.base:
                values = small_patterns(self.game_).values
            self._weights = starting_weights(self.game_, self.encoding_, values, seed=self.seed)
        self.evaluator_ = LearnedHeuristic(
            self.game_, self.encoding_, self._weights, base=self.base
        )

    def _learn(self, lessons: list[Lesson], chances: list[float]) -> int:
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
        if not self.base and not self.abstractions:
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

    def get_state(self) -> dict[str, Any]:
        return {
            **super().get_state(),
            "model": {"weights": packed(self._weights)},
            "offset": self.evaluator_.offset,
            "examples": self._examples.get_state(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        super().set_state(state)
        weights = unpacked(state["model"]["weights"], np.float64, size=self.encoding_.size)
        if not np.isfinite(weights).all():
            raise ValueError("weights: expected finite numbers, found NaN or infinity")
        self._weights = weights
        self.evaluator_.weights[:] = weights
        self.evaluator_.offset = float(state["offset"])
        self._examples.set_state(state["examples"])


@dataclass(kw_only=True, eq=False, repr=False)
class BatchFit(Bootstrap):
    """As `Bootstrap`, but its searches never use what it has learned.

    With base heuristics that never overestimate and the weight 1 the costs are the least ones.
    """

    weight: float = 1.0

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        none = np.zeros(self.encoding_.size)
        self._known = LearnedHeuristic(self.game_, self.encoding_, none, base=self.base)

    def _searcher(self) -> Any:
        return self._known

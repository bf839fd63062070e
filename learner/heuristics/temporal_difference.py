"""TD(lambda) along greedy walks: estimates follow those of the positions that came next.

Source: R. S. Sutton, "Learning to Predict by the Methods of Temporal Differences", Machine Learning
    3 (1988), in the forward view, as `learner.bootstrap.temporal_difference` has it for games.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from games.problem import KernelProblem
from learner.heuristics.following import Follower
from learner.heuristics.frame import Lesson, Teacher
from learner.self_play import Target, lambda_returns

__all__ = ["TemporalDifference"]


@dataclass(frozen=True)
class _Walk:
    lambda_: float

    def __call__(
        self, problem: KernelProblem, heuristic: Any, position: Any, weight: float, nodes: int
    ) -> Lesson:
        """Walk to the neighbour of least cost + estimate that the walk has not visited yet."""
        estimate = heuristic.estimator()
        start, spent = position, [0.0]
        moves: list[Any] = []
        positions, values = [position], [estimate(position)]
        seen = {position}
        while len(moves) < nodes and not problem.solved(position):
            best: Any = None
            for move in problem.legal_moves(position):
                after = problem.play(position, move)
                if after in seen:
                    continue
                cost = problem.cost(position, move)
                value = 0.0 if problem.solved(after) else estimate(after)
                if best is None or cost + value < best[0]:
                    best = cost + value, move, after, cost, value
            if best is None:
                break
            _, move, position, cost, value = best
            seen.add(position)
            moves.append(move)
            spent.append(spent[-1] + cost)
            positions.append(position)
            values.append(value)
        done = problem.solved(position)
        # the cost of the whole walk, as each of its positions estimates it
        paid = np.array(spent)
        totals = paid + np.array(values)
        returns = lambda_returns(totals[:-1], float(totals[-1]), self.lambda_) - paid[:-1]
        target = Target(positions[:-1], returns, returns)
        return Lesson(start, len(moves), tuple(moves) if done else None, spent[-1], target)


@dataclass(kw_only=True, eq=False, repr=False)
class TemporalDifference(Follower):
    """The estimate of a position moves towards the lambda-return of the walk from it.

    The return of a walk that ends before the goal ends with the estimate there.

    lambda_: 0 for the next position's estimate, 1 for the cost of the whole walk.
    nodes: greatest number of moves of a walk.
    """

    nodes: int = 300
    lambda_: float = 0.7

    def _check(self) -> None:
        super()._check()
        self._shares({"lambda_": 1.0})

    def _teacher(self) -> Teacher:
        return _Walk(self.lambda_)

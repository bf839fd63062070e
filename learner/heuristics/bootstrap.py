"""A heuristic from scratch: solve positions near the goal, learn from them, move further away.

Positions are found by random walks back from the goal. Each is solved by A* with the heuristic
learned so far, within a number of expansions. Every position on a solution, with its cost to the
goal, is an example to learn from. When most positions are solved the walks become longer.

Source: Arfaee, Zilles and Holte 2011, in a simple form.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from games.features import Encoding
from games.problem import KernelProblem
from learner.heuristics.fit import fit_weights, inputs_matrix
from search.evaluators.heuristic import LearnedHeuristic
from search.single_agent.solve import solve

__all__ = ["Bootstrap", "Round"]

#: Positions at which the first weights agree with the base heuristics.
START = 20_000


@dataclass(frozen=True)
class Round:
    """The state of learning after a round.

    number: number of the round, from 1 on.
    steps: length of its walks.
    solved: share of its positions that were solved.
    expanded: mean number of expansions of the solved positions.
    rows: number of positions to learn from.
    seconds: time since learning began.
    """

    number: int
    steps: int
    solved: float
    expanded: float
    rows: int
    seconds: float


@dataclass(kw_only=True, eq=False, repr=False)
class Bootstrap(BaseEstimator):  # type: ignore[misc]
    """Learns a heuristic over an encoding of a problem.

    problem: a problem whose rules are kernels, with a goal to walk back from.
    encoding: the inputs that get the weights.
    base: names of the problem's heuristics; the learned one is at least the value of each. Empty
        to begin from scratch.
    rounds: greatest number of rounds.
    seconds: time after which no further round begins; None for no limit. With a limit the result
        depends on the machine.
    each: number of positions in a round.
    nodes: greatest number of expansions for each position.
    steps: length of the first walks.
    growth: factor by which the walks become longer when `enough` of a round's positions are solved.
    enough: the share of a round's positions that must be solved for that.
    longest: length of the longest walks.
    over: weight of an overestimate's squared error; an underestimate's has the weight 1.
    ridge: weight of the squared distance of the weights from those of the previous round.
    percentile: the offset makes this percentage of the held-out errors negative.
    held_out: share of the positions that are used to choose the offset, and not learned from.
    rows: greatest number of positions to learn from; the newest are kept.
    weight: weight of the heuristic in the searches.
    seed: seed of all random choices.

    After `fit`, `heuristic_` is the heuristic, and `rounds_` has a `Round` for each round.
    """

    problem: KernelProblem = field(kw_only=False)
    encoding: Encoding = field(kw_only=False)
    base: tuple[str, ...] = ()
    rounds: int = 1000
    seconds: float | None = None
    each: int = 100
    nodes: int = 20_000
    steps: int = 10
    growth: float = 1.5
    enough: float = 0.95
    longest: int = 1000
    over: float = 20.0
    ridge: float = 1.0
    percentile: float = 98.0
    held_out: float = 0.1
    rows: int = 200_000
    weight: float = 1.0
    seed: int = 0

    def _check(self) -> None:
        """Raises ValueError if an option is out of range."""
        least = {"rounds": 1, "each": 1, "nodes": 1, "steps": 1, "longest": 1, "rows": 1}
        for name, number in {**least, "growth": 1.0, "over": 1.0, "ridge": 0.0, "seed": 0}.items():
            if not getattr(self, name) >= number:
                raise ValueError(
                    f"{name}: expected at least {number:g}, found {getattr(self, name)}"
                )
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"seconds: expected more than 0, found {self.seconds}")
        for name, most in (("enough", 1.0), ("percentile", 100.0), ("held_out", 0.9)):
            if not 0 <= getattr(self, name) <= most:
                raise ValueError(f"{name}: expected 0 to {most:g}, found {getattr(self, name)}")

    def fit(self, watch: Callable[[Round], None] | None = None) -> Bootstrap:
        """Learn until a limit is reached; `watch` is called after each round."""
        self._check()
        begin = time.perf_counter()
        limit = math.inf if self.seconds is None else self.seconds
        chance = random.Random(self.seed)
        heuristic = LearnedHeuristic(
            self.problem, self.encoding, np.zeros(self.encoding.size), base=self.base
        )
        weights = self._start(chance)
        heuristic.weights[:] = weights
        positions: list[Any] = []
        costs: list[float] = []
        held: list[bool] = []
        self.rounds_: list[Round] = []
        steps = float(self.steps)
        while len(self.rounds_) < self.rounds and time.perf_counter() - begin < limit:
            solved, expanded = 0, 0
            for _ in range(self.each):
                start = self._walk(chance, round(steps))
                found = solve(
                    self.problem,
                    start,
                    heuristic,
                    weight=self.weight,
                    nodes=self.nodes,
                    memory_mib=8.0,
                )
                if found.moves is None:
                    continue
                solved += 1
                expanded += found.expanded
                aside = chance.random() < self.held_out
                for position, cost in self._line(start, found.moves, found.cost):
                    positions.append(position)
                    costs.append(cost)
                    held.append(aside)
            del positions[: -self.rows], costs[: -self.rows], held[: -self.rows]
            if positions:
                weights, offset = self._learn(positions, costs, held, weights)
                heuristic.weights[:] = weights
                heuristic.offset = offset
            round_ = Round(
                len(self.rounds_) + 1,
                round(steps),
                solved / self.each,
                expanded / max(solved, 1),
                len(positions),
                time.perf_counter() - begin,
            )
            self.rounds_.append(round_)
            if watch is not None:
                watch(round_)
            if solved >= self.enough * self.each:
                steps = min(steps * self.growth, self.longest)
        self.heuristic_ = heuristic
        return self

    def _start(self, chance: random.Random) -> NDArray[np.float64]:
        """Returns weights that reproduce the best base heuristic; zeros if `base` is empty."""
        weights = np.zeros(self.encoding.size)
        if not self.base:
            return weights
        positions = [self.problem.random_position(chance.getrandbits(40)) for _ in range(START)]
        known = [self.problem.evaluators[name].value for name in self.base]
        values = np.array([max(float(one(place)) for one in known) for place in positions])
        inputs = inputs_matrix(self.encoding.active_rows(positions), self.encoding.size)
        return fit_weights(inputs, values, start=weights, over=1.0, ridge=1e-3, passes=1, steps=50)

    def _walk(self, chance: random.Random, steps: int) -> Any:
        """Returns the end of a random walk from the goal that never goes straight back."""
        problem = self.problem
        position, back = problem.goal(), None
        for _ in range(steps):
            moves = [move for move in problem.legal_moves(position) if move != back]
            move = chance.choice(moves)
            back = problem.undo(position, move)
            position = problem.play(position, move)
        return position

    def _line(self, position: Any, moves: tuple[Any, ...], cost: float) -> list[tuple[Any, float]]:
        """Returns the positions of a solution before the goal, and mirrored, with their costs."""
        problem = self.problem
        mirror = problem.problem.mirror
        rows = []
        for move in moves:
            rows.append((position, cost))
            if mirror is not None:
                rows.append((tuple(map(int, mirror(position))), cost))
            cost -= problem.cost(position, move)
            position = problem.play(position, move)
        return rows

    def _learn(
        self,
        positions: list[Any],
        costs: list[float],
        held: list[bool],
        start: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], float]:
        """Returns the weights fitted to most rows, and the offset chosen by the held-out rows."""
        inputs = inputs_matrix(self.encoding.active_rows(positions), self.encoding.size)
        aside, targets = np.array(held), np.array(costs)
        learned = ~aside
        weights = fit_weights(
            inputs[learned], targets[learned], start=start, over=self.over, ridge=self.ridge
        )
        judged = aside if aside.any() else learned
        errors = inputs[judged] @ weights - targets[judged]
        return weights, -max(float(np.percentile(errors, self.percentile)), 0.0)

"""A heuristic from scratch: solve positions, learn from the solutions, solve harder ones.

Without a heuristic to begin from, the first positions are the ends of short random walks back from
the goal, and the walks become longer as more positions are solved. With one, positions are random
from the start, and the searches weight the heuristic less and less as it improves. Every position
on a solution, with its cost to the goal, is an example to learn from.

Source: Arfaee, Zilles and Holte 2011, in a simple form; searches with a weight are ours.
"""

from __future__ import annotations

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
from learner.heuristics.examples import Examples
from learner.heuristics.fit import fit_weights, packed_rows, sums_of
from search.evaluators.heuristic import LearnedHeuristic
from search.single_agent.solve import solve

__all__ = ["Bootstrap", "Round"]

#: Positions at which the first weights agree with the base heuristics.
START = 20_000
#: How the weight in the searches changes: what is beyond 1 falls by a factor, and rises by a step.
FALL, RISE = 0.8, 0.05
#: The weight rises if the share of solved positions is this much below `enough`.
SLACK = 0.1


@dataclass(frozen=True)
class Round:
    """The state of learning after a round.

    number: number of the round, from 1 on.
    steps: length of its walks; 0 for random positions.
    weight: weight of the heuristic in its searches.
    solved: share of its positions that were solved.
    expanded: mean number of expansions of the solved positions.
    rows: number of positions to learn from.
    seconds: time since learning began.
    """

    number: int
    steps: int
    weight: float
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
    steps: length of the first walks from the goal, if `base` is empty.
    growth: factor by which the walks become longer when `enough` of a round's positions are solved.
    longest: length of the longest walks; after them positions are random.
    enough: the share of a round's positions to be solved before walks become longer, or the weight
        of the heuristic smaller.
    weight: weight of the heuristic in the first searches, at least 1.
    over: weight of an overestimate's squared error; an underestimate's has the weight 1.
    ridge: weight of the squared distance of the weights from those of the previous round.
    percentile: the offset makes this percentage of the held-out errors negative.
    held_out: share of the positions that are used to choose the offset, and not learned from.
    rows: greatest number of positions to learn from; the newest are kept.
    seed: seed of all random choices.

    After `fit`, `heuristic_` is the heuristic, and `rounds_` has a `Round` for each round.
    """

    problem: KernelProblem = field(kw_only=False)
    encoding: Encoding = field(kw_only=False)
    base: tuple[str, ...] = ()
    rounds: int = 1000
    seconds: float | None = None
    each: int = 100
    nodes: int = 10_000
    steps: int = 10
    growth: float = 1.5
    longest: int = 1000
    enough: float = 0.95
    weight: float = 2.5
    over: float = 10.0
    ridge: float = 1.0
    percentile: float = 95.0
    held_out: float = 0.1
    rows: int = 150_000
    seed: int = 0

    def _check(self) -> None:
        """Raises ValueError if an option is out of range."""
        least = {"rounds": 1, "each": 1, "nodes": 1, "steps": 1, "longest": 1, "rows": 1}
        reals = {"growth": 1.0, "weight": 1.0, "over": 1.0, "ridge": 0.0, "seed": 0}
        for name, number in {**least, **reals}.items():
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
        self._begin()
        while len(self.rounds_) < self.rounds:
            spent = time.perf_counter() - begin
            if self.seconds is not None and spent >= self.seconds:
                break
            self._round(begin)
            if watch is not None:
                watch(self.rounds_[-1])
        return self

    def _begin(self) -> None:
        self.rounds_: list[Round] = []
        weights = self._start()
        self._examples = Examples(self.problem, self.encoding, self.rows)
        self.heuristic_ = LearnedHeuristic(self.problem, self.encoding, weights, base=self.base)
        self._weights = weights
        self._steps = 0.0 if self.base else float(self.steps)
        self._weight = self.weight if self.base else 1.0

    def _round(self, begin: float) -> None:
        """Solve positions, learn from the solutions, and set the difficulty of the next round."""
        chance = random.Random(f"{self.seed} {len(self.rounds_)}")
        solved, expanded = 0, 0
        for _ in range(self.each):
            start = self._position(chance)
            found = solve(
                self.problem,
                start,
                self.heuristic_,
                weight=self._weight,
                nodes=self.nodes,
                memory_mib=8.0,
            )
            aside = chance.random() < self.held_out
            if found.moves is not None:
                solved += 1
                expanded += found.expanded
                self._examples.add(start, found.moves, found.cost, aside=aside)
        self._learn()
        self.rounds_.append(
            Round(
                len(self.rounds_) + 1,
                round(self._steps),
                self._weight,
                solved / self.each,
                expanded / max(solved, 1),
                len(self._examples),
                time.perf_counter() - begin,
            )
        )
        if solved >= self.enough * self.each:
            self._steps *= self.growth
            if self._steps > self.longest:
                self._steps = 0.0
            self._weight = 1.0 + FALL * (self._weight - 1.0)
        elif solved < (self.enough - SLACK) * self.each:
            self._weight += RISE

    def _position(self, chance: random.Random) -> Any:
        """Returns a random position or, while walks are short enough, the end of one."""
        if self._steps:
            return self._walk(chance, round(self._steps))
        return self.problem.random_position(chance.getrandbits(40))

    def _start(self) -> NDArray[np.float64]:
        """Returns weights that reproduce the best base heuristic; zeros if `base` is empty."""
        weights = np.zeros(self.encoding.size)
        if not self.base:
            return weights
        chance = random.Random(self.seed)
        positions = [self.problem.random_position(chance.getrandbits(40)) for _ in range(START)]
        known = [self.problem.evaluators[name].value for name in self.base]
        values = np.array([max(float(one(place)) for one in known) for place in positions])
        rows = packed_rows(self.encoding.active_rows(positions), self.encoding.size)
        return fit_weights(rows, values, start=weights, over=1.0, ridge=1e-3, steps=50)

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

    def _learn(self) -> None:
        """Fit the weights to most examples, and choose the offset by those held out."""
        rows, costs, aside = self._examples.known()
        if not len(rows):
            return
        learned = ~aside
        self._weights = fit_weights(
            rows[learned], costs[learned], start=self._weights, over=self.over, ridge=self.ridge
        )
        judged = aside if aside.any() else learned
        errors = sums_of(rows[judged], self._weights) - costs[judged]
        self.heuristic_.weights[:] = self._weights
        self.heuristic_.offset = -max(float(np.percentile(errors, self.percentile)), 0.0)

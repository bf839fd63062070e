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
from dataclasses import asdict, dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

import games
from games.features import Encoding
from games.problem import KernelProblem
from learner.heuristics.examples import Examples
from learner.heuristics.fit import fit_weights, packed_rows, sums_of
from learner.positions.packing import packed, unpacked
from search.evaluators.heuristic import LearnedHeuristic
from search.single_agent.solve import solve

__all__ = ["Bootstrap", "Round", "find_encoding", "find_problem"]

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

    problem: a problem whose rules are kernels, with a goal to walk back from; or its name.
    encoding: the inputs that get the weights, or their name; None for the problem's first encoding.
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

    After `fit`: `heuristic_`, and `rounds_`, a `Round` for each round.
    """

    problem: Any = field(default="sliding8", kw_only=False)
    encoding: Any = field(default=None, kw_only=False)
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

    def fit(
        self,
        *,
        resume: dict[str, Any] | None = None,
        watch: Callable[[Round], None] | None = None,
    ) -> Bootstrap:
        """Learn until a limit is reached.

        resume: the state to continue from, which `get_state` returned; with the same options the
            result is the same as without the interruption.
        watch: called after each round.

        Raises ValueError if an option is out of range, for an encoding that the problem lacks, and
        for a state of another kind.
        """
        self._check()
        begin = time.perf_counter()
        self._begin()
        if resume is not None:
            self.set_state(resume)
            begin -= self.rounds_[-1].seconds if self.rounds_ else 0.0
        while len(self.rounds_) < self.rounds:
            if self.seconds is not None and time.perf_counter() - begin >= self.seconds:
                break
            self._round(begin)
            if watch is not None:
                watch(self.rounds_[-1])
        return self

    def _begin(self) -> None:
        self.problem_ = find_problem(self.problem)
        self.encoding_ = find_encoding(self.problem_, self.encoding)
        self.rounds_: list[Round] = []
        self._weights = self._start()
        self._examples = Examples(self.problem_, self.encoding_, self.rows)
        self.heuristic_ = LearnedHeuristic(
            self.problem_, self.encoding_, self._weights, base=self.base
        )
        self._steps = 0.0 if self.base else float(self.steps)
        self._weight = self.weight if self.base else 1.0

    def _round(self, begin: float) -> None:
        """Solve positions, learn from the solutions, and set the difficulty of the next round."""
        chance = random.Random(f"{self.seed} {len(self.rounds_)}")
        solved, expanded = 0, 0
        for _ in range(self.each):
            start = self._position(chance)
            found = solve(
                self.problem_,
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
        if solved >= self.enough * self.each and self._steps:
            self._steps *= self.growth
            if self._steps > self.longest:
                self._steps, self._weight = 0.0, self.weight
        elif solved >= self.enough * self.each:
            self._weight = 1.0 + FALL * (self._weight - 1.0)
        elif not self._steps and solved < (self.enough - SLACK) * self.each:
            self._weight += RISE

    def _position(self, chance: random.Random) -> Any:
        """Returns a random position or, while walks are short enough, the end of one."""
        if self._steps:
            return self._walk(chance, round(self._steps))
        return self.problem_.random_position(chance.getrandbits(40))

    def _start(self) -> NDArray[np.float64]:
        """Returns weights that reproduce the best base heuristic; zeros if `base` is empty."""
        weights = np.zeros(self.encoding_.size)
        if not self.base:
            return weights
        chance = random.Random(self.seed)
        positions = [self.problem_.random_position(chance.getrandbits(40)) for _ in range(START)]
        known = [self.problem_.evaluators[name].value for name in self.base]
        values = np.array([max(float(one(place)) for one in known) for place in positions])
        rows = packed_rows(self.encoding_.active_rows(positions), self.encoding_.size)
        return fit_weights(rows, values, start=weights, over=1.0, ridge=1e-3, steps=50)

    def _walk(self, chance: random.Random, steps: int) -> Any:
        """Returns the end of a random walk from the goal that never goes straight back."""
        problem = self.problem_
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

    # --- state ------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Returns everything that later rounds depend on, as plain values."""
        return {
            "rounds_done": [asdict(one) for one in self.rounds_],
            "steps": self._steps,
            "weight": self._weight,
            "weights": packed(self._weights),
            "offset": self.heuristic_.offset,
            "examples": self._examples.get_state(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Take a state that `get_state` returned; raises ValueError for any other."""
        try:
            weights = unpacked(state["weights"], np.float64, size=self.encoding_.size)
            if not np.isfinite(weights).all():
                raise ValueError("weights: expected finite numbers, found NaN or infinity")
            rounds = [Round(**one) for one in state["rounds_done"]]
            steps, weight = float(state["steps"]), float(state["weight"])
            self._examples.set_state(state["examples"])
            self.heuristic_.offset = float(state["offset"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"expected a state of this learner, found {error!r}") from None
        self.rounds_, self._steps, self._weight = rounds, steps, weight
        self._weights = weights
        self.heuristic_.weights[:] = weights


def find_problem(problem: Any) -> KernelProblem:
    """Returns the problem itself or the one of a name.

    Raises ValueError for a game of two sides and for a problem whose rules are not kernels.
    """
    found = games.load(problem) if isinstance(problem, str) else problem
    if not isinstance(found, KernelProblem):
        raise ValueError(f"problem: expected one whose rules are kernels, found {found}")
    return found


def find_encoding(problem: KernelProblem, encoding: Any) -> Encoding:
    """Returns the encoding itself or the one of a name; None is the problem's first.

    Raises ValueError if the problem has no such encoding.
    """
    if isinstance(encoding, Encoding):
        return encoding
    known = problem.encodings
    if encoding is None and known:
        return cast(Encoding, next(iter(known.values())))
    if encoding not in known:
        raise ValueError(
            f"encoding: expected one of {', '.join(known) or 'your own'} for {problem.name},"
            f" found {encoding!r}"
        )
    return cast(Encoding, known[encoding])

"""A heuristic from its own solutions: solve positions, learn from them, solve harder ones.

Without a heuristic to begin from, the first positions are the ends of short random walks back from
the goal; the walks become longer as more positions are solved, and shorter if too few are. With
one, positions are random from the start, and the searches weight the heuristic less and less as it
improves. Every position on a solution, with its cost to the goal, is an example to learn from.

If A* cannot solve such positions a beam does. It compares positions of equal depth, so its
heuristic should rank them rather than be admissible: weights follow the costs of the examples in
turn. The first examples are solutions by known heuristics.

The heuristic does not change within a round, so that the result depends only on the options and the
seed, not on the workers.

Source: Arfaee, Zilles and Holte 2011, in a simple form; searches with a weight and the weights of
unknown inputs are ours.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.problem import KernelProblem
from learner.frame import Progress, last_round
from learner.heuristics.examples import Examples
from learner.heuristics.fit import fit_weights, follow_costs, packed_rows, sums_of
from learner.heuristics.frame import ProblemLearner
from learner.options import ranged
from learner.positions.packing import packed, unpacked
from play.workers import Workers
from search.evaluators.heuristic import LearnedHeuristic
from search.single_agent.solve import solve
from search.textbook.solution import Solution

__all__ = ["HeuristicBootstrap"]

#: Length of the first walks from the goal, the factor by which walks become longer, and the length
#: beyond which positions are random.
STEPS, GROWTH, LONGEST = 10, 1.5, 1000
#: Changes of the weight in the searches: the part beyond 1 falls by a factor, and rises by a step.
FALL, RISE = 0.8, 0.05
#: The weight rises, or walks become shorter, if the share of solved positions is this much below
#: `enough`.
SLACK = 0.1
POSITIONS_PER_TASK = 4
#: Memory of a search in MiB, enough for its limit of expansions.
MEMORY = 256.0
#: Positions at which the first weights agree with the base heuristics.
START = 20_000
#: The newest examples are kept, at most this many.
ROOM = 150_000
#: Weights in the loss: of an overestimate's squared error, if an underestimate's is 1; and of the
#: squared distance from the weights of the previous round.
OVER, RIDGE = 10.0, 1.0
#: With a beam, the number of first positions, which known heuristics solve; the share of an
#: example's error that a step corrects; and the last share of the run, in which this falls to 0.
BEGINNING, RATE, FALLING = 1000, 0.8, 0.4
#: Share of the positions that are used to choose the offset, and not learned from.
HELD_OUT = 0.1
#: The approximate maximum number of examples for the weight of unknown inputs.
GUESSED = 5000


@dataclass(frozen=True)
class _Task:
    """Positions with the heuristic and the options of their searches."""

    problem: KernelProblem
    heuristic: Any
    positions: Sequence[Any]
    options: dict[str, Any]


def _work(task: _Task) -> list[Solution]:
    return [
        solve(task.problem, position, task.heuristic, memory_mib=MEMORY, **task.options).whole()
        for position in task.positions
    ]


@dataclass(kw_only=True, eq=False, repr=False)
class HeuristicBootstrap(ProblemLearner):
    """Solves positions in rounds, and fits weights of an encoding's inputs to the costs.

    Options in addition to those of `ProblemLearner`:

    games: number of positions to solve; the last round is a whole one.
    each: number of positions in a round.
    nodes: greatest number of expansions for each position.
    enough: the share of a round's positions to be solved before walks become longer, or the weight
        of the heuristic smaller; walks become shorter by a move if far fewer are.
    weight: weight of the heuristic in the first searches, at least 1.
    percentile: the offset makes this percentage of the held-out errors negative.
    width: width of the beam that solves positions in place of A*, which needs heuristics to begin
        from; 0 for A*. The heuristic is then neither lowered nor rounded, and `percentile` refused.
    workers: the `Workers` that search (default: this thread).

    After `fit`: `evaluator_`, and `rounds_`, the figures of each round: `steps`, the length of its
    walks, 0 for random positions; `weight`, that of the heuristic in its searches; `solved`, the
    share of its positions that were solved; and `expanded`, their mean number of expansions.
    """

    games: int = ranged(100_000, 1)
    each: int = ranged(100, 1)
    nodes: int = ranged(10_000, 1)
    enough: float = ranged(0.95, 0, 1)
    weight: float = ranged(2.5, 1)
    percentile: float = ranged(95.0, 0, 100)
    width: int = ranged(0, 0)
    workers: Workers | None = None

    evaluator_: LearnedHeuristic = field(init=False)

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        if self.width and not self.base:
            raise ValueError("width: expected heuristics to begin from")
        if self.width and self.percentile != type(self).percentile:
            raise ValueError(f"percentile: expected none with a width, found {self.percentile:g}")
        self.rounds_: list[dict[str, float]] = []
        self._steps = 0.0 if self.base else float(STEPS)
        self._weight = self.weight if self.base else 1.0
        self._examples = Examples(self.game_, self.encoding_, ROOM)
        self._weights = np.zeros(self.encoding_.size)
        if self.base:
            self._weights = self._starting_weights()
        self._known = LearnedHeuristic(
            self.game_, self.encoding_, np.zeros(self.encoding_.size), base=self.base
        )
        self.evaluator_ = LearnedHeuristic(
            self.game_, self.encoding_, self._weights,
            base=() if self.width else self.base, rounded=not self.width,
        )  # fmt: skip

    def _starting_weights(self) -> NDArray[np.float64]:
        """Returns weights [inputs] that reproduce the base heuristics as well as they can."""
        problem, encoding, chance = self.game_, self.encoding_, random.Random(self.seed)
        positions = [problem.random_position(chance.getrandbits(40)) for _ in range(START)]
        rows = packed_rows(encoding.active_rows(positions), encoding.size)
        base = [problem.evaluators[name].value for name in self.base]
        values = np.array([max(float(one(place)) for one in base) for place in positions])
        start = np.zeros(encoding.size)
        return fit_weights(rows, values, start=start, over=1.0, ridge=1e-3, steps=50)

    def _searcher(self) -> LearnedHeuristic:
        """Returns the heuristic of the searches of a round."""
        beginning = self.width and len(self.rounds_) * self.each < BEGINNING
        return self._known if beginning else self.evaluator_

    # --- learning -----------------------------------------------------------------------------

    def learn(self) -> Generator[Progress, None, None]:
        while len(self.rounds_) * self.each < self.games:
            self._round()
            self.games_played_ = min(self.games, len(self.rounds_) * self.each)
            yield self.progress(None, last_round(self.rounds_))

    def _round(self) -> None:
        """Solve positions, learn from them, and set the difficulty of the next round."""
        chance = random.Random(f"{self.seed} {len(self.rounds_)}")
        drawn = [(self._position(chance), chance.random()) for _ in range(self.each)]
        lessons = list(self._lessons([position for position, _ in drawn]))
        for lesson, (position, number) in zip(lessons, drawn, strict=True):
            if lesson.moves is not None:
                aside = number < HELD_OUT and not self.width
                self._examples.add(position, lesson.moves, lesson.cost, aside=aside)
        self._fit()
        self.updates_ = len(self._examples)
        expanded = [lesson.expanded for lesson in lessons if lesson.moves is not None]
        solved = len(expanded)
        self.rounds_.append(
            {
                "steps": round(self._steps),
                "weight": self._weight,
                "solved": solved / self.each,
                "expanded": sum(expanded) / max(solved, 1),
            }
        )
        if solved >= self.enough * self.each and self._steps:
            self._steps *= GROWTH
            if self._steps > LONGEST:
                self._steps, self._weight = 0.0, self.weight
        elif solved >= self.enough * self.each:
            self._weight = 1.0 + FALL * (self._weight - 1.0)
        elif solved < (self.enough - SLACK) * self.each:
            if self._steps:
                self._steps = max(round(self._steps) - 1.0, 1.0)
            else:
                self._weight += RISE

    def _lessons(self, positions: list[Any]) -> Iterable[Solution]:
        """Yields the solution of each position, in order."""
        options: dict[str, Any] = {"weight": self._weight, "nodes": self.nodes}
        if self.width:
            options |= {"method": "beam", "width": self.width}
        searcher = self._searcher()
        tasks = (
            _Task(self.game_, searcher, positions[first : first + POSITIONS_PER_TASK], options)
            for first in range(0, len(positions), POSITIONS_PER_TASK)
        )
        at_work = map(_work, tasks) if self.workers is None else self.workers.map(_work, tasks)
        for lessons in at_work:
            yield from lessons

    def _position(self, chance: random.Random) -> Any:
        """Returns a random position or, while walks are short enough, the end of one."""
        if self._steps:
            return self._walk(chance, round(self._steps))
        return self.game_.random_position(chance.getrandbits(40))

    def _walk(self, chance: random.Random, steps: int) -> Any:
        """Returns the end of a random walk from the goal that never goes straight back."""
        problem = self.game_
        position, back = problem.goal(), None
        for _ in range(steps):
            moves = [move for move in problem.legal_moves(position) if move != back]
            move = chance.choice(moves)
            back = problem.undo(position, move)
            position = problem.play(position, move)
        return position

    def _fit(self) -> None:
        """Fit the weights to all examples but some, by which the offset is chosen."""
        rows, costs, aside = self._examples.known()
        if not len(rows):
            return
        if self.width:
            self._follow(rows, costs)
            return
        chosen = np.flatnonzero(~aside)
        if not self.base:
            some = chosen[:: 1 + len(chosen) // GUESSED]
            self._guess(rows[some], costs[some])
        self._weights = fit_weights(
            rows[chosen], costs[chosen], start=self._weights, over=OVER, ridge=RIDGE
        )
        self.evaluator_.weights[:] = self._weights
        judged = np.flatnonzero(aside if aside.any() else ~aside)
        errors = sums_of(rows[judged], self._weights) - costs[judged]
        self.evaluator_.offset = -max(float(np.percentile(errors, self.percentile)), 0.0)

    def _follow(self, rows: NDArray[Any], costs: NDArray[np.float64]) -> None:
        """Update the weights by each example once, in random order.

        At first all weights grow by the excess of costs over sums, so that inputs which no
        example has had do not look cheap.
        """
        if not self.rounds_:
            sums = sums_of(rows, self._weights)
            self._weights *= float(sums @ costs) / max(float(sums @ sums), 1.0)
        order = np.random.default_rng([self.seed, len(self.rounds_)]).permutation(len(rows))
        left = 1.0 - len(self.rounds_) * self.each / self.games
        weights = np.append(self._weights, 0.0)
        follow_costs(rows, costs, order, RATE * min(1.0, left / FALLING), weights)
        self._weights = weights[:-1]
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

    # --- state --------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        return {
            "rounds_done": [dict(figures) for figures in self.rounds_],
            "steps": self._steps,
            "weight": self._weight,
            "model": {"weights": packed(self._weights)},
            "offset": self.evaluator_.offset,
            "examples": self._examples.get_state(),
        }

    def _set_state(self, state: dict[str, Any]) -> None:
        self.rounds_ = [dict(figures) for figures in state["rounds_done"]]
        self._steps, self._weight = float(state["steps"]), float(state["weight"])
        weights = unpacked(state["model"]["weights"], np.float64, size=self.encoding_.size)
        if not np.isfinite(weights).all():
            raise ValueError("weights: expected finite numbers, found NaN or infinity")
        self._weights = weights
        self.evaluator_.weights[:] = weights
        self.evaluator_.offset = float(state["offset"])
        self._examples.set_state(state["examples"])

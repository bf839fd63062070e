"""Learning a heuristic in rounds: positions that become harder, and what each of them teaches.

Without a heuristic to begin from, the first positions are the ends of short random walks back from
the goal; the walks become longer as more positions are solved, and shorter if too few are. With
one, positions are random from the start, and the searches weight the heuristic less and less as it
improves.

The learners differ in how they learn the solutions of a round, which A* finds.
The heuristic does not change within a round, so that the result depends only on the options and the
seed, not on the workers.

Source: Arfaee, Zilles and Holte 2011, in a simple form; searches with a weight are ours.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

import games as all_games
from games.contract import Game
from games.features import Encoding
from games.problem import KernelProblem
from learner.frame import Learner, Progress, last_round
from learner.heuristics.fit import fit_weights, packed_rows
from learner.options import ranged
from play.workers import Workers
from search.single_agent.solve import solve

__all__ = [
    "HeuristicLearner",
    "SolvedPosition",
    "ProblemLearner",
    "base_values",
    "find_encoding",
    "find_problem",
    "starting_weights",
]

#: How the weight in the searches changes: what is beyond 1 falls by a factor, and rises by a step.
FALL, RISE = 0.8, 0.05
#: The weight rises, or walks become shorter, if the share of solved positions is this much below
#: `enough`.
SLACK = 0.1
POSITIONS_PER_TASK = 4
#: Memory of a search in MiB, so large that the number of expansions is what limits it.
MEMORY = 256.0
#: Positions at which the first weights agree with the base heuristics.
START = 20_000


@dataclass(frozen=True)
class SolvedPosition:
    """The solution of a position, which A* found.

    start: the position.
    expanded: number of positions expanded.
    moves: the moves that solve it; None if it was not solved.
    cost: their cost.
    """

    start: Any
    expanded: int
    moves: tuple[Any, ...] | None
    cost: float


@dataclass(frozen=True)
class _Task:
    """Positions with the heuristic, the weight and the expansions of their searches."""

    problem: KernelProblem
    heuristic: Any
    positions: Sequence[Any]
    weight: float
    nodes: int


def _work(task: _Task) -> list[SolvedPosition]:
    lessons = []
    for position in task.positions:
        found = solve(
            task.problem, position, task.heuristic,
            weight=task.weight, nodes=task.nodes, memory_mib=MEMORY,
        )  # fmt: skip
        lessons.append(SolvedPosition(position, found.expanded, found.moves, found.cost))
    return lessons


@dataclass(kw_only=True, eq=False, repr=False)
class ProblemLearner(Learner):
    """The base class of learners of a heuristic over an encoding of a problem.

    game: a problem whose rules are kernels, with a goal to walk back from; or its name.
    encoding: the inputs to learn from, or their name; None for the first encoding of the problem.
    base: names of the problem's heuristics; the learned one is at least the value of each. Empty
        to begin from scratch.

    After `fit`: `evaluator_`, the heuristic.
    """

    game: Any = field(default="sliding8", kw_only=False)
    encoding: Any = field(default=None, kw_only=False)
    base: tuple[str, ...] = ()

    counted: ClassVar[str] = "positions"
    game_: KernelProblem = field(init=False)

    def _load_game(self) -> Game:
        self.game_ = find_problem(self.game)
        return self.game_

    def begin(self, evaluator: Any) -> None:
        """There is no evaluator to start from, because `base` names the heuristics."""
        if evaluator is not None:
            raise ValueError(f"expected no evaluator to start from, found {evaluator!r}")
        self.encoding_ = find_encoding(self.game_, self.encoding)


@dataclass(kw_only=True, eq=False, repr=False)
class HeuristicLearner(ProblemLearner):
    """The base class of learners that solve positions in rounds.

    Options beside those of `ProblemLearner`:

    games: number of positions to solve; the last round is a whole one.
    each: number of positions in a round.
    nodes: greatest number of expansions for each position.
    steps: length of the first walks from the goal, if `base` is empty.
    growth: factor by which the walks become longer when `enough` of a round's positions are solved;
        they become shorter by a move if far fewer are.
    longest: length of the longest walks; after them positions are random.
    enough: the share of a round's positions to be solved before walks become longer, or the weight
        of the heuristic smaller.
    weight: weight of the heuristic in the first searches, at least 1.
    workers: the `Workers` that search (None: this thread).

    After `fit`: `evaluator_`, and `rounds_`, the figures of each round: `steps`, the length of its
    walks, 0 for random positions; `weight`, that of the heuristic in its searches; `solved`, the
    share of its positions that were solved; and `expanded`, their mean number of expansions.
    """

    games: int = 100_000
    each: int = ranged(100, 1)
    nodes: int = ranged(10_000, 1)
    steps: int = ranged(10, 1)
    growth: float = ranged(1.5, 1)
    longest: int = ranged(1000, 1)
    enough: float = ranged(0.95, 0, 1)
    weight: float = ranged(2.5, 1)
    workers: Workers | None = None

    # --- what a subclass says -----------------------------------------------------------------

    def begin(self, evaluator: Any) -> None:
        """A subclass sets `evaluator_` too."""
        super().begin(evaluator)
        self.rounds_: list[dict[str, float]] = []
        self._steps = 0.0 if self.base else float(self.steps)
        self._weight = self.weight if self.base else 1.0

    def _searcher(self) -> Any:
        """Returns the heuristic of the searches of a round."""
        return self.evaluator_

    def _learn(self, lessons: list[SolvedPosition], chances: list[float]) -> int:
        """Learn the lessons of a round; returns the number of positions learned from.

        chances: a random number from 0 to 1 for each lesson.
        """
        raise NotImplementedError

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
        self.updates_ = self._learn(lessons, [number for _, number in drawn])
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
            self._steps *= self.growth
            if self._steps > self.longest:
                self._steps, self._weight = 0.0, self.weight
        elif solved >= self.enough * self.each:
            self._weight = 1.0 + FALL * (self._weight - 1.0)
        elif solved < (self.enough - SLACK) * self.each:
            if self._steps:
                self._steps = max(round(self._steps) - 1.0, 1.0)
            else:
                self._weight += RISE

    def _lessons(self, positions: list[Any]) -> Iterable[SolvedPosition]:
        """Yields the lesson of each position, in order."""
        tasks = (
            _Task(
                self.game_, self._searcher(), positions[first : first + POSITIONS_PER_TASK],
                self._weight, self.nodes,
            )
            for first in range(0, len(positions), POSITIONS_PER_TASK)
        )  # fmt: skip
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

    # --- state --------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        return {
            "rounds_done": [dict(figures) for figures in self.rounds_],
            "steps": self._steps,
            "weight": self._weight,
        }

    def _set_state(self, state: dict[str, Any]) -> None:
        self.rounds_ = [dict(figures) for figures in state["rounds_done"]]
        self._steps, self._weight = float(state["steps"]), float(state["weight"])


def base_values(
    problem: KernelProblem, base: Sequence[str]
) -> Callable[[Sequence[Any]], NDArray[np.float64]]:
    """Returns a function that values positions by the largest of the base heuristics."""
    known = [problem.evaluators[name].value for name in base]

    def values(positions: Sequence[Any]) -> NDArray[np.float64]:
        return np.array([max(float(one(place)) for one in known) for place in positions])

    return values


def starting_weights(
    problem: KernelProblem,
    encoding: Encoding,
    values: Callable[[Sequence[Any]], NDArray[np.float64]],
    *,
    seed: int,
) -> NDArray[np.float64]:
    """Returns weights [inputs] that reproduce the values of a heuristic as well as they can."""
    chance = random.Random(seed)
    positions = [problem.random_position(chance.getrandbits(40)) for _ in range(START)]
    rows = packed_rows(encoding.active_rows(positions), encoding.size)
    start = np.zeros(encoding.size)
    return fit_weights(rows, values(positions), start=start, over=1.0, ridge=1e-3, steps=50)


def find_problem(problem: Any) -> KernelProblem:
    """Returns the problem itself or the one of a name.

    Raises ValueError for a game of two sides and for a problem whose rules are not kernels.
    """
    found = all_games.load(problem) if isinstance(problem, str) else problem
    if not isinstance(found, KernelProblem):
        name = getattr(found, "name", found)
        raise ValueError(f"game: expected one whose rules are kernels, found {name}")
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
    if not known:
        raise ValueError(f"{problem.name}: expected encodings to learn over, found none")
    if encoding not in known:
        raise ValueError(
            f"encoding: expected one of {', '.join(known)} for {problem.name}, found {encoding!r}"
        )
    return cast(Encoding, known[encoding])

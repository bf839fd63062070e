"""The common part of learners of a heuristic: a problem with kernels, and an encoding of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import games as all_games
from games.contract import Game
from games.features import Encoding
from games.problem import KernelProblem
from learner.frame import Learner

__all__ = ["ProblemLearner", "find_encoding", "find_problem"]


@dataclass(kw_only=True, eq=False, repr=False)
class ProblemLearner(Learner):
    """The base class of learners of a heuristic over an encoding of a problem.

    game: a problem whose rules are kernels, with a goal to walk back from; or its name.
    encoding: the inputs to learn from, or their name. Default: the first encoding of the problem.
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
        """Takes no evaluator to start from, because `base` names the heuristics."""
        if evaluator is not None:
            raise ValueError(f"expected no evaluator to start from, found {evaluator!r}")
        self.encoding_ = find_encoding(self.game_, self.encoding)


def find_problem(problem: Any) -> KernelProblem:
    """Returns the problem itself, or the problem of a name.

    Raises ValueError for a game of two sides and for a problem whose rules are not kernels.
    """
    named = all_games.load(problem) if isinstance(problem, str) else problem
    if not isinstance(named, KernelProblem):
        name = getattr(named, "name", named)
        raise ValueError(f"game: expected a problem whose rules are kernels, found {name}")
    return named


def find_encoding(problem: KernelProblem, encoding: Any) -> Encoding:
    """Returns the encoding itself, or the encoding of a name; None is the problem's first.

    Raises ValueError if the problem has no such encoding.
    """
    if isinstance(encoding, Encoding):
        return encoding
    listed = problem.encodings
    if encoding is None and listed:
        return cast(Encoding, next(iter(listed.values())))
    if not listed:
        raise ValueError(f"{problem.name}: expected a problem with encodings")
    if encoding not in listed:
        raise ValueError(
            f"encoding: expected one of {', '.join(listed)} for {problem.name}, found {encoding!r}"
        )
    return cast(Encoding, listed[encoding])

"""`check_problem`: whether a problem keeps the contract of `games.problem`, by random walks."""

from __future__ import annotations

import math
import random
from typing import Any

from games.check.game import Check
from games.contract import Position
from games.problem import ALONE, Heuristic, Problem

__all__ = ["check_problem"]

ROUNDING = 1e-9


def check_problem(problem: Problem, *, walks: int = 20, steps: int = 50, seed: int = 0) -> None:
    """Walk at random and check every position on the way against the contract.

    Half of the walks begin at the problem's start, half at its goal if it has one. A heuristic
    that is declared admissible must not exceed the cost of the walk back to the goal.

    Raises ContractError at the first broken rule; its message names the rule and the position, and
    says what was expected and found, and ValueError for a game of two sides.
    """
    ALONE.expect(problem, where="problem", instead="games.check_game checks it")
    if walks < 1 or steps < 1:
        raise ValueError(f"expected at least 1 walk of 1 step, found {walks} of {steps}")
    check = _ProblemCheck(problem, random.Random(seed))
    check.start()
    for walk in range(walks):
        check.walk(steps, from_goal=walk % 2 == 1)


class _ProblemCheck(Check):
    """The checks of a game, and those that only a problem needs."""

    game: Problem
    #: The cost of the walk back from the position that is looked at; infinite if it is not known.
    back = math.inf

    def start(self) -> None:
        """Check the start and the goal, and that meaningless texts are refused."""
        try:
            self.goal: Position | None = self.game.goal()
        except TypeError:
            self.goal = None
        super().start()
        if self.goal is not None and not self.game.solved(self.goal):
            self.fail("the goal is solved", self.goal, "True", False)

    def walk(self, steps: int, *, from_goal: bool) -> None:
        """Walk at random; from the goal, the cost of the way back bounds admissible heuristics."""
        problem = self.game
        position, self.back = problem.start(), math.inf
        if from_goal and self.goal is not None:
            position, self.back = self.goal, 0.0
        for _ in range(steps):
            self.position(position)
            moves = problem.legal_moves(position)
            if not moves:
                return
            move = self.random.choice(moves)
            after = problem.play(position, move)
            self.back += self.way_back(position, move, after)
            position = after

    def outcome(self, position: Position, roll: int | None, moves: list[Any]) -> None:
        """Check what follows from a solution; a solved position has moves like any other."""
        problem = self.game
        if self.back < math.inf and problem.why_unsolvable(position):
            reason = problem.why_unsolvable(position)
            self.fail(
                "positions that can be reached from the goal are solvable", position, "''", reason
            )
        for name, entry in problem.evaluators.items():
            self.heuristic(name, entry, position)

    def heuristic(self, name: str, entry: Any, position: Position) -> None:
        """Check a heuristic's value of a position, and how the moves change it."""
        if not isinstance(entry, Heuristic):
            return
        value = float(entry.value(position))
        if not 0 <= value < math.inf:
            self.fail(f"{name} is a cost", position, "a finite number from 0 on", value)
        if entry.known.admissible and value > self.back + ROUNDING:
            self.fail(f"{name} never overestimates", position, f"at most {self.back:g}", value)
        if entry.change is None:
            return
        for move in self.game.legal_moves(position):
            change = float(entry.value(self.game.play(position, move))) - value
            stated = float(entry.change(position, move))
            if abs(stated - change) > ROUNDING:
                self.fail(f"the change of {name} by {move!r}", position, f"{change:g}", stated)

    def move(self, position: Position, move: Any, before: Any) -> None:
        super().move(position, move, before)
        cost = self.game.cost(position, move)
        if not 0 < cost < math.inf:
            self.fail(f"the cost of {move!r}", position, "a finite number above 0", cost)
        self.way_back(position, move, self.game.play(position, move))

    def way_back(self, position: Position, move: Any, after: Position) -> float:
        """Check that a move can be taken back; returns what that costs, infinite if it cannot."""
        problem = self.game
        try:
            back = problem.undo(position, move)
        except TypeError:
            return math.inf
        if back not in problem.legal_moves(after) or problem.play(after, back) != position:
            self.fail(f"undo of {move!r} leads back", position, "a move that does", back)
        return problem.cost(after, back)

"""`check_problem`: whether a problem keeps the contract of `games.problem`, by random walks."""

from __future__ import annotations

import math
import random
from typing import Any, NoReturn

from games.check.board import check_board
from games.contract import Position
from games.errors import ContractError, MoveError, PositionError
from games.problem import Heuristic, KernelProblem, Problem

__all__ = ["check_problem"]

NONSENSE = "this names nothing"
ROUNDING = 1e-9


def check_problem(problem: Problem, *, walks: int = 20, steps: int = 50, seed: int = 0) -> None:
    """Walk at random and check every position on the way against the contract.

    Half of the walks begin at the problem's start, half at its goal if it has one. A heuristic
    that is declared admissible must not exceed the cost of the walk back to the goal.

    Raises ContractError at the first broken rule; its message names the rule and the position, and
    says what was expected and found.
    """
    if walks < 1 or steps < 1:
        raise ValueError(f"expected at least 1 walk of 1 step, found {walks} of {steps}")
    check = _Check(problem)
    chance = random.Random(seed)
    check.start()
    for walk in range(walks):
        check.walk(chance, steps, from_goal=walk % 2 == 1)


class _Check:
    """One problem under check."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        try:
            self.goal: Position | None = problem.goal()
        except TypeError:
            self.goal = None
        self.twins = _twins(problem) if isinstance(problem, KernelProblem) else {}

    def fail(self, rule: str, position: Any, expected: str, found: Any) -> NoReturn:
        problem = self.problem
        raise ContractError(
            f"{problem.name}: {rule}; in {problem.position_text(position)}: expected {expected},"
            f" found {found!r}"
        )

    def start(self) -> None:
        """Check the start, the goal, and that meaningless texts are refused."""
        problem = self.problem
        start = problem.start()
        if problem.start() != start:
            self.fail("the start is always the same", start, repr(start), problem.start())
        if self.goal is not None and not problem.solved(self.goal):
            self.fail("the goal is solved", self.goal, "True", False)
        try:
            found = problem.parse_position(NONSENSE)
        except PositionError:
            pass
        else:
            self.fail(f"parse_position refuses {NONSENSE!r}", start, "a PositionError", found)
        try:
            found = problem.parse_move(start, NONSENSE)
        except MoveError:
            pass
        else:
            self.fail(f"parse_move refuses {NONSENSE!r}", start, "a MoveError", found)

    def walk(self, chance: random.Random, steps: int, *, from_goal: bool) -> None:
        """Walk at random; from the goal, the cost of the way back bounds admissible heuristics."""
        problem = self.problem
        position, back = problem.start(), math.inf
        if from_goal and self.goal is not None:
            position, back = self.goal, 0.0
        for _ in range(steps):
            self.position(position, back)
            moves = problem.legal_moves(position)
            if not moves:
                return
            move = chance.choice(moves)
            after = problem.play(position, move)
            back += self.move(position, move, after)
            position = after

    def position(self, position: Position, back: float) -> None:
        """Check a position from which the goal can be reached at the cost of `back`."""
        problem = self.problem
        hash(position)
        text = problem.position_text(position)
        if problem.parse_position(text) != position:
            self.fail(f"parse_position reads {text!r}", position, repr(position), text)
        moves = problem.legal_moves(position)
        if len(set(moves)) != len(moves) or moves != problem.legal_moves(position):
            self.fail("moves are different and always the same", position, "such moves", moves)
        texts = [problem.move_text(position, move) for move in moves]
        if len(set(texts)) != len(texts):
            self.fail("moves have different texts", position, "different texts", texts)
        check_board(problem, position, moves, self.fail)
        solved = problem.solved(position)
        if "solved" in self.twins and bool(self.twins["solved"](position)) != solved:
            self.fail("solved is the same uncompiled", position, str(not solved), solved)
        if back < math.inf and problem.why_unsolvable(position):
            reason = problem.why_unsolvable(position)
            self.fail("what can be reached from the goal is solvable", position, "''", reason)
        for name, entry in problem.evaluators.items():
            self.heuristic(name, entry, position, back)

    def heuristic(self, name: str, entry: Any, position: Position, back: float) -> None:
        """Check a heuristic's value of a position, and how the moves change it."""
        if not isinstance(entry, Heuristic):
            return
        value = float(entry.value(position))
        if not 0 <= value < math.inf:
            self.fail(f"{name} is a cost", position, "a finite number from 0 on", value)
        if entry.known.admissible and value > back + ROUNDING:
            self.fail(f"{name} never overestimates", position, f"at most {back:g}", value)
        if entry.change is None:
            return
        for move in self.problem.legal_moves(position):
            change = float(entry.value(self.problem.play(position, move))) - value
            found = float(entry.change(position, move))
            if abs(found - change) > ROUNDING:
                self.fail(f"the change of {name} by {move!r}", position, f"{change:g}", found)

    def move(self, position: Position, move: Any, after: Position) -> float:
        """Check a move; returns the cost of the way back, infinite if there is none."""
        problem = self.problem
        cost = problem.cost(position, move)
        if not 0 < cost < math.inf:
            self.fail(f"the cost of {move!r}", position, "a finite number above 0", cost)
        if problem.play(position, move) != after:
            self.fail(f"{move!r} always leads to the same", position, repr(after), "another")
        if "play" in self.twins:
            twin = tuple(map(int, self.twins["play"](position, move)))
            if twin != after:
                self.fail("play is the same uncompiled", position, repr(after), twin)
        try:
            back = problem.undo(position, move)
        except TypeError:
            return math.inf
        if back not in problem.legal_moves(after) or problem.play(after, back) != position:
            self.fail(f"undo of {move!r} leads back", position, "a move that does", back)
        return problem.cost(after, back)


def _twins(problem: KernelProblem) -> dict[str, Any]:
    """Returns the Python sources of a problem's kernels by name."""
    from games.kernels import uncompiled

    rules = vars(problem.problem).items()
    return {name: uncompiled(kernel) for name, kernel in rules if kernel is not None}

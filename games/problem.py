"""The contract of a problem: a game with one player who looks for a path to a goal.

The names map onto AIMA's description of a problem (Russell and Norvig, chapter 3) like this:

    initial state       start(), or any position
    ACTIONS(s)          legal_moves(position)
    RESULT(s, a)        play(position, move)
    GOAL-TEST(s)        solved(position)
    step cost c(s,a,s') cost(position, move), above 0
    h(s)                a heuristic: an evaluator whose value is the estimated cost to the goal

`Problem` is the base class of a problem in plain Python: `start` (or any position to begin with),
`legal_moves`, `play` and `solved` make a problem; a position is any hashable value and a move any
value. `KernelProblem` is a problem whose rules are kernels, which `search.solve` runs natively. A
solved position has moves like any other, and the outcome 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from games.contract import Game, KernelGame, Move, Position, Rules

__all__ = ["Heuristic", "KernelProblem", "Problem", "ProblemRules", "refuse_problem"]


def refuse_problem(game: Game) -> None:
    """Raise ValueError for a problem where a game of two sides is needed."""
    if isinstance(game, Problem):
        raise ValueError(
            f"game: expected one of two sides, found the problem {game.name}: search.solve and"
            " `python -m play solve` solve it"
        )


class Problem(Game):
    """A problem for one agent; a base class for problems in plain Python."""

    players = 1
    wins = False

    def solved(self, position: Position) -> bool:
        """Whether a position is a goal."""
        raise NotImplementedError

    def goal(self) -> Position:
        """Returns a solved position to walk back from; raises TypeError if there is none."""
        raise TypeError(f"{self.name}: expected a problem that names its goal")

    def cost(self, position: Position, move: Move) -> float:
        """Returns the cost of a legal move, above 0."""
        return 1.0

    def undo(self, position: Position, move: Move) -> Move:
        """Returns the move that leads from `play(position, move)` back to `position`.

        Raises TypeError for a problem whose moves cannot be taken back.
        """
        raise TypeError(f"{self.name}: expected a problem whose moves can be taken back")

    def why_unsolvable(self, position: Position) -> str:
        """Returns why no goal can be reached; empty if one can, or if no quick test exists."""
        return ""

    def random_position(self, seed: int) -> Position:
        """Returns a position 1000 random moves from the goal; depends on the seed alone."""
        import random

        chance = random.Random(seed)
        position = self.goal()
        for _ in range(1000):
            position = self.play(position, chance.choice(self.legal_moves(position)))
        return position

    def outcome(self, position: Position) -> float | None:
        """Returns 0 if the problem is solved, else None."""
        return 0.0 if self.solved(position) else None


@dataclass(frozen=True)
class ProblemRules:
    """The rules of a problem as kernels; positions are tuples of integers of one length.

    legal_moves: `legal_moves(position, moves)` writes the moves (integers); returns their number.
    play: `play(position, move)` returns the next position.
    solved: `solved(position)` returns whether a position is a goal.
    cost: `cost(position, move)`, above 0; None if each move costs 1.
    undo: `undo(position, move)` returns the move that leads back; None if moves are one-way.
    key: `key(position)`, an integer that identifies the position; None for a hash of its integers.
    standard: `standard(position)` returns the one of several symmetric positions to store.
    parity: `parity(position)` returns 0 if every solution has an even number of moves, and 1 if
        every solution has an odd number.
    mirror: `mirror(position)` returns another position whose solutions cost the same.
    """

    legal_moves: Callable[..., Any]
    play: Callable[..., Any]
    solved: Callable[..., Any]
    cost: Callable[..., Any] | None = None
    undo: Callable[..., Any] | None = None
    key: Callable[..., Any] | None = None
    standard: Callable[..., Any] | None = None
    parity: Callable[..., Any] | None = None
    mirror: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        from games.kernels import is_kernel

        for part in fields(self):
            kernel = getattr(self, part.name)
            if kernel is not None and not is_kernel(kernel):
                raise TypeError(f"rule {part.name}: expected a function marked with @kernel")


class KernelProblem(Problem, KernelGame):
    """A problem whose rules are kernels, with the same interface as any other problem.

    A subclass sets `problem`, `start_position` and `most_moves` before it calls this `__init__`,
    and defines its text forms. `goal_position` is the goal to walk back from, if there is one.
    """

    problem: ProblemRules
    goal_position: tuple[int, ...] | None = None

    def __init__(self) -> None:
        self.rules = game_rules(self.problem)
        super().__init__()

    def goal(self) -> Position:
        return super().goal() if self.goal_position is None else self.goal_position

    def solved(self, position: Position) -> bool:
        return bool(self.problem.solved(position))

    def cost(self, position: Position, move: Move) -> float:
        return 1.0 if self.problem.cost is None else float(self.problem.cost(position, move))

    def undo(self, position: Position, move: Move) -> Move:
        if self.problem.undo is None:
            return super().undo(position, move)
        return int(self.problem.undo(position, move))

    def outcome(self, position: Position) -> float | None:
        return Problem.outcome(self, position)


def _outcome(position):  # type: ignore[no-untyped-def]
    """Returns 0.0 if the problem is solved, else NaN."""
    return 0.0 if SOLVED(position) else float("nan")  # type: ignore[name-defined]  # noqa: F821


def _irreversible(position, move):  # type: ignore[no-untyped-def]
    """Returns False, because any position may come back."""
    return False


def game_rules(problem: ProblemRules) -> Rules:
    """Returns the rules of a problem as those of a game; a solved position has the outcome 0."""
    from games.kernels import family

    made = family(_outcome, _irreversible, SOLVED=problem.solved)
    return Rules(
        legal_moves=problem.legal_moves,
        play=problem.play,
        outcome=made._outcome,
        key=problem.key,
        irreversible=made._irreversible,
        standard=problem.standard,
    )


@dataclass(frozen=True)
class Heuristic:
    """A hand-crafted heuristic, an entry of a problem's `evaluators`.

    value: a kernel `value(position)` that returns the estimated cost to the goal.
    change: a kernel `change(position, move)`: `value` after the move minus `value` before it, if
        that is faster to compute than the value; else None.
    admissible: whether the value never exceeds the cost of the cheapest solution.
    """

    value: Callable[..., Any]
    change: Callable[..., Any] | None = None
    admissible: bool = True

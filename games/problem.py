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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from games.contract import Game, Move, Position, Rules
from games.kernel_game import KernelGame
from games.kinds import WITH_SIDES, Kind
from games.rules import KernelRules

__all__ = [
    "ALONE",
    "Heuristic",
    "KernelProblem",
    "Known",
    "Pattern",
    "Problem",
    "ProblemRules",
    "expect_problem",
    "refuse_problem",
]


ALONE = Kind("a problem with one agent", lambda problem: isinstance(problem, Problem))


def refuse_problem(game: Game) -> None:
    """Raise ValueError for a problem where a game of two sides is needed."""
    WITH_SIDES.expect(
        game, where="game", instead="search.solve and `python -m play solve` solve it"
    )


def expect_problem(problem: object) -> Problem:
    """Returns the problem; raises ValueError for anything else."""
    ALONE.expect(problem)
    return problem  # type: ignore[return-value]


class Problem(Game):
    """A problem for one agent; a base class for problems in plain Python."""

    players = 1
    wins = False
    #: Number of positions from which the goal can be reached; None if it is not known.
    reachable: int | None = None

    def solved(self, position: Position) -> bool:
        """Whether a position is a goal."""
        raise NotImplementedError

    def goal(self) -> Position:
        """Returns a solved position to walk back from; raises TypeError without a goal."""
        raise TypeError(f"{self.name}: expected a problem that names its goal")

    def cost(self, position: Position, move: Move) -> float:
        """Returns the cost of a legal move, above 0."""
        return 1.0

    def undo(self, position: Position, move: Move) -> Move:
        """Returns the move that leads from `play(position, move)` back to `position`.

        Raises TypeError for a problem whose moves cannot be taken back.
        """
        raise TypeError(f"{self.name}: expected a problem whose moves can be taken back")

    def with_goal(self, position: Position) -> Problem:
        """Returns the same problem with another goal.

        Raises ValueError for a problem whose goal cannot be chosen.
        """
        raise ValueError(f"goal: expected none, because the rules of {self.name} state it")

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
class ProblemRules(KernelRules):
    """The rules of a problem as kernels; positions are tuples of integers of one length.

    legal_moves: `legal_moves(position, moves)` writes the moves (integers); returns their number.
    play: `play(position, move)` returns the next position.
    solved: `solved(position)` returns whether a position is a goal.
    cost: `cost(position, move)`, above 0; None if each move costs 1.
    undo: `undo(position, move)` returns the move that leads back; None if moves are one-way.
    key: `key(position)`, an integer that identifies the position. Default: a hash of its integers.
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


class KernelProblem(Problem, KernelGame):
    """A problem whose rules are kernels, with the same interface as any other problem.

    A subclass sets `problem`, `start_position` and `most_moves` before it calls this `__init__`,
    and defines its text forms. `goal_position` is the goal to walk back from, if there is one.
    """

    problem: ProblemRules
    goal_position: tuple[int, ...] | None = None
    #: Usual pattern databases by name: sums of patterns, each a tuple of pieces; see `pattern`.
    patterns: Mapping[str, Sequence[Sequence[int]]] = {}

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

    def pattern(self, pieces: Sequence[int], *, additive: bool = False) -> Pattern:
        """Returns the pattern of some pieces, in which all others look alike.

        additive: count only the moves of these pieces, so that values of patterns without a common
            piece may be added; else count all moves.

        Raises ValueError for pieces that the problem does not have or a pattern that is too large,
        or if it has no additive patterns, and TypeError if it has no patterns at all.
        """
        raise TypeError(f"{self.name}: expected a problem with patterns")

    def _pattern_pieces(
        self, pieces: Sequence[int], known: range, *, summed: bool = False
    ) -> tuple[int, ...]:
        """Returns the pieces in rising order; raises ValueError unless they are different ones.

        summed: whether a sum was asked for of a problem whose patterns cannot be added.
        """
        if summed:
            raise ValueError(
                f"{self.name}: expected one pattern, because a turn moves pieces of several, found"
                " a sum"
            )
        chosen = tuple(sorted(set(pieces)))
        wrong = [piece for piece in chosen if piece not in known]
        if wrong or not chosen or len(chosen) < len(pieces):
            shown = f"{wrong[0]}" if wrong else "one of them twice" if chosen else "none"
            raise ValueError(
                f"{self.name}: expected different pieces from {known[0]} to {known[-1]} for a"
                f" pattern, found {shown}"
            )
        return chosen


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
class Pattern:
    """An abstraction of a problem in which only some pieces are told apart.

    An abstract position is one of the problem's own form with the other pieces masked, so that
    the problem's kernels `legal_moves`, `play` and `undo` hold for it too.

    pieces: the pieces that are told apart.
    additive: whether only the moves of these pieces cost something.
    size: number of abstract positions.
    fold: a table keeps the least cost of each `fold` successive abstract positions.
    goal: the abstract position of the goal.
    rank: `rank(position)` returns the number of an abstract position, from 0 to `size` - 1.
    unrank: `unrank(number)` returns the abstract position with a number.
    view: `view(position)` returns what `index` reads of any position, a tuple of integers; all
        patterns of a problem have the same, so that it is made once.
    index: `index(view)` returns the place in the table.
    cost: `cost(position, move)`, a whole number from 0 on, in an abstract position.
    mirror_index: `mirror_index(view)` returns the place of the position's mirror image; None in
        problems that have no such image.

    Source: Culberson and Schaeffer 1998; additive: Korf and Felner 2002.
    """

    pieces: tuple[int, ...]
    additive: bool
    size: int
    fold: int
    goal: tuple[int, ...]
    rank: Callable[..., Any]
    unrank: Callable[..., Any]
    view: Callable[..., Any]
    index: Callable[..., Any]
    cost: Callable[..., Any]
    mirror_index: Callable[..., Any] | None = None

    def place(self, position: Position) -> int:
        """Returns the place of a position in the table."""
        return int(self.index(self.view(position)))


class Known(Enum):
    """The proved relation of a heuristic's values to the least costs to a goal.

    Only of an admissible heuristic is it known that no value exceeds the least cost, and only with
    one does a search prove anything about the cost of its solution.
    """

    BY_PROOF = "never above the least cost, by an argument that holds for every position"
    BY_ENUMERATION = "never above the least cost, because every position was compared with it"
    NOTHING = "not known"
    OVERESTIMATES = "above the least cost in some positions"

    @property
    def admissible(self) -> bool:
        """Whether it is known that no value exceeds the least cost."""
        return self in (Known.BY_PROOF, Known.BY_ENUMERATION)


@dataclass(frozen=True)
class Heuristic:
    """A hand-crafted heuristic, an entry of a problem's `evaluators`; called, it gives the value.

    value: `value(position)` returns the estimated cost to the goal; a kernel if the problem's rules
        are kernels.
    change: a kernel `change(position, move)`: `value` after the move minus `value` before it, if
        that is faster to compute than the value; else None.
    known: what is known of the values.
    """

    value: Callable[..., Any]
    change: Callable[..., Any] | None = None
    known: Known = Known.NOTHING

    def __call__(self, position: Position) -> float:
        return float(self.value(position))

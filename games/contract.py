"""The contract of a game: its rules, its text forms and its features.

The names map onto AIMA's description of a game (Russell and Norvig, chapter 5) like this:

    initial state S0    start()
    PLAYER(s)           to_move(position)
    ACTIONS(s)          legal_moves(position)
    RESULT(s, a)        play(position, move)
    TERMINAL-TEST(s)    outcome(position) is not None, and then there are no legal moves
    UTILITY(s, p)       outcome(position), always for the side to move (negamax), and for every
                        player outcome_vector(position), the side to move first

`Game` is the base class of a game in plain Python: four methods make a game, any hashable value is
a position and any value a move. `DiceGame` is the same for games in which each turn begins with a
roll of the dice. `games.kernel_game` has both for games whose rules are kernels.

Code outside `games` never asks for a game by name. Rules know only rules: whatever search, play or
a learner wants to know of a game besides is an extra (`games.extras`), an object of a class that
stands where it is used. The guide to games of one's own lists them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from games.cube import Cube
from games.errors import MoveError, PositionError, stripped
from games.rolls import Roll, Rolls
from games.rules import Rules

if TYPE_CHECKING:
    from games.features import Outcomes, Phases

__all__ = [
    "DiceGame",
    "Game",
    "Rules",
    "expect_game",
    "expect_position",
    "given",
    "line_texts",
    "rolled",
    "starts",
]

Position = Any
Move = Any


class Game:
    """A game for sides who move in turn, usually two; a base class for games in plain Python.

    A subclass supplies `start`, `legal_moves`, `play` and `outcome`; everything else has a
    default. A side that may pass does so by a move that `legal_moves` lists. A game for more than
    two sides sets `players` and supplies `outcome_vector` in place of `outcome`, and `turn`.
    """

    name: str = ""
    #: The number of sides, which move in turn: 0, 1, ..., and 0 again.
    players: int = 2
    #: Changes whenever a change of the rules makes earlier evaluators meaningless.
    version: int = 1
    #: Outcomes are loss, draw and win (-1, 0, 1), so that sooner wins are better; otherwise
    #: outcomes are points, and how soon they come does not matter.
    wins: bool = True
    #: With more than two sides: the sum of their outcomes, if it is the same in every finished game
    #: and all outcomes are multiples of 1/65536; max^n prunes by it. None if it differs.
    constant_sum: float | None = None
    #: Feature sets by name.
    features: Mapping[str, Any] = {}
    #: Encodings by name: the inputs of networks.
    encodings: Mapping[str, Any] = {}
    #: Hand-crafted evaluators by name: (feature set, weights) or a kernel.
    evaluators: Mapping[str, Any] = {}
    #: Events whose probabilities evaluators can give; None if a value is enough.
    outcomes: Outcomes | None = None
    #: Phases that evaluators may have separate parts for, or None for a single phase.
    phases: Phases | None = None
    rules: Rules | None = None
    #: The dice that each turn begins with; None in a game without, set in a `DiceGame`.
    dice: Rolls | None = None
    #: Its doubling cube, or None in a game without one.
    cube: Cube | None = None
    #: The name of the game as people write it; empty for `name` in words.
    title: str = ""
    #: The names of the sides, the one that begins first.
    sides: tuple[str, ...] = ("First", "Second")
    #: The unit of values, as people write it.
    unit: str = "points"
    #: Answers of the game to other layers, see `games.extras`.
    extras: Sequence[Any] = ()

    def __init_subclass__(cls) -> None:
        # base classes have no name to hand down
        bases = (__name__, "games.grid", "games.kernel_game", "games.problem")
        if not cls.name and cls.__module__ not in bases:
            cls.name = cls.__name__.lower()

    def start(self) -> Position:
        """Returns the position that the game begins with."""
        raise NotImplementedError

    def legal_moves(self, position: Position) -> list[Move]:
        """Returns all legal moves in a fixed order; an empty list if the game is over."""
        raise NotImplementedError

    def play(self, position: Position, move: Move) -> Position:
        """Returns the position after a legal move, seen by the other side.

        `position` itself does not change.
        """
        raise NotImplementedError

    def outcome(self, position: Position) -> float | None:
        """Returns the value of a finished game to the side to move, or None during the game."""
        vector = self.outcome_vector(position)
        return None if vector is None else vector[0]

    def outcome_vector(self, position: Position) -> tuple[float, ...] | None:
        """Returns the value of a finished game to each side, or None during the game.

        The side to move comes first, then the next one, and so on.
        """
        alone = getattr(self.outcome, "__func__", None) is Game.outcome
        if alone or self.players not in (1, 2):  # one number says nothing of a third side
            raise NotImplementedError
        value = self.outcome(position)
        return None if value is None else (value, -value)[: self.players]

    def turn(self, position: Position) -> Position:
        """Returns the same board seen by the next side, as if this one passed.

        Only games for more than two sides need it: an evaluator values a position for the side to
        move, so that the others' values are those of the turned positions. Finished games are not
        turned. Raises NotImplementedError if the game does not define it.
        """
        raise NotImplementedError(f"{self.name}: expected a game that defines turn")

    def to_move(self, position: Position) -> int:
        """Returns the side to move: 0 for the side that begins, 1 for the next, and so on."""
        return 0

    def noisy(self, position: Position) -> bool:
        """Whether the position is tactical: the search continues instead of evaluating it."""
        return False

    def gain(self, position: Position, move: Move) -> float:
        """The move-ordering score of a move: moves with a larger one are searched first."""
        return 0.0

    #: `irreversible(position, move)`: whether no earlier position can come back after the move.
    #: None in a game in which positions cannot repeat.
    irreversible: Callable[[Position, Move], bool] | None = None

    #: `chances(position)`: the probabilities of the moves of a chance node, where chance moves in
    #: place of a side; () for any other position. The side to move stays the same after it. None
    #: in a game without chance nodes. Games in which every turn begins with the same dice are
    #: `DiceGame`s instead.
    chances: Callable[[Position], Sequence[float]] | None = None

    def chances_at(self, position: Position) -> Sequence[float]:
        """Returns the probabilities of the moves of a chance node; () for any other position."""
        return () if self.chances is None else self.chances(position)

    def position_text(self, position: Position) -> str:
        """Returns one line of text that `parse_position` reads back."""
        return repr(position)

    def parse_position(self, text: str) -> Position:
        """Returns the position that a text describes.

        By default the text is a Python literal of the type of the start position. Raises
        PositionError if the text does not describe a position.
        """
        start, words = self.start(), stripped(text)
        try:
            position = ast.literal_eval(words)
            hash(position)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            position = None
        if not isinstance(position, type(start)):
            raise PositionError(
                f"expected a position of {self.name} such as {self.position_text(start)},"
                f" found {text[:80]!r}"
            )
        return position

    def move_text(self, position: Position, move: Move) -> str:
        """Returns a move as people write it; legal moves of a position differ in their texts."""
        return str(move)

    def parse_move(self, position: Position, text: str) -> Move:
        """Returns the legal move that a text names; raises MoveError if it names none."""
        return _named(self, position, self.legal_moves(position), text)

    def show(self, position: Position) -> str:
        """Returns the board as a few lines of text."""
        return self.position_text(position)


class DiceGame(Game):
    """A game in which the side to move rolls the dice before it moves.

    A position is one before the roll and does not contain it. Before the end of a game every roll
    has a legal move (perhaps that of moving nothing), and different moves lead to different
    positions. A move is complete in itself, so `play` needs no roll.
    """

    dice: Rolls = Rolls(())

    @property
    def rolls(self) -> Sequence[float]:
        """The probability of each roll of the dice before a move."""
        return self.dice.rolls

    def legal_moves(self, position: Position, roll: Roll | None = None) -> list[Move]:
        """Returns all legal moves with a roll in a fixed order; empty if the game is over."""
        raise NotImplementedError

    def parse_move(self, position: Position, text: str, roll: Roll | None = None) -> Move:
        """Returns the legal move with a roll that a text names; MoveError if it names none."""
        return _named(self, position, self.legal_moves(position, roll), text)


def expect_game(game: object) -> None:
    """Raise TypeError for anything but a game, such as the name of one."""
    if not isinstance(game, Game):
        raise TypeError(f"game: expected one such as games.load('checkers'), found {game!r}")


def expect_position(game: Game, position: Position) -> None:
    """Raise ValueError unless `position` has the number of integers of the game's kernels."""
    if not game.rules:
        return
    count = len(game.start())
    words = isinstance(position, tuple) and all(
        hasattr(number, "__index__") and -(1 << 63) <= number < 1 << 63 for number in position
    )
    if not words or len(position) != count:
        raise ValueError(f"expected a position, a tuple of {count} integers, found {position!r}")


def given(roll: Roll | None) -> tuple[Roll, ...]:
    """Returns the roll as further arguments of a method: none in a game without dice."""
    return () if roll is None else (roll,)


def rolled(game: Game, draw: Callable[[Sequence[float]], Roll]) -> tuple[Roll, ...]:
    """Returns a roll as `given` does; `draw` is given the probabilities and draws its number."""
    return () if game.dice is None else (draw(game.dice.rolls),)


def line_texts(game: Any, position: Position, moves: Iterable[Move]) -> list[str]:
    """Returns the texts of moves that follow one another from a position, in a game or problem."""
    texts = []
    for move in moves:
        texts.append(game.move_text(position, move))
        position = game.play(position, move)
    return texts


def starts(game: Game) -> tuple[Position, ...]:
    """Returns the position that a game begins with, by the side that begins it."""
    return (game.dice and game.dice.starts) or (game.start(),) * game.players


def _named(game: Game, position: Position, moves: list[Move], text: str) -> Move:
    named = {game.move_text(position, move): move for move in moves}
    words = " ".join(stripped(text, MoveError).split())
    if words not in named:
        legal = f"one of {', '.join(list(named)[:20])}" if named else "no move after the end"
        raise MoveError(f"expected {legal}, found {words[:40]!r}")
    return named[words]

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

Code outside `games` never asks for a game by name. Whatever differs from game to game is one of
these attributes, each with a default that suits any game:

    title               the name of the game as people write it
    sides, unit         the names of the sides, and the unit of values
    unit_terms          by feature set, how much terms change with one unit
    calibrations        by hand-crafted evaluator, the chances that its values stand for
    outcome_names       words for outcomes in points, such as "a gammon"
    chances(position)   the probabilities at a chance node; None without chance nodes
    read(text)          the game and position of a text, for games that are part of it
    board               a grid for the browser, or None for a list of moves
    cells               the bits that hold the board, for terms that the program invents
    show(position)      the board in a terminal
    file_form           the form of files of games (`games.file_form.form_of(game)`)
    record_kind         the class of its game records (`games.record.new_record(game)`)
    lookups             databases by name: `EVALUATOR+NAME` in players
    protocols           line protocols that external engines speak for it, such as "hub"
    engines             external engines that Python packages provide
    selective           the techniques of a selective search, without ProbCut
    shipped             the short name of the shipped evaluator that people play against
    openings            the short name of the shipped balanced openings of matches
    opponents           players that the result of a training run is measured against
    pacemakers          players that its snapshots are measured against; () for the opponents
    usual_learner       the default learner of a run
    recipes             default settings of a run, by the name of its learner
    signature           the layout of its signature tables: arguments of `SignatureLayout`
    input_text(...)     words for one input of an encoding
    removals(position)  the position without each piece, for explanations
    stuck_text(...)     why a side without a move has lost
    situation_text(...) a position as other programs read it, with dice, score and so on
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from games.cube import Cubes
from games.errors import MoveError, PositionError
from games.rules import Rules

if TYPE_CHECKING:
    from games.board import Board
    from games.database import Database
    from games.external import ExternalEngine
    from games.features import Cells, Outcomes, Phases

__all__ = ["DiceGame", "Game", "Rules", "first_rolls"]

Position = Any
Move = Any
Roll = int


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
    #: Phases that evaluators may have separate parts for; None for a single phase.
    phases: Phases | None = None
    #: Kinds of positions, some of them rare, which learners look for; None for none.
    kinds: Phases | None = None
    rules: Rules | None = None
    #: The probability of each roll of the dice before a move; () in games without dice.
    rolls: Sequence[float] = ()
    #: Whether its records have a doubling cube.
    cube: bool = False
    #: The name of the game as people write it; empty for `name` in words.
    title: str = ""
    #: The names of the sides, the one that begins first.
    sides: tuple[str, ...] = ("First", "Second")
    #: The unit of values, as people write it.
    unit: str = "points"
    #: By the name of a feature set, the terms that one unit changes, and by how much: a man is
    #: {"men": 1.0}. Values of other sets are shown as they are.
    unit_terms: Mapping[str, Mapping[str, float]] = {}
    #: By the name of a hand-crafted evaluator, the arguments of
    #: `search.evaluators.calibration.Calibration`.
    calibrations: Mapping[str, Mapping[str, Any]] = {}
    #: Words for outcomes by their size in points, such as {2.0: "a gammon"}.
    outcome_names: Mapping[float, str] = {}
    #: A grid that the browser draws; None for a list of moves.
    board: Board | None = None
    #: The bits of positions that hold the pieces on the board, from which `learner invent` makes
    #: terms; None if they are not declared.
    cells: Cells | None = None
    #: The form of files of games, a `FileForm`; None for plain text.
    file_form: Any = None
    #: The class of game records, a `GameRecord`; None for that class itself.
    record_kind: Any = None
    #: Databases by the name that players give them: `EVALUATOR+NAME`.
    lookups: Mapping[str, Database] = {}
    #: Line protocols that external engines speak for this game: "hub", "ubgi".
    protocols: Sequence[str] = ()
    #: By name, the makers of those who know exact values of moves (`games.truth.Truth`), called
    #: with the game.
    referees: Mapping[str, Callable[[Any], Any]] = {}
    #: External engines that Python packages provide.
    engines: Sequence[ExternalEngine] = ()
    #: What `search.parse_techniques` understands by "selective": techniques that gain strength.
    selective: str = "late_moves=1.2,singular=6"
    #: The short name of the shipped evaluator that people play against; empty for none.
    shipped: str = ""
    #: The short name of the shipped file of balanced openings; empty for random openings.
    openings: str = ""
    #: The database that evaluators with chances of outcomes consult if no player's text names one.
    usual_lookup: str = ""
    #: Players that the result of a training run is measured against.
    opponents: Sequence[str] = ("random",)
    #: Players that its snapshots are measured against; () for the opponents.
    pacemakers: Sequence[str] = ()
    #: The default learner of a run.
    usual_learner: str = "samuel"
    #: Default settings of training runs of this game, by the learner's name.
    recipes: Mapping[str, Mapping[str, Any]] = {}
    #: The layout of its signature tables: the arguments of `SignatureLayout` but the name.
    signature: Mapping[str, Any] | None = None
    #: Layouts of its n-tuple networks by name, each a `games.features.tuples.TupleLayout`.
    tuples: Mapping[str, Any] = {}

    def __init_subclass__(cls) -> None:
        # base classes have no name to hand down
        bases = (__name__, "games.kernel_game", "games.problem")
        if not cls.name and cls.__module__ not in bases:
            cls.name = cls.__name__.lower()

    @property
    def reference(self) -> str:
        """The name of the hand-crafted evaluator that judges openings by default; empty for none.

        It is the last of `opponents` that is one, else the first.
        """
        usual = [name for name in reversed(self.opponents) if name in self.evaluators]
        return next(iter([*usual, *self.evaluators]), "")

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
        """Returns the value of a finished game to the side to move; None while it goes on."""
        if self.players == 2:
            raise NotImplementedError
        vector = self.outcome_vector(position)
        return None if vector is None else vector[0]

    def outcome_vector(self, position: Position) -> tuple[float, ...] | None:
        """Returns what a finished game is worth to each side; None while it goes on.

        The side to move comes first, then the next one, and so on.
        """
        if self.players != 2:
            raise NotImplementedError
        value = self.outcome(position)
        return None if value is None else (value, -value)

    def turn(self, position: Position) -> Position:
        """Returns the same board seen by the next side, which is to move, as if this one passed.

        Only games for more than two sides need it: an evaluator values a position for the side to
        move, so that the others' values are those of the turned positions. Finished games are not
        turned. Raises NotImplementedError if the game does not define it.
        """
        raise NotImplementedError(f"{self.name}: expected a game that defines turn")

    def late_position(self, moves: int, generator: Any) -> Position:
        """Returns a random position from which the game may end within about `moves` moves a side.

        Learners that know nothing yet begin games there, because random play may never end one. By
        default it is the start position.

        moves: at least 1.
        generator: a `numpy.random.Generator`.
        """
        return self.start()

    def to_move(self, position: Position) -> int:
        """Returns the side to move: 0 for the side that begins, 1 for the next, and so on."""
        return 0

    def noisy(self, position: Position) -> bool:
        """Whether the position is tactical: the search goes on instead of evaluating it."""
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

    def position_text(self, position: Position) -> str:
        """Returns one line of text that `parse_position` reads back."""
        return repr(position)

    def parse_position(self, text: str) -> Position:
        """Returns the position that a text describes.

        By default the text is a Python literal of the type of the start position. Raises
        PositionError if the text does not describe a position.
        """
        start = self.start()
        try:
            position = ast.literal_eval(text.strip())
            hash(position)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            position = None
        if not isinstance(position, type(start)):
            raise PositionError(
                f"expected a position of {self.name} such as {self.position_text(start)},"
                f" found {text[:80]!r}"
            )
        return position

    def read(self, text: str) -> tuple[Game, Position]:
        """Returns the game and the position that a text describes.

        The game is this one; explicit trees are part of the text. Raises PositionError if the text
        does not describe a position.
        """
        return self, self.parse_position(text)

    def move_text(self, position: Position, move: Move) -> str:
        """Returns a move as people write it; legal moves of a position differ in their texts."""
        return str(move)

    def parse_move(self, position: Position, text: str) -> Move:
        """Returns the legal move that a text names; raises MoveError if it names none."""
        moves = {self.move_text(position, move): move for move in self.legal_moves(position)}
        if text.strip() not in moves:
            raise MoveError(
                f"expected one of {', '.join(list(moves)[:20])}, found {text.strip()[:40]!r}"
            )
        return moves[text.strip()]

    def show(self, position: Position) -> str:
        """Returns the board as a few lines of text."""
        return self.position_text(position)

    def stuck_text(self, position: Position) -> str:
        """Returns why the side to move has lost in a game that ends when a side has no move."""
        return "cannot move"

    def input_text(self, encoding: str, place: int, position: Position) -> tuple[str, float]:
        """Returns words for an input of an encoding that is 1, and its number of pieces."""
        return f"{encoding} {place}", 1.0

    def removals(self, position: Position) -> Iterator[tuple[str, float, Position]]:
        """Yields for each piece: words for it, its number of pieces, the position without it.

        If a game yields nothing, positions cannot be explained by removing pieces.
        """
        return iter(())

    def situation_text(self, record: Any, roll: Any = None) -> str | None:
        """Returns the last position of a record as other programs read it; None if they cannot."""
        return None


class DiceGame(Cubes, Game):
    """A game in which the side to move rolls the dice before it moves.

    A roll is an index into `rolls`, its probabilities. A position is one before the roll and does
    not contain it. While a game goes on, every roll has a legal move (perhaps that of moving
    nothing), and different moves lead to different positions. A move is complete in itself, so
    `play` needs no roll.
    """

    #: The probabilities of the first roll of a game, if they differ; else empty.
    first_rolls: Sequence[float] = ()

    def start_of(self, side: int) -> Position:
        """Returns the start position with `side` (0 or 1) to move, used if dice decide it."""
        return self.start()

    def parse_situation(self, text: str) -> tuple[Position, Roll | None]:
        """Returns the position that a text describes, and its roll if the text gives one."""
        return self.parse_position(text), None

    def record_options(self, text: str) -> dict[str, Any]:
        """Returns the options of a record that the text of a situation gives, such as the score."""
        return {}

    def legal_moves(self, position: Position, roll: Roll | None = None) -> list[Move]:
        """Returns all legal moves with a roll in a fixed order; empty if the game is over."""
        raise NotImplementedError

    def roll_text(self, roll: Roll) -> str:
        """Returns a roll as people write it."""
        return str(roll)

    def parse_roll(self, text: str) -> Roll:
        """Returns the roll that a text names; raises MoveError if it names none."""
        texts = [self.roll_text(roll) for roll in range(len(self.rolls))]
        if text.strip() not in texts:
            raise MoveError(f"expected a roll such as {texts[0]}, found {text.strip()[:40]!r}")
        return texts.index(text.strip())

    def parse_move(self, position: Position, text: str, roll: Roll | None = None) -> Move:
        """Returns the legal move with a roll that a text names; MoveError if it names none."""
        moves = {self.move_text(position, move): move for move in self.legal_moves(position, roll)}
        if text.strip() not in moves:
            raise MoveError(
                f"expected one of {', '.join(list(moves)[:20])}, found {text.strip()[:40]!r}"
            )
        return moves[text.strip()]


def first_rolls(game: DiceGame) -> Sequence[float]:
    """Returns the probabilities of the first roll of a game."""
    return game.first_rolls if len(game.first_rolls) else game.rolls

"""A game in a terminal without input and output: the lines that people type, and the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from games.contract import Game, given
from games.file_form import form_of
from games.record import GameRecord, new_record
from games.values import value_text
from play.players.limits import Limits
from play.players.thinker import Thinker, chances_text
from play.terminal.colour import Paint
from play.words import result_text
from programs.whole_files import write_atomically

__all__ = ["Session", "SessionOf"]

#: The commands that can be typed besides moves.
COMMANDS = {
    "help": "this list",
    "moves": "all legal moves",
    "hint": "the best moves and their values",
    "why": "the parts of the value of the position",
    "board": "show the board again",
    "flip": "turn the board round",
    "undo": "take back your last move",
    "level": "how long the evaluator thinks: level depth 6, level seconds 2",
    "new": "a new game from the start, or from a position: new POSITION",
    "position": "the position as text",
    "save": "write the game to a file: save FILE (save! FILE overwrites)",
    "resign": "resign the game",
    "quit": "leave",
}
HINTS = 5
MOST_LISTED = 60


class Session:
    """People at a board with an evaluator, each in one or more seats, in any game without dice.

    Games with a board of their own and games with dice have subclasses. Texts are returned, never
    printed. The caller takes turns with `advance`, which makes the moves that need no person, and
    `answer`, which receives the line that a person typed, until `done` is true.

    game: the rules.
    thinker: the evaluator with its limits.
    people: the sides that people play; side 0 begins.
    paint: adds colour; None for no colour.
    """

    #: Whether `board` can be seen from the other side; set by subclasses.
    turns = False

    def __init__(
        self,
        game: Game,
        thinker: Thinker,
        people: frozenset[int] = frozenset({0}),
        *,
        paint: Paint | None = None,
    ) -> None:
        self.game: Any = game
        #: The names of the sides.
        self.sides = game.sides
        self.file_form = form_of(game)
        self.thinker = thinker
        self.people = people
        self.paint = paint or Paint()
        self.done = False
        self.flipped = people == {1}
        self.roll: int | None = None  # of the turn; for games with dice
        self._written: set[Path] = set()
        self._told_end = False
        self._stale = True  # whether to show the board before the next prompt
        self.record = self.new_record()
        self.commands: dict[str, Callable[[str], Iterator[str]]] = {
            name: getattr(self, f"do_{name}") for name in COMMANDS
        }
        #: What `help` says of commands; subclasses add theirs.
        self.described = dict(COMMANDS)

    # --- for subclasses ------------------------------------------------------------------------

    def new_record(self, start: Any = None) -> GameRecord:
        """Returns the record of a new game."""
        return new_record(self.game, start)

    def board(self) -> str:
        """Returns the board as text."""
        return str(self.game.show(self.record.position))

    def file_text(self) -> str:
        """Returns the game as the text of a file."""
        names = [
            "person" if s in self.people else self.thinker.name for s in range(len(self.sides))
        ]
        if len(set(names)) < len(names):
            names = [f"{name} {side}" for name, side in zip(names, self.sides, strict=True)]
        tags = {"Event": "Plysmith", "Date": date.today().strftime("%Y.%m.%d")}
        return self.file_form.write(self.record, tuple(names), tags)

    def set_up(self, text: str) -> str:
        """Begin a game from a position; returns a remark or "". Raises PositionError."""
        self.record = self.new_record(self.game.parse_position(text))
        return ""

    def wants_roll(self) -> bool:
        """Returns whether a person must type in the dice of this turn."""
        return False

    def take_roll(self, text: str) -> Iterator[str]:
        """Take dice that were typed in. Raises MoveError if they are not valid."""
        raise NotImplementedError

    # --- the flow of a game --------------------------------------------------------------------

    @property
    def side(self) -> int:
        """The side to move, 0 or 1."""
        return self.record.to_move

    @property
    def prompt(self) -> str:
        """The prompt for a line."""
        if self.record.over:
            return "over> "
        return f"{self.sides[self.side]}> "

    def advance(self) -> Iterator[str]:
        """Make all moves that need no person. Yields the texts to show, the board last."""
        while not self.record.over:
            yield from self.begin_turn()
            if self.wants_roll() or self.must_ask():
                break
            yield from self.machine_move()
        if self.record.over and not self._told_end:
            self._told_end = True
            yield self.board()
            yield self.paint("strong", f"{result_text(self.record)}.")
            yield "new, undo, save FILE or quit"
        elif self._stale:
            yield self.board()
            yield from self.turn_text()
        self._stale = False

    def begin_turn(self) -> Iterator[str]:
        """Begin a turn, which rolls the dice in games with dice. Yields texts to show."""
        return iter(())

    def must_ask(self) -> bool:
        """Returns whether a person must decide."""
        return self.side in self.people

    def turn_text(self) -> Iterator[str]:
        """The text under the board before a prompt."""
        text = f"{self.sides[self.side]} to move"
        if not self.record.over and text.lower() not in self.board().lower():
            yield text

    def machine_move(self) -> Iterator[str]:
        """Let the evaluator move."""
        position, side = self.record.position, self.side
        limits = self.thinker.limits.for_play(self.game, position, self.roll)
        result = self.thinker.think(
            position, roll=self.roll, history=self.record.history, limits=limits
        )
        text = self.paint("strong", self.game.move_text(position, result.move))
        dice = "" if self.roll is None else f" {self.game.dice.text(self.roll)}:"
        said = f"{self.sides[side]} ({self.thinker.name}):{dice} {text}"
        if result.interrupted and not self.people:
            raise KeyboardInterrupt  # without people there is no prompt at which to leave
        if result.evaluator is None:  # a random move
            self.play(result.move)
            yield said
            return
        depth = f" at depth {result.depth}" + " (stopped)" * result.interrupted
        text = self.value_text(position, result.value, result.nodes, result.outcomes, depth)
        self.play(result.move, self.thinker.evaluator.in_units(result.value), result.depth)
        yield f"{said}   {text}"

    def value_text(
        self, position: Any, value: float, nodes: int, outcomes: Any = None, depth: str = ""
    ) -> str:
        """Returns a value of a position in the game's unit, with the depth and its chances."""
        evaluator = self.thinker.evaluator
        chances = chances_text(evaluator, position, value, nodes, outcomes)
        text = value_text(evaluator.in_units(value)) + depth
        return f"{text} ({chances})" if chances else text

    def play(self, move: Any, value: float | None = None, depth: int | None = None) -> None:
        """Add a legal move to the game; `value` is in the game's unit."""
        self.record.play(move, roll=self.roll, value=value, depth=depth)
        self.roll = None
        self._stale = True
        self._told_end = False

    def legal_moves(self) -> list[Any]:
        """Returns the legal moves of the turn; empty before its dice are known."""
        if self.record.over or self.wants_roll():
            return []
        return list(self.game.legal_moves(self.record.position, *given(self.roll)))

    def completions(self, text: str) -> list[str]:
        """Returns the moves and commands that begin with a text, moves first."""
        typed = " ".join(text.lower().split())
        position = self.record.position
        moves = [self.game.move_text(position, move) for move in self.legal_moves()]
        return [word for word in (*moves, *self.commands) if word.startswith(typed)]

    def answer(self, line: str) -> Iterator[str]:
        """Carry out a typed line. Yields the texts to show; an error is one line."""
        text = line.strip()
        word, _, rest = text.partition(" ")
        try:
            if word.lower() in self.commands:
                yield from self.commands[word.lower()](rest.strip())
            elif word.lower() == "save!":
                yield from self.save(rest.strip(), overwrite=True)
            elif text in ("?", "h"):
                yield from self.do_help("")
            elif text in ("q", "exit"):
                self.done = True
            elif text:
                yield from self.take_move(text)
        except (ValueError, OSError) as error:
            yield self.paint("bad", f"{error}")

    def take_move(self, text: str) -> Iterator[str]:
        """Play the move that was typed in."""
        if self.record.over:
            yield self.paint("bad", "The game is over: new, undo, save FILE or quit.")
            return
        if self.wants_roll():
            yield from self.take_roll(text)
            return
        self.play(self.game.parse_move(self.record.position, text, *given(self.roll)))

    # --- commands ------------------------------------------------------------------------------

    def do_help(self, rest: str) -> Iterator[str]:
        """List the commands."""
        yield self.move_help()
        for name, text in self.described.items():
            yield f"  {name:9} {text}"

    def move_help(self) -> str:
        """How to write moves."""
        return "A move in the notation of the game; Tab completes it. Or one of:"

    def do_board(self, rest: str) -> Iterator[str]:
        """Show the board."""
        yield self.board()
        yield from self.turn_text()

    def do_flip(self, rest: str) -> Iterator[str]:
        """Turn the board round."""
        if not self.turns:
            yield f"The board of {self.game.title} is shown from one side only."
            return
        self.flipped = not self.flipped
        yield from self.do_board("")

    def do_moves(self, rest: str) -> Iterator[str]:
        """List the legal moves."""
        position = self.record.position
        texts = [self.game.move_text(position, move) for move in self.legal_moves()]
        if not texts:
            yield "There are no legal moves now."
            return
        more = f", and {len(texts) - MOST_LISTED} more" if len(texts) > MOST_LISTED else ""
        yield ", ".join(texts[:MOST_LISTED]) + more

    def do_hint(self, rest: str) -> Iterator[str]:
        """Show the best moves and their values."""
        if not self.legal_moves():
            yield "There is nothing to decide now."
            return
        position = self.record.position
        result = self.thinker.think(
            position, roll=self.roll, history=self.record.history, all_moves=True
        )
        yield f"{self.thinker.name} at depth {result.depth}:"
        moves = result.moves or ((result.move, result.value),)
        outcomes = result.move_outcomes or (result.outcomes,) * len(moves)
        for (move, value), after in list(zip(moves, outcomes, strict=True))[:HINTS]:
            text = self.value_text(position, value, result.nodes, after)
            yield f"  {self.game.move_text(position, move):<20} {text}"
        if len(result.pv) > 1:
            yield f"  principal variation: {result.pv_text}"

    def do_why(self, rest: str) -> Iterator[str]:
        """Show the parts of the value of the position."""
        from play.judging.explanation import contribution_table, explain

        try:
            found = explain(self.thinker.evaluator, self.record.position)
        except TypeError as error:
            yield self.paint("bad", str(error))
            return
        position = self.record.position
        evaluator = self.thinker.evaluator
        value = value_text(evaluator.in_units(evaluator(position)))
        if evaluator.gives_outcomes:  # other chances hold for values that were searched
            value = self.value_text(position, evaluator(position), 1)
        yield f"The static value for {self.sides[self.side]} is {value}:"
        yield "\n".join(contribution_table([self.thinker.name], [found], 12))

    def do_undo(self, rest: str) -> Iterator[str]:
        """Take back moves to the last decision of a person."""
        ply = self.record.ply
        sides = {(self.side - back) % self.game.players for back in range(1, ply + 1)}
        if not sides or (self.people and not sides & self.people):
            raise ValueError("expected a move of yours to take back, found none")
        while self.record.moves:
            self.take_back()
            if not self.people or (self.must_ask() and self.legal_moves() != [0]):
                break
        self._stale = True
        self._told_end = False
        yield "Taken back."

    def take_back(self) -> None:
        """Take back one move, with its dice."""
        roll = self.record.rolls[-1]
        self.record.undo()
        self.roll = roll

    def do_level(self, rest: str) -> Iterator[str]:
        """Set or show the limits of the evaluator."""
        words = rest.replace("=", " ").split()
        if words:
            limits: dict[str, Any] = {}
            kinds = {"depth": int, "nodes": int, "seconds": float}
            if len(words) % 2 or not set(words[::2]) <= set(kinds):
                raise ValueError(
                    f"expected a level such as depth 6 or seconds 2, found {rest!r:.60}"
                )
            for name, number in zip(words[::2], words[1::2], strict=True):
                try:
                    limits[name] = kinds[name](number)
                except ValueError:
                    raise ValueError(f"{name}: expected a number, found {number!r:.40}") from None
            self.set_level(Limits(**limits))
        yield f"{self.thinker.name} has {self.thinker.limits}."

    def set_level(self, limits: Limits) -> None:
        """Set the limits of the evaluator. Raises ValueError for unsuitable limits."""
        limits.check(self.game)
        self.thinker.limits = limits

    def do_new(self, rest: str) -> Iterator[str]:
        """Begin a new game."""
        if rest:
            said = self.set_up(rest)
        else:
            self.record, said = self.new_record(), ""
        self.thinker.forget()
        self._stale = True
        self._told_end = False
        yield said or "A new game."

    def do_position(self, rest: str) -> Iterator[str]:
        """Show the position as text."""
        yield self.game.position_text(self.record.position)

    def do_save(self, rest: str) -> Iterator[str]:
        """Write the game to a new file, or to one that this session wrote."""
        yield from self.save(rest, overwrite=False)

    def save(self, name: str, *, overwrite: bool) -> Iterator[str]:
        """Write the game to a file."""
        if not name:
            raise ValueError("expected a file to save to, as in: save game" + self.file_form.suffix)
        path = Path(name).expanduser()
        text = self.file_text()
        if path.exists() and path not in self._written and not overwrite:
            raise ValueError(f"expected a new file, found {path}: save! {name} overwrites it")
        if path.is_dir():
            raise ValueError(f"expected a file, found the folder {path}")
        if not path.parent.is_dir():
            raise ValueError(f"expected a folder that exists, found none at {path.parent}")
        write_atomically(path, text)
        self._written.add(path)
        yield f"Saved to {path}."

    def do_resign(self, rest: str) -> Iterator[str]:
        """Resign the game."""
        if self.record.over:
            raise ValueError("expected a game that goes on, found it over")
        self.resign()
        self._told_end = False
        return iter(())

    def resign(self) -> None:
        """End the game with a loss for the side that resigns."""
        self.record.forfeit(self.loser(), "resignation")

    def loser(self) -> int:
        """Returns the side that resigns: the person's, or with several people the side to move."""
        return next(iter(self.people)) if len(self.people) == 1 else self.side

    def do_quit(self, rest: str) -> Iterator[str]:
        """End the session."""
        self.done = True
        return iter(())


@dataclass(frozen=True)
class SessionOf:
    """A game's own session in a terminal, an extra.

    kind: its class.
    """

    kind: type[Session]

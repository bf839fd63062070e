"""A game in a terminal without input and output: the lines that people type, and the answers."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from games.board import Board
from games.contract import Game
from games.extras import extra
from games.file_form import form_of
from games.kernels import patiently
from games.record import GameRecord
from play.players.limits import Limits, depths_of
from play.players.parse import seated
from play.players.seats import Seat
from play.terminal.board import BoardText
from play.terminal.colour import Paint
from play.terminal.hints import best_moves, cube_hint, parts_of_value, shown_value
from play.web.cube_table import KINDS, Play, table_for
from play.web.game_files import write_file
from play.web.limits import ServerLimits
from play.web.seat import EVALUATOR, HUMAN, WebSeat
from play.words import result_text
from programs.phrases import listed
from programs.whole_files import write_atomically

__all__ = ["Session"]

#: The commands that can be typed besides moves; `help` shows their docstrings.
COMMANDS = "help moves hint why board flip undo level new position save resign quit".split()
#: The lines of `help` for games with a cube.
CUBE_COMMANDS = {
    "double": "Double before a roll; roll plays on without.",
    "take": "Answer a double; or drop, or beaver where it is played.",
}
#: The actions that words of the cube stand for; there are no raccoons.
CUBE_WORDS = {
    "roll": "roll", "double": "double", "redouble": "double", "take": "take", "accept": "take",
    "drop": "drop", "pass": "drop", "beaver": "beaver", "raccoon": "beaver",
}  # fmt: skip
NO_CUBE = (
    "Thank you, but there is no cube in this game: a gammon counts double and a backgammon triple."
    " --cube or --match N plays with it."
)
SHORT = {"?": "help", "h": "help", "q": "quit", "exit": "quit"}
MOST_LISTED = 60


class Session:
    """A game in which people and an evaluator each have one or more seats.

    Texts are returned, never printed. The caller takes turns with `advance`, which makes the moves
    that need no person, and `answer`, which receives the line that a person typed, until `done` is
    true.

    game: the rules.
    thinker: the evaluator with its limits.
    people: the sides that people play; side 0 begins.
    adviser: makes the evaluator of hints and of the cube when it is first needed. Default: the
        thinker.
    paint: adds colour. Default: no colour.
    seed: seed of the dice. Default: people type in the dice of all sides.
    first: the side that begins a game with dice. Default: chance decides, or the person begins if
        dice are typed in.
    play: the stakes of a game with a cube.

    Raises ValueError if there is a cube and the evaluator gives no chances of outcomes.
    """

    def __init__(
        self,
        game: Game,
        thinker: Seat,
        people: frozenset[int] = frozenset({0}),
        *,
        adviser: Callable[[], Seat] | None = None,
        paint: Paint | None = None,
        seed: int | None = None,
        first: int | None = None,
        play: Play | None = None,
    ) -> None:
        play = play or Play()
        self.thinker, self._adviser = thinker, adviser or (lambda: thinker)
        if play.cube and not self.adviser.evaluator.gives_outcomes:
            raise ValueError(
                f"--cube: expected an evaluator that gives chances, found {thinker.name}"
            )
        typed = seed is None
        if typed and first is None:
            first = min(people, default=0)
        self.game: Any = game
        self.people = people
        self.paint = paint or Paint()
        self.face = BoardText.of(game)
        self.done = False
        #: The side at the bottom of the board.
        self.bottom = min(people, default=0)
        seats = [WebSeat(HUMAN if side in people else EVALUATOR) for side in range(game.players)]
        self.table: Any = table_for(
            game,
            tuple(seats),
            play,
            chance=random.Random(seed),
            limits=ServerLimits(moves=sys.maxsize),
            first=first,
            typed=typed,
        )
        self._written: set[Path] = set()
        self._shown = -1  # the version of the table that was shown
        self._declined = -1  # the ply at which the side to move has decided not to double
        self.commands: dict[str, Callable[[str], Iterator[str]]] = {
            name: getattr(self, f"do_{name}") for name in COMMANDS
        }
        if game.cube:
            self.commands |= {
                word: partial(self.do_cube, kind) for word, kind in CUBE_WORDS.items()
            }

    @cached_property
    def adviser(self) -> Seat:
        """The evaluator of hints, explanations and the cube."""
        return self._adviser()

    # --- the flow of a game --------------------------------------------------------------------

    @property
    def record(self) -> GameRecord:
        """The game so far."""
        record: GameRecord = self.table.record
        return record

    @property
    def side(self) -> int:
        """The side to move, from 0 on."""
        return self.record.to_move

    @property
    def choices(self) -> list[str]:
        """The next input that a person must type; empty if none is needed."""
        table = self.table
        if table.over:
            return ["new", "undo", "save FILE", "quit"]
        person = table.acting in self.people
        if table.waiting == "answer":
            beaver = ["beaver"] if table.record.may_beaver else []
            return ["take", "drop", *beaver] if person else []
        if table.waiting == "roll":
            if self._may_double():
                return ["roll", "double"] if person else []
            return ["dice"] if table.typed else []
        return ["a move"] if person and not table.passing else []

    def _may_double(self) -> bool:
        may = bool(self.game.cube) and self.table.may_double
        return may and self._declined != self.record.ply

    @property
    def prompt(self) -> str:
        """The prompt for a line."""
        table, choices = self.table, self.choices
        side, roll = self.game.sides[table.acting], table.roll
        if table.over:
            return "over> "
        if choices == ["dice"]:
            return f"dice of {side}> "
        if choices != ["a move"]:
            return f"{side}: {' or '.join(choices)}> "
        return f"{side}> " if roll is None else f"{side} {self.game.dice.text(roll)}> "

    def advance(self) -> Iterator[str]:
        """Make all moves that need no person. Yields the texts to show, the board last."""
        table = self.table
        while not self.choices:
            yield from self._act()
        if self._shown == table.version:
            return
        self._shown = table.version
        yield self.board()
        if table.over:
            yield self.paint("strong", f"{result_text(self.record)}.")
            yield f"{', '.join(self.choices[:-1])} or quit"
        else:
            yield from self.turn_text()

    def _act(self) -> Iterator[str]:
        """Do the next thing that needs no person: a roll, an action of the cube or a move."""
        table = self.table
        if table.waiting == "answer" or (table.waiting == "roll" and self._may_double()):
            yield from self._turn_cube(self._cube_action())
        elif table.waiting == "roll":
            table.roll_dice()
        elif table.passing:
            side, roll = self.game.sides[self.side], self.game.dice.text(table.roll)
            table.confirm()
            yield f"{side} cannot move with {roll}."
        else:
            yield from self._machine_move()

    def _cube_action(self) -> str:
        """Returns the evaluator's action: roll, double, or an answer."""
        table = self.table
        if not self.adviser.evaluator.gives_outcomes:
            return str(table.passive)
        return str(table.action(self.adviser.decision(table.record.situation())))

    def _turn_cube(self, action: str) -> Iterator[str]:
        table, side = self.table, self.game.sides[self.table.acting]
        if action == "roll":
            self._declined = self.record.ply
        elif action == "double":
            table.double()
            yield f"{side} doubles to {2 * table.record.cube}."
        else:
            table.answer(action)
            self._declined = self.record.ply
            yield f"{side} {action}s."

    def _machine_move(self) -> Iterator[str]:
        """Let the evaluator move."""
        record, table, evaluator = self.record, self.table, self.thinker.evaluator
        position, side, roll = record.position, self.game.sides[self.side], table.roll
        result = self.thinker.decide(record, roll=roll)
        text = self.paint("strong", self.game.move_text(position, result.move))
        dice = "" if roll is None else f" {self.game.dice.text(roll)}:"
        said = f"{side} ({self.thinker.name}):{dice} {text}"
        if result.interrupted and not self.people:
            raise KeyboardInterrupt  # without people there is no prompt at which to leave
        if result.evaluator is None:  # a random move
            table.play(result.move)
            yield said
            return
        why = " (not compiled yet)" if result.compiling else " (stopped)" * result.interrupted
        depth = f" at depth {result.depth}{why}"
        table.play(result.move, value=evaluator.in_units(result.value), depth=result.depth)
        drawn = None in result.drawn
        about = (position, result.value, result.nodes, result.outcomes, depth)
        shown = shown_value(evaluator, *about, drawn=drawn)
        yield f"{said}   {shown}"

    def board(self) -> str:
        """Returns the board as text."""
        return self.face.show(self.record, self.bottom, self.paint)

    def turn_text(self) -> Iterator[str]:
        """The text under the board before a prompt."""
        table, sides = self.table, self.game.sides
        if table.over:
            return
        if self.game.cube and table.stakes.cube:
            yield self._stakes_text()
        side = sides[self.side]
        if table.waiting in ("roll", "answer"):
            yield f"{side} to roll"
        elif table.roll is not None:
            yield f"{side} to play {self.paint('strong', self.game.dice.text(table.roll))}"
        elif (text := f"{side} to move").lower() not in self.board().lower():
            board = extra(self.game, Board)
            must = board.must(table.legal_moves()) if board else ""
            yield f"{text}: {must}" if must else text

    def _stakes_text(self) -> str:
        record, sides = self.table.record, self.game.sides
        owner = "in the middle" if record.owner is None else f"of {sides[record.owner]}"
        match = ""
        if record.match_length:
            crawford = ", Crawford game" if record.crawford else ""
            match = f"{sides[0]} {record.score[0]} : {record.score[1]} {sides[1]}"
            match += f" of {record.match_length}{crawford}; "
        return f"{match}cube {record.cube}, {owner}{', Jacoby rule' if record.jacoby else ''}"

    def completions(self, text: str) -> list[str]:
        """Returns the moves and commands that begin with a text, moves first."""
        typed = " ".join(text.lower().split())
        return [word for word in (*self._moves(), *self.commands) if word.startswith(typed)]

    def _moves(self) -> list[str]:
        """Returns the texts of the legal moves; empty before the roll and after the end."""
        position = self.record.position
        return [self.game.move_text(position, move) for move in self.table.legal_moves()]

    def answer(self, line: str) -> Iterator[str]:
        """Carry out a typed line. Yields the texts to show; an error is one line."""
        text = line.strip()
        word, _, rest = SHORT.get(text, text).partition(" ")
        try:
            if word.lower() in self.commands:
                yield from self.commands[word.lower()](rest.strip())
            elif word.lower() == "save!":
                yield from self.save(rest.strip(), overwrite=True)
            elif text:
                self._take(text)
        except (ValueError, OSError) as error:
            yield self.paint("bad", f"{error}")

    def _take(self, text: str) -> None:
        """Play the move or take the roll that was typed in."""
        table, choices = self.table, self.choices
        if table.over:
            raise ValueError(f"The game is over: {', '.join(choices[:-1])} or quit.")
        if table.typed and table.waiting == "roll":
            table.roll_dice(text)
        elif table.waiting == HUMAN:
            table.play_text(text)
        else:
            raise ValueError(f"expected {' or '.join(choices)}, found {text!r:.40}")

    # --- commands ------------------------------------------------------------------------------

    def do_help(self, rest: str) -> Iterator[str]:
        """The commands."""
        typed = bool(self.game.dice and self.table.typed)
        dice = "Dice such as 31 when the prompt asks for them. " * typed
        yield f"{dice}{self.face.moves}\nTab completes. Or one of:"
        texts = {name: str(self.commands[name].__doc__) for name in COMMANDS}
        if self.game.cube and self.table.stakes.cube:
            texts |= CUBE_COMMANDS
        for name, text in texts.items():
            yield f"  {name:9} {text}"

    def do_board(self, rest: str) -> Iterator[str]:
        """Show the board again."""
        yield self.board()
        yield from self.turn_text()

    def do_flip(self, rest: str) -> Iterator[str]:
        """Turn the board round."""
        if not self.face.turns:
            yield f"The board of {self.game.title} is shown from one side only."
            return
        self.bottom = 1 - self.bottom
        yield from self.do_board("")

    def do_moves(self, rest: str) -> Iterator[str]:
        """All legal moves."""
        yield listed(self._moves(), MOST_LISTED) or "There are no legal moves now."

    def do_cube(self, kind: str, rest: str) -> Iterator[str]:
        """Double, or roll, or answer a double."""
        if not self.table.stakes.cube and kind != "roll":
            yield NO_CUBE
        elif kind in self.choices:
            yield from self._turn_cube(kind)
        else:
            raise ValueError(f"expected {' or '.join(self.choices)}, found {kind}")

    def do_hint(self, rest: str) -> Iterator[str]:
        """The best moves and their values, or the right action with the cube."""
        table, record = self.table, self.record
        with patiently():
            if table.waiting == "answer" or "double" in self.choices:
                yield from cube_hint(self.adviser, table.record.situation())
            elif table.legal_moves():
                yield from best_moves(self.adviser, record, table.roll)
            else:
                yield "There is nothing to decide now."

    def do_why(self, rest: str) -> Iterator[str]:
        """The parts of the value of the position."""
        with patiently():
            yield from parts_of_value(self.adviser, self.record)

    def do_undo(self, rest: str) -> Iterator[str]:
        """Take back your last move."""
        self.table.undo()
        self._declined = self.record.ply
        yield "Taken back."

    def do_level(self, rest: str) -> Iterator[str]:
        """Show the level or evaluator that you play, or choose another: level level3."""
        if rest:
            self.thinker = seated(self.game, rest, Limits(**depths_of(self.game).limits))
        yield f"{self.thinker.name} has {self.thinker.limits}."

    def do_new(self, rest: str) -> Iterator[str]:
        """A new game, the next one of a match, or one from a position: new POSITION."""
        if rest:
            self.table.set_position(rest)
        elif self.game.cube and self.table.match_goes_on:
            self.table.next_game()
        else:
            self.table.start()
        self._declined = -1
        self.thinker.forget()
        yield "A new game."

    def do_position(self, rest: str) -> Iterator[str]:
        """The position as text."""
        yield self.game.position_text(self.record.position)

    def do_save(self, rest: str) -> Iterator[str]:
        """Write the game to a file: save FILE (save! FILE overwrites)."""
        yield from self.save(rest, overwrite=False)

    def save(self, name: str, *, overwrite: bool) -> Iterator[str]:
        """Write the game, or the games of the match, to a file."""
        if not name:
            suffix = form_of(self.game).suffix
            raise ValueError(f"expected a file to save to, as in: save game{suffix}")
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

    def file_text(self) -> str:
        """Returns the game, or the games of the match, as the text of a file."""
        sides = self.game.sides
        names = ["person" if s in self.people else self.thinker.name for s in range(len(sides))]
        if len(set(names)) < len(names):
            names = [f"{name} {side}" for name, side in zip(names, sides, strict=True)]
        return write_file(self.table.records, names)[1]

    def do_resign(self, rest: str) -> Iterator[str]:
        """Resign the game; in backgammon a single game, a gammon or a backgammon."""
        table, people = self.table, self.people
        # With several people the side to move resigns. An evaluator that expects more declines.
        loser = next(iter(people)) if len(people) == 1 else self.side
        if not self.game.cube:
            table.resign(side=loser)
            return
        kinds = {"": 1, **{text.split()[1]: kind for kind, text in KINDS.items()}}
        if (kind := kinds.get(rest.lower())) is None:
            raise ValueError(f"resign: expected single, gammon or backgammon, found {rest!r:.40}")
        table.resign(kind, loser)
        evaluator, answer = self.adviser.evaluator, "accept"
        if table.answering not in people and evaluator.gives_outcomes:
            answer = table.reply(evaluator.outcomes([self.record.position])[0])
        if answer == "decline":
            yield f"{self.game.sides[table.answering]} declines: it expects more."
        table.answer(answer)

    def do_quit(self, rest: str) -> Iterator[str]:
        """Leave."""
        self.done = True
        return iter(())

"""A table: one game and its players; moves in steps, undo, set-up, loading and saving."""

from __future__ import annotations

import random
import reprlib
import secrets
import time
from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from games.contract import Game, given, starts
from games.errors import MoveError, PositionError
from games.record import Annotation, GameRecord, new_record, read_situation
from games.rolls import rolls_of
from games.values import value_text
from play.web.faces import Face, Steps
from play.web.grid_face import face_of
from play.web.limits import ServerLimits
from play.web.seat import HUMAN, WebSeat
from play.words import Words, result_text
from programs.phrases import listed

__all__ = ["Table", "clamped", "start_text"]

#: Moves from the start of a game on: each with its roll, and as `Table.moves` tells it.
Line = list[tuple[Any, int | None, dict[str, Any]]]
#: Maximum lines that are kept of moves that were taken back.
MOST_LEFT = 20


class Table:
    """A game in progress.

    game: the rules.
    seats: the players, one for each side.
    chance: decides rolls and random moves.
    limits: the limits of the server.
    id: its address, if it has one already. Default: a new one.
    first: the side that begins games with dice. Default: chance decides.
    typed: whether people set the dice, also those of the first turn.

    `version` grows with every change. A method that refuses something raises MoveError,
    PositionError or another ValueError and changes nothing.
    """

    def __init__(
        self,
        game: Game,
        seats: tuple[WebSeat, ...],
        *,
        chance: random.Random,
        limits: ServerLimits,
        id: str | None = None,
        first: int | None = None,
        typed: bool = False,
    ) -> None:
        self.first = first
        self.typed = typed
        self.id = id or secrets.token_urlsafe(16)
        self.game = game
        self.face: Face = face_of(game)
        self.seats = seats
        self.chance = chance
        self.limits = limits
        # Grows from server to server too: a page compares the versions of its table.
        self.version = time.time_ns() // 1_000_000
        self.dice = game.dice
        self.record: GameRecord
        self.roll: int | None = None
        self.steps: Steps | None = None
        #: Whether the game began from a position that was set up.
        self.set_up = False
        #: Rolls by ply that were made before moves were taken back; they are not rolled again.
        self.rolled: dict[int, int] = {}
        self.names: dict[str, str] = {}
        #: Lines of moves that were taken back, the latest last; see `variations`.
        self._left: list[Line] = []
        #: Whether computers wait for a person to continue.
        self.paused = False
        self._texts: list[tuple[Any, Any, str]] = []
        self.start()

    # --- start of the game -------------------------------------------------------------------

    def start(self, position: Any = None, roll: int | None = None, **options: Any) -> None:
        """A new game from a position, or from the start of the game; options of its record."""
        game, set_up = self.game, position is not None
        if game.dice and not set_up:
            # Each side rolls one die until these differ; the larger begins, with both.
            roll = None if self.typed else game.dice.draw(self.chance, first=True)
            first = self.chance.randrange(2) if self.first is None else self.first
            position = starts(game)[first]
        self._left = []
        self.seat_down(new_record(game, position, **options))
        self.set_up = set_up
        self.rolled = {} if roll is None else {0: roll}
        self.names = {}
        self._begin_turn()

    def seat_down(self, record: GameRecord, rolled: dict[int, int] | None = None) -> None:
        """Continue a recorded game, with rolls already made. Raises ValueError if too long."""
        if record.ply > self.limits.moves:
            raise ValueError(
                f"expected a game of at most {self.limits.moves} moves, found {record.ply}"
            )
        self.record = record
        self.rolled = rolled or {}
        self._begin_turn()

    def set_position(self, text: Any) -> None:
        """Begin a new game from the position in a text, and with its roll if it has one."""
        position, roll, options = self.situation(text)
        self.start(position, roll, **options)

    def situation(self, text: Any) -> tuple[Any, int | None, dict[str, Any]]:
        """Returns the position in a text, its roll if it has one, and options of the record."""
        if not isinstance(text, str) or not text.strip():
            raise PositionError("expected a position, found none")
        return read_situation(self.game, text)

    # --- turns -------------------------------------------------------------------------------

    @property
    def records(self) -> list[GameRecord]:
        """The games of the table, of which the last one is played."""
        return [self.record]

    @property
    def passing(self) -> bool:
        """Whether the side to move can only pass."""
        return bool(self.steps and self.steps.move is not None and not self.steps.taken)

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.record.over

    @property
    def seat(self) -> WebSeat:
        """The player who is to move."""
        return self.seats[self.record.to_move]

    @property
    def acting(self) -> int:
        """The side that must act next; with a cube it may be the one that is not to move."""
        return self.record.to_move

    @property
    def deciding(self) -> WebSeat:
        """The player who must act next."""
        return self.seats[self.acting]

    @property
    def watched(self) -> bool:
        """Whether no human plays."""
        return all(seat.kind != HUMAN for seat in self.seats)

    @property
    def waiting(self) -> str:
        """The next event: "over", "roll", or the kind of the player who is to move."""
        if self.over:
            return "over"
        if rolls_of(self.game).awaits(self.roll):
            return "roll"
        return self.seat.kind

    def _begin_turn(self) -> None:
        self.version += 1
        self.roll = self.rolled.get(self.record.ply)
        ready = not self.over and not rolls_of(self.game).awaits(self.roll)
        self.steps = self.face.steps(self.record.position, self.roll) if ready else None

    def expect_turn(self, found: str) -> None:
        """Raise MoveError if something else comes first; for tables with a cube."""

    def roll_dice(self, text: Any = None) -> None:
        """Roll for the side to move, or set the dice from a text."""
        self.expect_turn("a roll")
        dice = self.game.dice
        if dice is None:
            raise MoveError(f"{self.game.name} has no dice: expected no roll, found one")
        if self.over:
            raise MoveError("expected no roll after the end, found one")
        if self.roll is not None:
            raise MoveError(f"expected a move with {dice.text(self.roll)}, found a roll")
        if text is None:
            roll = dice.draw(self.chance)
        elif isinstance(text, str):
            roll = dice.parse(text)
            if not (self.set_up or self.record.ply or dice.first[roll]):
                first = listed(dice.text(n) for n, chance in enumerate(dice.first) if chance)
                raise MoveError(f"expected a first roll, one of {first}, found {text!r:.40}")
        else:
            raise MoveError(f"roll: expected a text such as 31, found {reprlib.repr(text)}")
        self.rolled[self.record.ply] = roll
        self._begin_turn()

    def legal_moves(self) -> list[Any]:
        """Returns the legal moves; empty before the roll and after the end."""
        if self.waiting in ("over", "roll", "answer"):
            return []
        return self.game.legal_moves(self.record.position, *given(self.roll))

    def play(self, move: Any, *, value: float | None = None, depth: int | None = None) -> None:
        """Play a legal move."""
        self.expect_turn("a move")
        if self.record.ply >= self.limits.moves:
            raise MoveError(f"expected at most {self.limits.moves} moves in a game, found more")
        self.record.play(move, roll=self.roll, value=value, depth=depth)
        self.rolled = {n: roll for n, roll in self.rolled.items() if n < self.record.ply}
        self._begin_turn()

    def play_text(self, text: Any) -> None:
        """Play the move that a text names."""
        if not isinstance(text, str):
            raise MoveError("expected a move as text, found none")
        if self.waiting == "roll":
            raise MoveError("expected a roll of the dice first, found a move")
        if self.over:
            raise MoveError("expected no move after the end, found one")
        position = self.record.position
        self.play(self.game.parse_move(position, text, *given(self.roll)))

    def step(self, source: Any, target: Any) -> None:
        """Take one step of a move. A complete move is played at once if its game plays so."""
        self.expect_turn("a step")
        if self.steps is None:
            raise MoveError(
                "expected a roll of the dice first, found a step"
                if self.waiting == "roll"
                else "expected no step after the end, found one"
            )
        if type(source) is not int or type(target) is not int:
            raise MoveError("expected a step from a number to a number, found none")
        self.steps.step(source, target)
        self.version += 1
        if self.steps.at_once and self.steps.move is not None:
            self.play(self.steps.move)

    def step_back(self) -> None:
        """Take back the last step of an unfinished move."""
        if self.steps is None:
            raise MoveError("expected a step to take back, found none")
        self.steps.back()
        self.version += 1

    def confirm(self) -> None:
        """Play the move that the steps make."""
        move = None if self.steps is None else self.steps.move
        if move is None:
            raise MoveError("expected a complete move, found steps still to come")
        self.play(move)

    def undo(self, to: Any = None) -> None:
        """Take moves back to the last decision of a human, or until `to` moves remain.

        Rolls stay as they were, so that nobody can take a move back to roll again. If no person
        plays, the computers pause then.
        """
        ply = self.record.ply
        if to is None:
            humans = {side for side, seat in enumerate(self.seats) if seat.kind == HUMAN}
            target = ply - 1
            while humans and target >= 0 and not self._decided(target, humans):
                target -= 1
        else:
            if type(to) is not int or not 0 <= to <= ply:
                raise MoveError(f"expected 0 to {ply} moves to go back to, found {str(to)[:40]!r}")
            target = to
        if target < 0:
            raise MoveError("expected a move of yours to take back, found none")
        if self.roll is not None:
            self.rolled[ply] = self.roll
        self.leave()
        while self.record.ply > target:
            number = self.record.ply - 1
            roll = self.record.rolls[number]
            if roll is not None:
                self.rolled[number] = roll
            self.record.undo()
        self.rolled = {n: roll for n, roll in self.rolled.items() if n <= target}
        self.paused = self.watched
        self._begin_turn()

    def leave(self) -> None:
        """Keep the moves that were played as a variation, before some of them are taken back.

        With dice nothing is kept: whoever returns to a line would roll again.
        """
        if self.dice:
            return
        line = list(zip(self.record.moves, self.record.rolls, self.moves(), strict=True))
        longer = [one for one in self._left if _fork(one, line) < len(one)]
        if all(_fork(one, line) < len(line) for one in longer):
            longer.append(line)
        self._left = longer[-MOST_LEFT:]

    @property
    def variations(self) -> list[tuple[int, Line]]:
        """Lines that were left: the ply up to which the game is the same, and all of the line."""
        played = list(zip(self.record.moves, self.record.rolls, strict=True))
        forks = [(_fork(line, played), line) for line in self._left]
        return [(ply, line) for ply, line in forks if ply < len(line)]

    def return_to(self, number: Any) -> None:
        """Play one of the variations to its end; the moves that it replaces become one."""
        lines = self.variations
        if type(number) is not int or not 0 <= number < len(lines):
            raise ValueError(
                f"expected one of {len(lines)} variations, found {reprlib.repr(number)}"
            )
        ply, line = lines[number]
        self.undo(ply)
        for move, roll, told in line[ply:]:
            notes = {name: told[name] for name in ("value", "depth", "comment")}
            self.record.play(move, roll=roll, **notes)
        self._begin_turn()

    def _decided(self, ply: int, sides: set[int]) -> bool:
        """Returns whether one of these sides had to decide about the move after `ply` moves."""
        if self.side_at(ply) not in sides:
            return False
        steps = self.face.steps(self.record.positions[ply], self.record.rolls[ply])
        return steps.move is None  # else the only thing to do was to pass

    def pause(self, on: Any) -> None:
        """Let computers among themselves pause, or continue."""
        if type(on) is not bool or not self.watched:
            raise ValueError(
                f"pause: expected true or false among computers, found {reprlib.repr(on)}"
            )
        self.paused = on
        self.version += 1

    def resign(self, kind: Any = None, side: int | None = None) -> None:
        """Let a side resign, by default the one to move; `kind` is for tables with a cube."""
        if self.over:
            raise MoveError("expected a game in progress, found it over")
        self.record.forfeit(self.record.to_move if side is None else side, "resignation")
        self._begin_turn()

    # --- views for the browser ---------------------------------------------------------------

    def plain(self) -> dict[str, Any]:
        """Everything that another table needs to continue this game, as JSON."""
        record = self.record
        rolled = {ply: roll for ply, roll in self.rolled.items() if ply >= record.ply}
        return {
            "id": self.id,
            "game": self.game.name,
            "seats": [seat.view() for seat in self.seats],
            "position": start_text(record),
            "moves": self.moves(),
            "rolled": {str(ply): rolls_of(self.game).named(roll) for ply, roll in rolled.items()},
            "declared": None if record.declared is None else list(record.declared),
            "names": self.names,
            "paused": self.paused,
            "variations": [
                {"ply": ply, "moves": [told for *_, told in line]} for ply, line in self.variations
            ],
            "result": result_text(record) if record.over else "",
        }

    def view(self) -> dict[str, Any]:
        """Everything that the page shows, as JSON."""
        record, steps, kept = self.record, self.steps, self.plain()
        return {
            **kept,
            "version": self.version,
            "sides": self.game.sides,
            "unit": self.game.unit,
            "kind": self.face.kind,
            "ply": record.ply,
            "side": record.to_move,
            "waiting": self.waiting,
            "board": self.board(),
            "start": kept["position"],
            "position": self.game.position_text(record.position),
            "situation": Words.of(self.game).situation(record, self.roll),
            "roll": rolls_of(self.game).named(self.roll),
            "legal": [
                self.game.move_text(record.position, move) for move in self.legal_moves()[:500]
            ],
            "taken": [] if steps is None else steps.taken,
            "next": [] if steps is None else steps.next(),
            "ready": bool(steps and steps.move is not None and not steps.at_once),
            "text": getattr(steps, "text", ""),
            "outcome": record.outcome(),
            "outcomes": record.outcomes(),
        }

    def board(self, ply: int | None = None) -> dict[str, Any]:
        """Returns the present board with the steps taken, or the board after `ply` moves."""
        number = self.record.ply if ply is None else ply
        if ply is None and self.steps is not None:
            board = self.steps.board()
        else:
            board = self.face.board(self.record.positions[number])
        board["trace"] = []
        if number:
            before = self.record.positions[number - 1]
            board["trace"] = self.face.trace(before, self.record.moves[number - 1])
            board["trace_side"] = self.side_at(number - 1)
        return board

    def side_at(self, ply: int) -> int:
        """Returns the side to move after `ply` moves, counted, as positions need not tell it."""
        return (self.game.to_move(self.record.start) + ply) % self.game.players

    def moves(self) -> list[dict[str, Any]]:
        """Returns the moves of the game with their notes."""
        record, found = self.record, []
        del self._texts[record.ply :]
        for n, move in enumerate(record.moves):
            position, note = record.positions[n], record.annotations[n]
            if n == len(self._texts) or self._texts[n][:2] != (position, move):
                self._texts[n:] = [(position, move, self.game.move_text(position, move))]
            roll = rolls_of(self.game).named(record.rolls[n])
            facts = {"text": self._texts[n][2], "side": self.side_at(n), "roll": roll}
            found.append({**facts, **_noted(note)})
        return found


def _fork(one: Line, other: Iterable[tuple[Any, ...]]) -> int:
    """Returns the number of moves, with their rolls, that two lines begin with alike."""
    pairs = zip(one, other, strict=False)
    same = takewhile(lambda pair: pair[0][:2] == pair[1][:2], pairs)
    return sum(1 for _ in same)


def _noted(note: Annotation) -> dict[str, Any]:
    value = note.value
    text = None if value is None else value_text(value)
    return {"value": value, "value_text": text, "depth": note.depth, "comment": note.comment}


def start_text(record: GameRecord) -> str:
    """Returns the position that a game began with as text, with its score and cube, if any."""
    game = record.game
    return Words.of(game).situation(record.beginning()) or game.position_text(record.start)


def clamped(value: float) -> float:
    """Returns a value for JSON and curves: a decided game has the value 1e9 or -1e9."""
    return max(-1e9, min(1e9, float(value)))

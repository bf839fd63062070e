"""External engines as players, each named by the command that starts it.

`hub:COMMAND` speaks Hub (English checkers), `uci:COMMAND` UCI (any game without dice). Options of
the engine stand in brackets: `uci[Hash=16;Move Overhead=0]:COMMAND`.

Each seat starts an engine of its own, so a match with two threads starts two. Before each move the
engine is told the position, the moves since the start and the limit. Its answer is checked like any
player's move: an engine that ends, stays silent or makes an illegal move ends the match with a
message that says so, or loses the game if the match recovers. One that is silent when its clock
runs out loses on time.
"""

from __future__ import annotations

import contextlib
import math
import re
import shlex
import shutil
import threading
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from games.contract import Game
from games.errors import MoveError
from games.record import GameRecord
from play.players.clock import TIME
from play.players.dialects import DIALECTS, Dialect, EngineOptions
from play.players.grammar import PROGRAM
from play.players.limits import Limits
from play.players.talk import HEED, SilenceError, Talk

__all__ = ["EngineCommand", "EngineSeat", "as_engine"]

#: Seconds for a move without a time limit.
LONGEST_MOVE = 3600.0


@dataclass(frozen=True)
class EngineCommand:
    """A command that starts an engine; called with a game and limits, it returns a seat.

    protocol: a name in `DIALECTS`.
    command: the program and its arguments.
    options: values of options by name.
    longest: seconds for a move without a time limit.
    """

    protocol: str
    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    longest: float = LONGEST_MOVE

    def __call__(self, game: Game, limits: Limits) -> EngineSeat:
        return EngineSeat(self, game, limits)

    def __str__(self) -> str:
        options = ";".join(f"{name}={value}" for name, value in self.options)
        return f"{self.protocol}{options and f'[{options}]'}:{shlex.join(self.command)}"

    @property
    def dialect(self) -> Dialect:
        """The protocol dialect of the engine."""
        return DIALECTS[self.protocol]

    def prepare(self, talk: Talk) -> EngineOptions:
        """Get a started engine ready for games; returns the options that it has.

        Raises ChildProcessError if it cannot be used, or lacks an option.
        """
        options = self.dialect.introduction(talk)
        given = dict(self.options)
        unknown = [name for name in given if name not in options]
        try:
            if unknown:
                known = ", ".join(options) or "none"
                raise ValueError(f"expected options among {known}, found {', '.join(unknown)}")
            self.dialect.prepare(talk, options, given)
        except ValueError as error:
            raise ChildProcessError(f"player {self}: {error}") from None
        return options

    def options_of_engine(self) -> EngineOptions:
        """Start the engine once, and return the options that it has; errors as in `prepare`."""
        talk = Talk(self)
        try:
            return self.prepare(talk)
        finally:
            talk.end()


def as_engine(game: Game, text: str) -> EngineCommand | None:
    """Returns the engine that a player's text names; None if it does not begin with a protocol.

    Raises ValueError if the game does not know the protocol or the text is not a command, and
    FileNotFoundError if the program does not exist.
    """
    begin = PROGRAM.match(text)
    if begin is None:
        return None
    protocol, given = begin.groups()
    for kind in DIALECTS[protocol].kinds:
        kind.expect(game, where=f"player {protocol}:COMMAND")
    expected = f"player: expected {protocol}:COMMAND"
    if not text.isprintable():
        raise ValueError(f"{expected} in one line, found {text[:80]!r}")
    parts = [part.partition("=") for part in given.split(";")] if given else []
    options = tuple((name, value) for name, _, value in parts)
    if not all(name and value for name, value in options):
        raise ValueError(
            f"{expected}, options as [NAME=VALUE;...] before the :, found {text[:80]!r}"
        )
    try:
        command = shlex.split(text[begin.end() :])
    except ValueError as error:
        raise ValueError(f"{expected}, found {text[:80]!r}: {error}") from None
    if not command:
        raise ValueError(f"{expected}, found no command")
    command[0] = str(Path(command[0]).expanduser()) if command[0][:1] == "~" else command[0]
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(f"{expected}, found no program {command[0]!r}")
    return EngineCommand(protocol, tuple(command), options)


class EngineSeat:
    """An engine at play, in a process of its own, which ends with the seat.

    Any error ends the process, and the next game starts another. `seconds` holds the time of each
    move since `begin`.
    """

    def __init__(self, program: EngineCommand, game: Game, limits: Limits) -> None:
        self.program = program
        self.limits = limits
        self.seconds: list[float] = []
        self._game = game
        self._talk: Talk | None = None
        self._busy = False
        self._clock = limits.clock
        self._heed: threading.Timer | None = None

    def begin(self, seed: int) -> None:
        """Start the engine, unless it runs, and announce a new game; `seed` is not used."""
        self.seconds = []
        self._clock = self.limits.clock
        if self._talk is None:
            self._talk = Talk(self.program)
            weakref.finalize(self, self._talk.end)
            with self._ended_by_errors():
                self._busy = True
                self.program.prepare(self._talk)
                self._rest()
        with self._ended_by_errors():
            self.program.dialect.new_game(self._talk)

    def stop(self) -> None:
        """End the engine's search, or the engine if it does not obey."""
        talk = self._talk
        if talk is None or not self._busy or self._heed is not None:
            return
        self._heed = threading.Timer(HEED, talk.kill)
        self._heed.daemon = True
        self._heed.start()
        with contextlib.suppress(ChildProcessError):
            talk.say("stop")

    def move(self, record: GameRecord) -> None:
        """Play the engine's move, annotated with its score and depth.

        An engine that has not answered when its clock runs out loses on time. Raises MoveError if
        the move is illegal, ChildProcessError if no move comes.
        """
        try:
            self._answer(record)
        except SilenceError:
            if self._clock is None:
                raise
            record.forfeit(record.to_move, TIME)

    def _answer(self, record: GameRecord) -> None:
        told: dict[str, str] = {}
        dialect = self.program.dialect
        *before, go = dialect.question(record, replace(self.limits, clock=self._clock))
        assert self._talk is not None
        with self._ended_by_errors():
            for line in before:
                self._talk.say(line)
            self._talk.forget()
            began = time.monotonic()
            self._busy = True
            self._talk.say(go)
            answer = self._talk.hear(
                dialect.answer,
                self._longest(),
                lambda word, rest: told.update(dialect.note(word, rest)),
                patience=None if self._clock is None else 0.0,
            )
            self._rest()
            self.seconds.append(time.monotonic() - began)
            try:
                move = dialect.move(self._game, record.position, answer)
            except ValueError as error:
                where = self._game.position_text(record.position)
                raise MoveError(f"player {self.program}: {where}: {error}") from None
        if self._clock is not None:
            self._clock = self._clock.after(self.seconds[-1])
            if self._clock.left < 0.0:
                record.forfeit(record.to_move, TIME)
                return
        record.play(move, value=_score(told.get("score")), depth=_depth(told.get("depth")))

    def _longest(self) -> float:
        if self._clock is not None:
            return max(0.0, self._clock.left) + self._clock.increment
        return self.limits.seconds or self.program.longest

    def _rest(self) -> None:
        self._busy = False
        if self._heed is not None:
            self._heed.cancel()
            self._heed = None

    @contextlib.contextmanager
    def _ended_by_errors(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            talk, self._talk = self._talk, None
            self._rest()
            if talk is not None:
                talk.end()
            raise


def _score(text: str | None) -> float | None:
    """Returns a finite score, or None; it is only for people."""
    try:
        score = float(text or "")
    except ValueError:
        return None
    return score if math.isfinite(score) and abs(score) < 1e6 else None


def _depth(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch("[0-9]{1,4}", text) else None

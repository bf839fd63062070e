"""External engines as players of checkers: any engine that speaks Hub, `hub:COMMAND`.

Each seat starts an engine of its own, so a match with two threads starts two. Before each move the
engine is told the position, the moves since the start and the limit. Its answer is checked like any
player's move: an engine that ends, stays silent or makes an illegal move ends the match with a
message that says so.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from games.contract import Game
from games.errors import MoveError
from games.record import GameRecord
from play.players.clock import TIME
from play.players.external import Programs
from play.players.grammar import HUB
from play.players.hub_words import arguments, hub_move, move_word, position_word
from play.players.limits import Limits
from play.players.lines import read_lines

__all__ = ["HubProgram", "HubSeat", "as_hub_program"]

VARIANTS = ("english", "american")
#: Seconds that an engine may take to get ready (it may load databases), and beyond its time for a
#: move and for introducing itself.
READY = 600.0
PATIENCE = 60.0
#: Seconds for a move without a time limit.
LONGEST_MOVE = 3600.0
#: Seconds within which an engine has to obey `stop` and `quit`.
HEED = 3.0
#: Lines of an engine that are stored until we read them.
AHEAD = 10_000


@dataclass(frozen=True)
class HubProgram:
    """A command that starts an engine; called with a game and limits, it returns a seat."""

    command: tuple[str, ...]

    def __call__(self, game: Game, limits: Limits) -> HubSeat:
        return HubSeat(self, game, limits)

    def __str__(self) -> str:
        return HUB + shlex.join(self.command)


def as_hub_program(game: Game, text: str) -> HubProgram | None:
    """Returns the engine that a player's text names; None if the text does not begin with `hub:`.

    Raises ValueError if the game does not know the protocol or the text is not a command, and
    FileNotFoundError if the program does not exist.
    """
    if not text.startswith(HUB):
        return None
    if "hub" not in Programs.of(game).protocols:
        raise ValueError(f"player {HUB}COMMAND: expected a game of checkers, found {game.name}")
    if not text.isprintable():
        raise ValueError(f"player: expected {HUB}COMMAND in one line, found {text[:80]!r}")
    try:
        command = shlex.split(text.removeprefix(HUB))
    except ValueError as error:
        raise ValueError(f"player: expected {HUB}COMMAND, found {text[:80]!r}: {error}") from None
    if not command:
        raise ValueError(f"player: expected {HUB}COMMAND, found no command")
    command[0] = str(Path(command[0]).expanduser()) if command[0][:1] == "~" else command[0]
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(f"player: expected {HUB}COMMAND, found no program {command[0]!r}")
    return HubProgram(tuple(command))


class HubSeat:
    """An engine at play, in a process of its own, which ends with the seat.

    Any error ends the process, and the next game starts another. `seconds` holds the time of each
    move since `begin`.
    """

    #: the search runs in the other process
    engine = None

    def __init__(self, program: HubProgram, game: Game, limits: Limits) -> None:
        self.program = program
        self.limits = limits
        self.seconds: list[float] = []
        self._game = game
        self._talk: _Talk | None = None
        self._busy = False
        self._clock = limits.clock
        self._heed: threading.Timer | None = None

    def begin(self, seed: int) -> None:
        """Start the engine, unless it runs, and announce a new game; `seed` is not used."""
        self.seconds = []
        self._clock = self.limits.clock
        if self._talk is None:
            self._talk = _Talk(self.program)
            weakref.finalize(self, self._talk.end)
            with self._ended_by_errors():
                self._busy = True
                _shake_hands(self._talk)
                self._rest()
        with self._ended_by_errors():
            self._talk.say("new-game")

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
        """Play the engine's move, annotated with its score (in men) and depth.

        Raises MoveError if the move is illegal, ChildProcessError if no move comes.
        """
        words = " ".join(map(move_word, record.moves))
        moves = f' moves="{words}"' if words else ""
        told: dict[str, str] = {}
        assert self._talk is not None
        with self._ended_by_errors():
            self._talk.say(f"pos pos={position_word(record.start)}{moves}")
            self._talk.say(f"level {_level(replace(self.limits, clock=self._clock))}")
            self._talk.forget()
            began = time.monotonic()
            self._busy = True
            self._talk.say("go think")
            done = self._talk.hear(
                "done",
                self._longest() + PATIENCE,
                lambda name, given: told.update(given) if name == "info" else None,
            )
            self._rest()
            self.seconds.append(time.monotonic() - began)
            try:
                move = hub_move(self._game, record.position, done.get("move", ""))
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
        return self.limits.seconds or LONGEST_MOVE

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


class _Talk:
    """A running engine, and the lines exchanged with it."""

    def __init__(self, program: HubProgram) -> None:
        self.program = program
        try:
            # a session of its own: Ctrl-C is for us, and its child processes end with it
            self._process = subprocess.Popen(
                program.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise ChildProcessError(
                f"player {program}: expected a program, found one that cannot be started:"
                f" {error.strerror}"
            ) from None
        self._lines: queue.Queue[str | None] = queue.Queue(AHEAD)
        self._complaints: deque[str] = deque(maxlen=1)
        process = self._process
        assert process.stdout is not None and process.stderr is not None
        self._listeners = [
            threading.Thread(target=_listen, args=(process.stdout, self._lines.put), daemon=True),
            threading.Thread(target=_listen, args=(process.stderr, self._complain), daemon=True),
        ]
        for listener in self._listeners:
            listener.start()
        self._ended = False

    def _complain(self, line: str | None) -> None:
        if line:
            self._complaints.append(line)

    def say(self, line: str) -> None:
        """Write a line; raises ChildProcessError if the engine does not read it."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise ChildProcessError(self._gone()) from None

    def forget(self) -> None:
        """Drop all lines that were not read."""
        with contextlib.suppress(queue.Empty):
            while True:
                if self._lines.get_nowait() is None:
                    raise ChildProcessError(self._gone())

    def hear(
        self,
        name: str,
        seconds: float,
        told: Callable[[str, dict[str, str]], object] = lambda name, given: None,
    ) -> dict[str, str]:
        """Wait for the line of that name; returns its arguments. `told` is given the other lines.

        Raises ChildProcessError if no such line comes within `seconds`, and for an `error`.
        """
        for line in self._said(time.monotonic() + seconds):
            word, _, rest = line.partition(" ")
            if word == "error":
                raise ChildProcessError(self._refuses(line))
            try:
                given = arguments(rest)
            except ValueError as error:
                if word == name:
                    raise ChildProcessError(f"player {self.program}: {name}: {error}") from None
                continue  # other lines may be meant for people
            if word == name:
                return given
            told(word, given)
        raise ChildProcessError(
            f"player {self.program}: expected {name!r} within {seconds:g} s, found none"
        )

    def _said(self, until: float) -> Iterator[str]:
        """The engine's lines until a time; raises ChildProcessError if the engine ends."""
        while (left := until - time.monotonic()) > 0:
            try:
                line = self._lines.get(timeout=left)
            except queue.Empty:
                return
            if line is None:
                raise ChildProcessError(self._gone())
            yield line

    def _refuses(self, line: str) -> str:
        return f"player {self.program}: it says {line[:200]!r}"

    def _gone(self) -> str:
        until = time.monotonic() + 1.0
        while self._listeners[0].is_alive() or not self._lines.empty():
            if time.monotonic() > until:
                break
            with contextlib.suppress(queue.Empty):
                line = self._lines.get(timeout=0.01)
                if line is not None and line.partition(" ")[0] == "error":
                    return self._refuses(line)  # it said why before it ended
        try:
            found = f"that it ended (exit status {self._process.wait(1.0)})"
        except subprocess.TimeoutExpired:
            found = "that it listens or speaks no more"
        self._listeners[1].join(1.0)
        said = f"; its last words: {self._complaints[0][:200]}" if self._complaints else ""
        return f"player {self.program}: expected a program that speaks Hub, found {found}{said}"

    def kill(self) -> None:
        """End the engine and its child processes at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """Ask the engine to end, and kill it if it does not."""
        if self._ended:
            return
        self._ended = True
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(b"quit\n")
            self._process.stdin.flush()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(HEED)
        self.kill()
        self._process.wait()
        until = time.monotonic() + HEED
        while any(map(threading.Thread.is_alive, self._listeners)) and time.monotonic() < until:
            with contextlib.suppress(queue.Empty):  # a listener may wait for room
                self._lines.get(timeout=0.01)


def _listen(stream: IO[bytes], tell: Callable[[str | None], None]) -> None:
    with stream:
        for line in read_lines(stream):
            tell(line or "")
    tell(None)


def _shake_hands(talk: _Talk) -> None:
    """Ask an engine for its parameters, choose the variant, and let it get ready."""
    variants: list[str] = []

    def told(name: str, given: dict[str, str]) -> None:
        if name == "param" and given.get("name") == "variant":
            variants.extend(given.get("values", "").split())

    talk.say("hub")
    talk.hear("wait", PATIENCE, told)
    if variants:
        known = [variant for variant in VARIANTS if variant in variants]
        if not known:
            raise ChildProcessError(
                f"player {talk.program}: expected a program that plays English checkers (variant"
                f" {' or '.join(VARIANTS)}), found one that plays {', '.join(variants)[:200]}"
            )
        talk.say(f"set-param name=variant value={known[0]}")
    talk.say("init")
    talk.hear("ready", READY)


def _level(limits: Limits) -> str:
    parts: dict[str, object]
    parts = {"depth": limits.depth, "nodes": limits.nodes, "move-time": limits.seconds}
    if limits.clock is not None:
        parts["time"] = f"{limits.clock.left:.3f}"
        parts["inc"] = f"{limits.clock.increment:.3f}"
    return " ".join(f"{name}={part}" for name, part in parts.items() if part is not None)


def _score(text: str | None) -> float | None:
    """Returns a finite score, or None; it is only for people."""
    try:
        score = float(text or "")
    except ValueError:
        return None
    return score if math.isfinite(score) and abs(score) < 1e6 else None


def _depth(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch("[0-9]{1,4}", text) else None

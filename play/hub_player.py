"""Engines of others as players of checkers: any program that speaks Hub, `hub:COMMAND`.

The program is started when the first game begins and told the position, the moves since the start
and the limit before each move. What it answers is checked like any move of a player: a program that
ends, stays silent or plays what is not legal ends the match with a message that says so.
"""

from __future__ import annotations

import queue
import shlex
import shutil
import subprocess
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from games.contract import Game
from games.errors import MoveError
from games.record import GameRecord
from play.hub_words import arguments, hub_move, move_word, position_word
from play.lines import read_lines

if TYPE_CHECKING:
    from play.player import Limits

__all__ = ["HubProgram", "HubSeat", "as_hub_program"]

HUB = "hub:"
VARIANTS = ("english", "american")
#: Seconds that a program may take to say who it is, to make ready, and for a move beyond its time.
PATIENCE = 60.0
#: The same for a move that has no limit of time.
LONGEST_MOVE = 3600.0


@dataclass(frozen=True)
class HubProgram:
    """A command that starts an engine; called with a game and limits, it sits down to play."""

    command: tuple[str, ...]

    def __call__(self, game: Game, limits: Limits) -> HubSeat:
        return HubSeat(self, game, limits)

    def __str__(self) -> str:
        return HUB + shlex.join(self.command)


def as_hub_program(game: Game, text: str) -> HubProgram | None:
    """The program that a player's text names, None where the text names no such player.

    Raises ValueError for another game than checkers and a command that is none, FileNotFoundError
    for a program that is not there.
    """
    if not text.startswith(HUB):
        return None
    if game.name != "checkers":
        raise ValueError(f"player {HUB}COMMAND: expected a game of checkers, found {game.name}")
    try:
        command = tuple(shlex.split(text.removeprefix(HUB)))
    except ValueError as error:
        raise ValueError(f"player: expected {HUB}COMMAND, found {text[:80]!r}: {error}") from None
    if not command:
        raise ValueError(f"player: expected {HUB}COMMAND, found no command")
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(f"player: expected {HUB}COMMAND, found no program {command[0]!r}")
    return HubProgram(command)


class HubSeat:
    """An engine at play: a process of its own, which ends with the seat."""

    #: nothing here searches for the player
    engine = None

    def __init__(self, program: HubProgram, game: Game, limits: Limits) -> None:
        self.program = program
        self.limits = limits
        self._game = game
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def begin(self, seed: int) -> None:
        """Start the program, unless it runs, and tell it of a new game; it draws its own lots."""
        if self._process is None:
            self._start()
        self._say("new-game")

    def stop(self) -> None:
        """End the search that is under way."""
        if self._process is not None:
            self._say("stop")

    def move(self, record: GameRecord) -> None:
        """Play the move that the program makes, with the score (in men) and depth that it tells.

        Raises MoveError for what is not legal, ChildProcessError where no move comes.
        """
        words = " ".join(map(move_word, record.moves))
        moves = f' moves="{words}"' if words else ""
        self._say(f"pos pos={position_word(record.start)}{moves}")
        self._say(f"level {self._level()}")
        self._say("go think")
        told: dict[str, str] = {}

        def heard(name: str, given: dict[str, str]) -> bool:
            if name == "info":
                told.update(given)
            return name == "done"

        given = self._hear(heard, (self.limits.seconds or LONGEST_MOVE) + PATIENCE)
        try:
            move = hub_move(self._game, record.position, given.get("move", ""))
        except ValueError as error:
            raise MoveError(f"player {self.program}: {error}") from None
        record.play(move, value=_number(told.get("score")), depth=int(_number(told.get("depth"))))

    # --- what the program is told and tells ----------------------------------------------------

    def _start(self) -> None:
        self._process = process = subprocess.Popen(
            self.program.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        weakref.finalize(self, _end, process)
        threading.Thread(target=_listen, args=(process, self._lines), daemon=True).start()
        self._say("hub")
        variants: list[str] = []

        def heard(name: str, given: dict[str, str]) -> bool:
            if name == "param" and given.get("name") == "variant":
                variants.extend(given.get("values", "").split())
            return name == "wait"

        self._hear(heard, PATIENCE)
        if variants:
            known = [variant for variant in VARIANTS if variant in variants]
            if not known:
                raise ChildProcessError(
                    f"player {self.program}: expected a program that plays English checkers"
                    f" (variant {' or '.join(VARIANTS)}), found one that plays"
                    f" {', '.join(variants)[:200]}"
                )
            self._say(f"set-param name=variant value={known[0]}")
        self._say("init")
        self._hear(lambda name, given: name == "ready", PATIENCE)

    def _level(self) -> str:
        limits = self.limits
        parts = {"depth": limits.depth, "nodes": limits.nodes, "move-time": limits.seconds}
        return " ".join(f"{name}={part}" for name, part in parts.items() if part is not None)

    def _say(self, line: str) -> None:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise ChildProcessError(self._gone()) from None

    def _hear(
        self, enough: Callable[[str, dict[str, str]], bool], seconds: float
    ) -> dict[str, str]:
        """Read lines until one is what was waited for; what stands in that line."""
        while True:
            try:
                line = self._lines.get(timeout=seconds)
            except queue.Empty:
                raise ChildProcessError(
                    f"player {self.program}: expected an answer within {seconds:g} s, found none"
                ) from None
            if line is None:
                raise ChildProcessError(self._gone())
            name, _, rest = line.partition(" ")
            if name == "error":
                raise ChildProcessError(f"player {self.program}: it says {line[:200]!r}")
            if name not in ("id", "param", "wait", "ready", "info", "done"):
                continue  # what else programs say is for people
            try:
                given = arguments(rest)
            except ValueError as error:
                raise ChildProcessError(f"player {self.program}: {name}: {error}") from None
            if enough(name, given):
                return given

    def _gone(self) -> str:
        assert self._process is not None
        return (
            f"player {self.program}: expected a program that speaks Hub, found that it ended"
            f" (exit status {self._process.wait()})"
        )


def _number(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


def _listen(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[str | None]) -> None:
    assert process.stdout is not None
    with process.stdout:
        for line in read_lines(process.stdout):
            lines.put(line or "")
    lines.put(None)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask a program to end, and make it end if it does not."""
    try:
        assert process.stdin is not None
        process.stdin.write(b"quit\n")
        process.stdin.close()
    except OSError:
        pass
    try:
        process.wait(1.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

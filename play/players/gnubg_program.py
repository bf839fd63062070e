"""GNU Backgammon itself as a player with the cube, through its socket.

The program listens by its command `external`, reads a FIBS board line for each decision, and
answers with a move, `roll` or `double`, `take` or `drop`, as its networks and its own rules for the
cube at the score decide. Checked against version 1.07.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from games.backgammon.fibs import fibs_text
from games.backgammon.rules import START
from games.backgammon.situation import Situation
from games.contract import DiceGame
from games.errors import MoveError

__all__ = ["GnubgCubeSeat", "find_gnubg"]

#: Seconds that the program may take to get ready, and for a decision.
READY, LONGEST = 60.0, 600.0
#: After the Crawford game the side that is behind doubles at once. Version 1.07 does not, because
#: it confuses the sides' scores, except in answers to doubles.
_BEHIND = Situation(START, match_length=7, score=(4, 6))


@dataclass(frozen=True)
class Answer:
    """A decision: whether to double before a roll, or to take a double."""

    double: bool = False
    take: bool = True


def find_gnubg() -> str | None:
    """Returns the path of GNU Backgammon; None if it is not installed."""
    # Debian keeps games in a folder that is not on every path.
    return shutil.which("gnubg") or shutil.which("/usr/games/gnubg")


class GnubgCubeSeat:
    """GNU Backgammon at play, in a process of its own, which ends with the seat.

    game: backgammon.
    plies: plies that it looks ahead, for moves and for the cube.

    Raises ModuleNotFoundError if the program is not installed.
    """

    def __init__(self, game: DiceGame, plies: int) -> None:
        self._name = f"gnubg:{plies}"
        program = find_gnubg()
        if program is None:
            raise ModuleNotFoundError(
                f"player {self._name}: with the cube expected GNU Backgammon to be installed (the"
                " program gnubg), found it is not"
            )
        self._game: Any = game
        self._program, self._plies = program, plies
        self._running: tuple[bool, _Process] | None = None
        self._swapped = False

    def begin(self, stream: int, side: int) -> None:
        """Do nothing, because there is no random choice."""

    def decision(self, situation: Situation) -> Answer:
        """Returns its decision before a roll, or about the double that was offered."""
        word = self._ask(situation)
        if situation.offered:
            return Answer(take=word != "drop")
        return Answer(double=word == "double")

    def choose_at(self, situation: Situation) -> int:
        """Returns its move; raises MoveError if that is illegal."""
        text = self._ask(situation)
        position, roll = situation.position, situation.roll
        try:
            return int(self._game.parse_move(position, text, roll) if text else 0)
        except ValueError as error:
            raise MoveError(f"player {self._name}: {error}") from None

    def _ask(self, situation: Situation) -> str:
        if self._running is None or self._running[0] != situation.jacoby:
            # the rule is set when the program begins
            process = _Process(self._program, self._plies, situation.jacoby)
            weakref.finalize(self, process.end)
            self._running = (situation.jacoby, process)
            self._swapped = process.ask(_line(_BEHIND)) != "double"
        if self._swapped and not situation.offered:
            situation = replace(situation, score=situation.score[::-1])
        answer = self._running[1].ask(_line(situation))
        if answer.startswith("Error"):
            raise MoveError(f"player {self._name}: expected a decision, found {answer[:200]!r}")
        return answer


def _line(situation: Situation) -> str:
    return fibs_text(replace(situation, jacoby=False, highest_cube=1024))


class _Process:
    """The program, waiting for a line.

    It ends when the connection does, also if we are killed: because its socket has lost its name,
    it cannot listen again.
    """

    def __init__(self, program: str, plies: int, jacoby: bool) -> None:
        with tempfile.TemporaryDirectory() as folder:
            place, commands = Path(folder, "socket"), Path(folder, "commands")
            lines = (
                "set automatic game off",
                f"set jacoby {'on' if jacoby else 'off'}",
                "set beavers 0",
                f"set evaluation chequerplay evaluation plies {plies}",
                f"set evaluation cubedecision evaluation plies {plies}",
                f"external {place}",
            )
            commands.write_text("".join(f"{line}\n" for line in lines))
            # a session of its own: Ctrl-C is for us
            self._process = subprocess.Popen(
                [program, "-t", "-q", "-r", "-c", str(commands)], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            self._stream = self._connect(place)

    def _connect(self, place: Path) -> Any:
        until = time.monotonic() + READY
        while self._process.poll() is None and time.monotonic() < until:
            with socket.socket(socket.AF_UNIX) as link, contextlib.suppress(OSError):
                link.connect(str(place))
                link.settimeout(LONGEST)
                return link.makefile("rwb")
            time.sleep(0.02)
        self._process.kill()
        self._process.wait()
        raise ChildProcessError("expected GNU Backgammon to listen, found that it does not")

    def ask(self, line: str) -> str:
        """Returns the answer to a line; raises ChildProcessError without one."""
        try:
            self._stream.write(line.encode() + b"\n")
            self._stream.flush()
            answer = str(self._stream.readline(), "utf-8", "replace")
        except OSError as error:
            raise ChildProcessError(f"expected GNU Backgammon to answer, found {error}") from None
        if not answer.endswith("\n"):
            raise ChildProcessError("expected GNU Backgammon to answer, found that it ended")
        return answer.strip()

    def end(self) -> None:
        """End the program."""
        with contextlib.suppress(OSError):
            self._stream.close()
        self._process.kill()
        self._process.wait()

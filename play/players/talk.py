"""A running external engine, and the lines that are exchanged with it."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import IO, Any

from play.players.lines import read_lines

__all__ = ["HEED", "SilenceError", "Talk"]

#: Seconds that an engine may take to introduce itself, and may exceed its time in other answers.
PATIENCE = 60.0
#: Seconds within which an engine has to obey `stop` and `quit`.
HEED = 3.0
#: Lines of an engine that are stored until we read them.
AHEAD = 10_000


class SilenceError(ChildProcessError):
    """An engine that runs has not answered in time."""


class Talk:
    """An engine in a process of its own, and the lines exchanged with it.

    program: the `EngineCommand` that is started.

    Raises ChildProcessError if it cannot be started.
    """

    def __init__(self, program: Any) -> None:
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
                if self._next(0.0) is None:
                    raise ChildProcessError(self._gone())

    def hear(
        self,
        name: str,
        longest: float = 0.0,
        told: Callable[[str, str], object] = lambda word, rest: None,
        *,
        patience: float | None = None,
    ) -> str:
        """Wait for the line that begins with a word; returns the rest of it.

        longest: seconds that the engine may take, in addition to `patience`.
        told: called with the first word and the rest of each earlier line.

        patience: more seconds before an engine counts as silent. Default: `PATIENCE`.

        Raises SilenceError if no such line comes in time, and ChildProcessError if the engine sends
        `error` or ends.
        """
        seconds = longest + (PATIENCE if patience is None else patience)
        for line in self._said(time.monotonic() + seconds):
            word, _, rest = line.partition(" ")
            if word == "error":
                raise ChildProcessError(self._refuses(line))
            if word == name:
                return rest
            told(word, rest)
        raise SilenceError(
            f"player {self.program}: expected {name!r} within {seconds:g} s, found none"
        )

    def _said(self, until: float) -> Iterator[str]:
        """The engine's lines until a time; raises ChildProcessError if the engine ends."""
        with contextlib.suppress(queue.Empty):
            while (left := until - time.monotonic()) > 0:
                line = self._next(left)
                if line is None:
                    raise ChildProcessError(self._gone())
                yield line

    def _next(self, seconds: float) -> str | None:
        """Returns the next line, or None behind the last; raises queue.Empty if none comes."""
        line = self._lines.get(timeout=seconds)
        if line is None:
            self._lines.put(None)  # for whoever reads next, perhaps in another thread
        return line

    def _refuses(self, line: str) -> str:
        return f"player {self.program}: it says {line[:200]!r}"

    def _gone(self) -> str:
        until = time.monotonic() + 1.0
        with contextlib.suppress(queue.Empty):
            while (left := until - time.monotonic()) > 0:
                line = self._next(left)
                if line is None:
                    break
                if line.partition(" ")[0] == "error":
                    return self._refuses(line)  # it said why before it ended
        try:
            end = f"that it ended (exit status {self._process.wait(1.0)})"
        except subprocess.TimeoutExpired:
            end = "that it no longer reads or writes"
        self._listeners[1].join(1.0)
        said = f"; its last words: {self._complaints[0][:200]}" if self._complaints else ""
        return (
            f"player {self.program}: expected a program that speaks {self.program.dialect.title},"
            f" found {end}{said}"
        )

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
            with contextlib.suppress(queue.Empty):  # a thread that reads may be waiting for room
                self._lines.get(timeout=0.01)


def _listen(stream: IO[bytes], tell: Callable[[str | None], None]) -> None:
    with stream:
        for line in read_lines(stream):
            tell(line or "")
    tell(None)

"""Lines for people who wait: the work in progress, and for how long it has lasted."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Self, TextIO

__all__ = ["CLEAR", "QUIET", "WorkBar", "compiling_text", "doing", "others_tell", "waiting_line"]

#: Seconds between two looks, and number of looks before the first line.
OFTEN, PATIENCE = 0.25, 4
#: Seconds between two looks at a bar, and between two lines where there is no terminal.
LOOK, PAUSE = 1.0, 10.0
CLEAR = "\r\x1b[K"
#: The variable of the environment that keeps Python from saying that it compiles.
QUIET = "PLYSMITH_QUIET"
#: A bar without tqdm's estimate of the time left, which has not been tested.
FORM = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}, {rate_fmt}{postfix}]"

#: Set while something else, such as a bar, reports progress every second.
others_tell = threading.Event()
#: Returns for how many seconds this process has been compiling, or None; the compile layer sets it.
compiling_seconds: Callable[[], float | None] | None = None
#: Returns the seconds of processor time that compiling took; the compile layer sets it.
compiled_seconds: Callable[[], float] = float
#: Functions that name the silent work in this process, the latest at the end.
_silent: list[Callable[[], str]] = []


@contextlib.contextmanager
def doing(what: str | Callable[[], str]) -> Iterator[None]:
    """Let `waiting_line` report the work of a silent block: a text, with the time since.

    A function returns a whole text.
    """
    began = time.monotonic()

    def timed() -> str:
        since = what and f"{what}, {time.monotonic() - began:.0f} s"
        return compiling_text() or since

    _silent.append(timed if isinstance(what, str) else what)
    try:
        yield
    finally:
        _silent.pop()


def compiling_text() -> str:
    """Returns "compiling for the first time, 12 s" or so while this process compiles, else ""."""
    seconds = None if compiling_seconds is None else compiling_seconds()
    return "" if seconds is None else f"compiling for the first time, {seconds:.0f} s"


class _Line:
    """A line at a terminal that changes, and goes away before anything is written to `over`."""

    def __init__(self, stream: TextIO, over: TextIO) -> None:
        self._stream, self._over, self._shown = stream, over, False
        self._lock = threading.RLock()

    def show(self, text: str) -> None:
        """Write a text in place of that before; nothing if it is empty."""
        with self._lock:
            if text or self._shown:
                self._stream.write(CLEAR + text)
                self._stream.flush()
            self._shown = bool(text)

    def write(self, text: str) -> int:
        self.show("")
        return self._over.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._over, name)


@contextlib.contextmanager
def waiting_line(stream: TextIO | None = None) -> Iterator[None]:
    """Write a line that changes while this process works without a word, during a block.

    stream: the stream to write to (default: standard error). Nothing is written without a terminal.
    """
    stream = stream or sys.stderr
    if not stream.isatty():
        yield
        return
    done, line = threading.Event(), _Line(stream, sys.stdout)
    thread = threading.Thread(target=_tell, args=(line, done), daemon=True, name="waiting")
    thread.start()
    try:
        with contextlib.redirect_stdout(line):
            yield
    finally:
        done.set()
        thread.join()
        line.show("")


def _tell(line: _Line, done: threading.Event) -> None:
    looks = 0
    while not done.wait(OFTEN):
        text = ""
        if not others_tell.is_set():
            text = _silent[-1]() if _silent else compiling_text()
        looks = looks + 1 if text else 0
        line.show(text if looks > PATIENCE and not others_tell.is_set() else "")


class WorkBar:
    """A bar of work that never looks stuck.

    total: units of work; None until the attribute is set.
    unit: what is counted, in the plural.
    quiet: nothing is shown.
    pause: seconds between two lines, which take the place of a bar where there is no terminal.

    A context manager.
    """

    def __init__(
        self, total: int | None, unit: str, *, quiet: bool = False, pause: float = PAUSE
    ) -> None:
        self.total, self.done, self.note = total, 0, ""
        self._unit, self._quiet, self._pause = unit, quiet, pause
        self._lines = not sys.stderr.isatty()
        self._bar: Any = None
        #: the time when the first unit was done, and the number done then
        self._first: tuple[float, int] | None = None
        self._printed = time.monotonic()
        self._lock, self._over = threading.RLock(), threading.Event()

    def __enter__(self) -> Self:
        if not self._quiet:
            self._begin()
            self._thread = threading.Thread(target=self._tick, daemon=True, name="bar")
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        if not self._quiet:
            self._over.set()
            self._thread.join()
            self._close()

    def update(self, count: int = 1) -> None:
        """Count units that are done."""
        with self._lock:
            self.done += count
            if self._first is None and self.done:
                self._first = time.monotonic(), self.done

    def texts(self) -> list[str]:
        """Returns the texts that follow the count."""
        return [compiling_text(), self.note]

    def look(self) -> None:
        """Show how far the work is."""
        with self._lock:
            now = time.monotonic()
            if self._bar is not None:
                self._bar.total, self._bar.n = self.total, self.done
                self._bar.set_postfix_str("; ".join(filter(None, self.texts())))
            elif self._lines and now - self._printed >= self._pause:
                count = "" if self.total is None else f"{self.done} of {self.total} {self._unit}"
                began, before = self._first or (now, 0)
                if count and self.done > before:
                    count += f", {(self.done - before) / (now - began):.3g} a second"
                self._printed = now
                sys.stderr.write("; ".join(filter(None, [count, *self.texts()])) + "\n")
                sys.stderr.flush()

    def _begin(self) -> None:
        if self._lines:
            return
        from tqdm import tqdm

        others_tell.set()
        sys.stderr.write(CLEAR)
        self._bar = tqdm(
            total=self.total, unit=f" {self._unit}", initial=self.done, dynamic_ncols=True,
            unit_scale=(self.total or 0) > 99_999, bar_format=FORM,
        )  # fmt: skip

    def _close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self.look()
            self._bar.close()
            self._bar = None
            others_tell.clear()

    def _tick(self) -> None:
        while not self._over.wait(LOOK):
            self.look()

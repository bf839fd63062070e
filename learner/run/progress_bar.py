"""The progress of a run: a bar while it learns, and how long the whole still takes."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

__all__ = ["Bar", "duration"]

#: Seconds between two lines of progress, which take the place of a bar, and between two looks.
PAUSE, LOOK = 60.0, 1.0
CLEAR = "\r\x1b[K"


class Bar:
    """A progress bar with a rate, corrections made, the last strength measured, and the time left.

    Once learning is over it is a line with the time left, under what is said. With `quiet`, and
    where standard error is no terminal, it is a line a minute.

    games, unit: what is counted, and the word for it.
    left: returns about how many seconds the whole still takes, or None as long as that is unknown.

    A context manager, for the duration of the whole.
    """

    def __init__(
        self,
        games: int,
        quiet: bool,
        unit: str = "games",
        left: Callable[[], float | None] = lambda: None,
    ) -> None:
        self._games, self._unit, self._ask = games, unit, left
        #: the last answer, and when it came
        self._answer: tuple[float | None, float] = (None, 0.0)
        self._bar: Any = None
        self._lines = quiet or not sys.stderr.isatty()
        #: when the last line was printed, and after how many games
        self._printed: tuple[float, int] | None = None
        self._text = ""
        self._said = 0.0
        self._over = False
        self._lock = threading.RLock()
        self._done = threading.Event()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._tick, daemon=True, name="progress")
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        self._close()

    def __call__(self, progress: Any, measured: dict[int, list[Any]]) -> None:
        """Show the progress of learning."""
        with self._lock:
            self._text = _text(progress, measured)
            if self._lines:
                self._line(progress)
                return
            if self._bar is None:  # not before the first game: options may be refused until then
                from tqdm import tqdm

                self._bar = tqdm(
                    total=progress.games,  # a book may have fewer games
                    unit=f" {self._unit}",
                    initial=max(0, progress.game - 1),  # of a run that is resumed
                    dynamic_ncols=True,
                    bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}, {rate_fmt}{postfix}]",
                )
            self._bar.update(progress.game - self._bar.n)

    def _line(self, progress: Any) -> None:
        """Print a line if a minute has passed since the last, or since the first call."""
        now = time.monotonic()
        if self._printed is None:
            self._printed = now, progress.game
        then, before = self._printed
        if now - then < PAUSE:
            return
        self._printed = now, progress.game
        rate = (progress.game - before) / (now - then)
        text = f"{progress.game} of {progress.games} {self._unit}, {rate:.3g} a second"
        print("; ".join([text, self._with_time()]), file=sys.stderr, flush=True)

    def _with_time(self) -> str:
        left = self._left()
        time_left = [] if left is None else [f"about {duration(left)} left in all"]
        return "; ".join([*time_left, self._text])

    def _left(self) -> float | None:
        """Returns how many seconds are left: of the last answer less the time since it came."""
        seconds = self._ask()
        if seconds is None:
            return None
        now = time.monotonic()
        if seconds != self._answer[0]:
            self._answer = seconds, now
        return max(1.0, seconds - (now - self._answer[1]))

    def _tick(self) -> None:
        """Show the time left, so that nobody looks at a still screen."""
        while not self._done.wait(LOOK):
            with self._lock:
                if self._bar is not None and not self._over:
                    self._bar.set_postfix_str(self._with_time(), refresh=True)
                elif self._over:
                    self._wait()

    def _wait(self) -> None:
        """Show the time left where there is no bar any more."""
        passed, left = time.monotonic() - self._said, self._left()
        text = f"for {duration(passed)}" if left is None else f"about {duration(left)} left in all"
        if not self._lines:
            print(f"{CLEAR}  … {text}", end="", file=sys.stderr, flush=True)
        elif passed >= PAUSE:
            self._said = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        """Print a line below the bar, which has come to its end."""
        with self._lock:
            self._close()
            self._over, self._said = True, time.monotonic()
            print(text, flush=True)

    def _close(self) -> None:
        """Leave the bar as it is, and no line of waiting."""
        if self._over and not self._lines:
            print(CLEAR, end="", file=sys.stderr, flush=True)
        elif self._bar is not None:
            self._bar.close()


def _text(progress: Any, measured: dict[int, list[Any]]) -> str:
    parts = [f"learned from {progress.updates:,}"]
    if progress.note and not progress.note.startswith("Beta"):
        parts.append(f"note {progress.note}")
    if measured:
        last = max(measured)
        parts.append(f"after {last} {' '.join(strength.brief() for strength in measured[last])}")
    return "; ".join(parts)


def duration(seconds: float) -> str:
    """Returns a time in words, such as "40 s", "12 min" or "3.5 h"."""
    if seconds < 90:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

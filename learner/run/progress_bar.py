"""The progress of a run: a bar while it learns, and a line before and after."""

from __future__ import annotations

import time
from typing import Any, Self

from programs.waiting import PAUSE, WorkBar, compiling_text, doing

__all__ = ["Bar"]

#: Seconds between two lines of progress, which take the place of a bar, if asked to be quiet.
QUIET = 60.0


class Bar(WorkBar):
    """A progress bar with a rate, corrections made and the last strength measured.

    Before the first report and once learning is over it is a line, under what is said. Where
    standard error is no terminal, lines come each ten seconds, and with `quiet` each minute.

    A context manager, for the duration of the whole.
    """

    def __init__(self, quiet: bool, unit: str = "games") -> None:
        super().__init__(None, unit, pause=QUIET if quiet else PAUSE)
        self._lines |= quiet
        self._said: float | None = None
        #: when all began
        self._start = time.monotonic()
        self._told = doing(
            lambda: "" if self._lines else f"  … {'; '.join(filter(None, self.texts()))}"
        )

    def __enter__(self) -> Self:
        self._told.__enter__()
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._told.__exit__(None, None, None)

    def __call__(self, progress: Any, measured: dict[int, list[Any]]) -> None:
        """Show the progress of learning."""
        with self._lock:
            self.note = _text(progress, measured)
            if self.total is None:  # before, options may be refused
                self._printed = time.monotonic()
                self._first = self._printed, progress.game
                self.total, self.done = progress.games, max(0, progress.game - 1)  # if resumed
                self._begin()
            self.done = progress.game

    def texts(self) -> list[str]:
        now = time.monotonic()
        if self._said is not None:
            return [f"for {now - self._said:.0f} s"]
        since = f"nothing learned yet, after {now - self._start:.0f} s"
        return [self.note] if self.total else [compiling_text() or since]

    def say(self, text: str) -> None:
        """Print a line below the bar, which has come to its end."""
        with self._lock:
            self._close()
            self._said, self.total = time.monotonic(), None
            self._printed = self._said
            print(text, flush=True)

    def _begin(self) -> None:
        if self.total is not None:
            super()._begin()


def _text(progress: Any, measured: dict[int, list[Any]]) -> str:
    parts = [f"learned from {progress.updates:,}"]
    if (summary := progress.summary()) and not summary.startswith("Beta"):
        parts.append(f"note {summary}")
    if measured:
        last = max(measured)
        parts.append(f"after {last} {' '.join(strength.brief() for strength in measured[last])}")
    return "; ".join(parts)

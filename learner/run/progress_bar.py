"""The progress of a run: a bar while it learns, and how long the whole still takes."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Self

from play.waiting import CLEAR, compiling_text, others_tell

__all__ = ["Bar"]

#: Seconds between two lines of progress, which take the place of a bar, if asked to be quiet and
#: else; and between two looks.
QUIET, PAUSE, LOOK = 60.0, 10.0, 1.0
#: The bar, without tqdm's time left, which is that of learning alone.
FORM = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}, {rate_fmt}{postfix}]"


class Bar:
    """A progress bar with a rate, corrections made, the last strength measured, and the time left.

    Before the first report and once learning is over it is a line, under what is said. Where
    standard error is no terminal, lines come each ten seconds, and with `quiet` each minute.

    left: returns about how many seconds the whole still takes, or None as long as that is unknown.

    A context manager, for the duration of the whole.
    """

    def __init__(
        self, quiet: bool, unit: str = "games", left: Callable[[], float | None] = lambda: None
    ) -> None:
        self._unit, self._ask = unit, left
        #: the last answer, and when it came
        self._answer: tuple[float | None, float] = (None, 0.0)
        self._bar: Any = None
        self._lines = quiet or not sys.stderr.isatty()
        self._pause = QUIET if quiet else PAUSE
        self._progress: Any = None
        self._text, self._over, self._said = "", False, 0.0
        #: when all began; when the last line was printed, and after how many games
        self._began = time.monotonic()
        self._printed = self._began, 0
        self._lock, self._done = threading.RLock(), threading.Event()

    def __enter__(self) -> Self:
        others_tell.set()
        self._thread = threading.Thread(target=self._tick, daemon=True, name="progress")
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()
        self._close()

    def __call__(self, progress: Any, measured: dict[int, list[Any]]) -> None:
        """Show the progress of learning."""
        with self._lock:
            if self._progress is None:
                self._printed = time.monotonic(), progress.game
            self._progress, self._text = progress, _text(progress, measured)
            if self._bar is None and not self._lines:  # before, options may be refused
                from tqdm import tqdm

                print(CLEAR, end="", file=sys.stderr, flush=True)
                done = max(0, progress.game - 1)  # of a run that is resumed
                self._bar = tqdm(
                    total=progress.games, unit=f" {self._unit}", initial=done, dynamic_ncols=True,
                    bar_format=FORM,
                )  # fmt: skip
            if self._bar is not None:
                self._bar.update(progress.game - self._bar.n)

    def _left(self) -> list[str]:
        """Returns the time left in words: by the last answer less the time since it came."""
        seconds = self._ask()
        if seconds is None:
            return []
        now = time.monotonic()
        if seconds != self._answer[0]:
            self._answer = seconds, now
        left = max(1.0, seconds - (now - self._answer[1]))
        return [f"about {f'{left:.0f} s' if left < 90 else f'{left / 60:.0f} min'} left in all"]

    def _tick(self) -> None:
        while not self._done.wait(LOOK):
            with self._lock:
                self.look()

    def look(self) -> None:
        """Show the time left, so that nobody looks at a still screen."""
        then, before = self._printed
        passed = time.monotonic() - then
        if self._lines and passed < self._pause:
            return
        if self._over:
            texts = self._left() or [f"for {time.monotonic() - self._said:.0f} s"]
        elif self._progress is None:
            since = f"nothing learned yet, after {time.monotonic() - self._began:.0f} s"
            texts = [compiling_text(brief=True) or since]
        else:
            texts = [*self._left(), self._text]
        if not self._lines and self._bar is not None and not self._over:
            self._bar.set_postfix_str("; ".join(texts))
        elif not self._lines:
            print(f"{CLEAR}  … {texts[0]}", end="", file=sys.stderr, flush=True)
        else:
            game = 0 if self._over or self._progress is None else self._progress.game
            if not self._over and self._progress is not None:
                rate = f"{(game - before) / passed:.3g} a second"
                texts.insert(0, f"{game} of {self._progress.games} {self._unit}, {rate}")
            self._printed = time.monotonic(), game
            print("; ".join(texts), file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        """Print a line below the bar, which has come to its end."""
        with self._lock:
            self._close()
            self._over, self._said = True, time.monotonic()
            self._printed = self._said, 0
            print(text, flush=True)

    def _close(self) -> None:
        """Leave the bar as it is, and no line of waiting."""
        if self._bar is not None:
            self._bar.close()
            if self._over:
                print(CLEAR, end="", file=sys.stderr, flush=True)


def _text(progress: Any, measured: dict[int, list[Any]]) -> str:
    parts = [f"learned from {progress.updates:,}"]
    if (told := progress.told()) and not told.startswith("Beta"):
        parts.append(f"note {told}")
    if measured:
        last = max(measured)
        parts.append(f"after {last} {' '.join(strength.brief() for strength in measured[last])}")
    return "; ".join(parts)

"""The progress bar of a run."""

from __future__ import annotations

import sys
import time
from typing import Any

__all__ = ["Bar"]

#: Seconds between two lines of progress, which take the place of a bar.
PAUSE = 60.0


class Bar:
    """A progress bar with a rate, corrections made and the last strength measured.

    With `quiet`, and where standard error is no terminal, it is a line a minute.
    """

    def __init__(self, games: int, quiet: bool, unit: str = "games") -> None:
        self._options = {"total": games}
        self._unit = unit
        self._bar: Any = None
        self._lines = quiet or not sys.stderr.isatty()
        #: when the last line was printed, and after how many games
        self._printed: tuple[float, int] | None = None

    def __call__(self, progress: Any, measured: dict[int, list[Any]]) -> None:
        """Show the progress of learning."""
        if self._lines:
            self._line(progress, measured)
            return
        if (
            self._bar is None
        ):  # not before the first game, because options may be refused until then
            from tqdm import tqdm

            done = max(0, progress.game - 1)  # of a run that is resumed
            self._options["total"] = progress.games  # a book may have fewer games
            self._bar = tqdm(
                **self._options, unit=f" {self._unit}", initial=done, dynamic_ncols=True
            )
        self._bar.set_postfix(self._text(progress, measured), refresh=False)
        self._bar.update(progress.game - self._bar.n)

    def _line(self, progress: Any, measured: dict[int, list[Any]]) -> None:
        """Print a line if a minute has passed since the last, or since the first call."""
        now = time.monotonic()
        if self._printed is None:
            self._printed = now, progress.game
        then, before = self._printed
        if now - then < PAUSE:
            return
        self._printed = now, progress.game
        parts = [f"{name} {value}" for name, value in self._text(progress, measured).items()]
        rate = (progress.game - before) / (now - then)
        text = f"{progress.game} of {progress.games} {self._unit}, {rate:.3g} a second"
        print("; ".join([text, *parts]), file=sys.stderr, flush=True)

    def _text(self, progress: Any, measured: dict[int, list[Any]]) -> dict[str, Any]:
        text: dict[str, Any] = {"learned from": f"{progress.updates:,}"}
        if (told := progress.told()) and not told.startswith("Beta"):
            text["note"] = told
        if measured:
            last = max(measured)
            text[f"after {last}"] = " ".join(strength.brief() for strength in measured[last])
        return text

    def say(self, text: str) -> None:
        """Print a line below the bar."""
        self.close()
        print(text, flush=True)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()

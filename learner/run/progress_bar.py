"""The progress of a run: a bar while it learns, and how long the whole still takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Self

import games
from games.kernels.compiling import compiling, is_made
from games.waiting import PAUSE, WorkBar, compiling_text, doing, left_text
from learner.run.asked import DEFAULTS
from learner.run.recipes import UsualRuns, learners_of, recipe_of
from learner.run.settings import RunSettings
from search.first_use import first_use, kernels_of_use, will_use

__all__ = ["Bar", "foretold"]

#: Seconds between two lines of progress, which take the place of a bar, if asked to be quiet.
QUIET = 60.0
#: Seconds for a byte where the seconds of recipes were measured; bytes that only runs compile.
RATE, MORE = 0.72e-3, 5_500


def foretold(
    settings: RunSettings, left: Callable[[], float | None], *, resume: bool
) -> Callable[[], float | None]:
    """Returns a function: about how many seconds a run still takes; None as long as it is unknown.

    left: the same as the run tells it, which is asked first, and knows it when games are played.

    Before, it is what the recipe of the usual learner says (`seconds`, for its number of games) at
    the speed with which this machine compiles, and the compiling. It is unknown of other runs.
    """
    game = games.load(settings.game)
    will_use(game)
    usual = {**DEFAULTS, **recipe_of(settings.learner, game).run(game), "seed": settings.seed}
    mine, names = settings.as_dict(), (*DEFAULTS, "depth", "nodes", "from", "features")
    first = UsualRuns.of(game).learner or next(iter(learners_of(game)))
    alike = settings.learner == first and settings.options == usual.get("options", {})
    alike = alike and all(mine[name] == usual.get(name) for name in names) and not resume
    alike = alike and ":" not in settings.game  # of a user's own game nobody knows
    seconds = usual.get("seconds", 0.0) * settings.games / usual["games"] if alike else 0.0
    made = all(map(is_made, kernels_of_use(game, None)))
    answer = seconds if seconds and made else None

    def asked() -> float | None:
        nonlocal answer
        told, now, use = left(), compiling(), first_use()
        if told is None and seconds and now and now.rate and use and use.seconds:
            answer = use.seconds + now.rate * (MORE + seconds / RATE)
        return answer if told is None else told

    return asked


class Bar(WorkBar):
    """A progress bar with a rate, corrections made, the last strength measured, and the time left.

    Before the first report and once learning is over it is a line, under what is said. Where
    standard error is no terminal, lines come each ten seconds, and with `quiet` each minute.

    left: returns about how many seconds the whole still takes, or None as long as that is unknown.

    A context manager, for the duration of the whole.
    """

    def __init__(
        self, quiet: bool, unit: str = "games", left: Callable[[], float | None] = lambda: None
    ) -> None:
        super().__init__(None, unit, pause=QUIET if quiet else PAUSE)
        self._lines |= quiet
        self._ask = left
        #: the last answer, and when it came
        self._answer: tuple[float | None, float] = (None, 0.0)
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

    def left(self) -> float | None:
        """Returns the time left, by the last answer and the time since; None if that is over."""
        seconds = self._ask()
        if seconds is None:
            return None
        now = time.monotonic()
        if seconds != self._answer[0]:
            self._answer = seconds, now
        left = seconds - (now - self._answer[1])
        return left if left >= 1.0 else None

    def texts(self) -> list[str]:
        now, left = time.monotonic(), self.left()
        told = "" if left is None else f"{left_text(left)} in all"
        if self._said is not None:
            return [told or f"for {now - self._said:.0f} s"]
        since = f"nothing learned yet, after {now - self._start:.0f} s"
        return [told, self.note] if self.total else [compiling_text(brief=True) or since, told]

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
    if (told := progress.told()) and not told.startswith("Beta"):
        parts.append(f"note {told}")
    if measured:
        last = max(measured)
        parts.append(f"after {last} {' '.join(strength.brief() for strength in measured[last])}")
    return "; ".join(parts)

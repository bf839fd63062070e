"""The progress bar of a run."""

from __future__ import annotations

from typing import Any

__all__ = ["Bar"]


class Bar:
    """A progress bar with a rate, corrections made and the last strength measured."""

    def __init__(self, games: int, quiet: bool) -> None:
        self._options = {"total": games, "disable": quiet}
        self._bar: Any = None

    def __call__(self, progress: Any, measured: dict[int, list[Any]]) -> None:
        """Show the progress of learning."""
        if (
            self._bar is None
        ):  # not before the first game, because options may be refused until then
            from tqdm import tqdm

            done = max(0, progress.game - 1)  # of a run that is resumed
            self._options["total"] = progress.games  # a book may have fewer games
            self._bar = tqdm(**self._options, unit=" games", initial=done, dynamic_ncols=True)
        text: dict[str, Any] = {"learned from": f"{progress.updates:,}"}
        if progress.note and not progress.note.startswith("Beta"):
            text["note"] = progress.note
        if measured:
            last = max(measured)
            text[f"after {last}"] = " ".join(strength.brief() for strength in measured[last])
        self._bar.set_postfix(text, refresh=False)
        self._bar.update(progress.game - self._bar.n)

    def say(self, text: str) -> None:
        """Print a line below the bar."""
        self.close()
        print(text, flush=True)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()

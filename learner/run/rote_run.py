"""A run of rote learning: a memory filled in a folder, with checkpoints and a log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from learner.learner import Progress
from learner.online.rote import Rote
from learner.run.folder import RunError, RunFolder
from learner.run.settings import RunSettings, write_settings
from search.lookups.rote import RoteMemory

__all__ = ["RoteRun"]


class RoteRun:
    """A rote learner in a folder: checkpoints, a log, and the memory as memory.sqlite."""

    def __init__(self, learner: Rote, folder: Any, *, settings: RunSettings | None = None) -> None:
        self.learner = learner
        self.folder = RunFolder(folder, {"log.csv": "game,moves,outcome,plies,note\n"})
        self.settings = settings
        self.memory_path = self.folder.path / "memory.sqlite"
        self._saved: Path | None = None

    def train(
        self,
        evaluator: Any,
        *,
        resume: bool = False,
        show: Callable[[Progress, dict[int, list[Any]]], None] | None = None,
    ) -> RoteMemory:
        """Learn to the end, writing ten checkpoints on the way; returns the memory."""
        self.learner.prepare(evaluator)
        state = self._load() if resume else None
        if not resume:
            self.folder.create()
        write_settings(self.folder.path, self.settings)
        every = max(1, self.learner.games // 10)

        def watch(progress: Progress) -> None:
            record = progress.record
            self.folder.log(
                "log.csv",
                f"{progress.game},{progress.updates},{record.outcome()},{record.ply},"
                f"{progress.note}\n",
            )
            if progress.game % every == 0:
                self._save()
            if show is not None:
                show(progress, {})

        self.learner.fit(evaluator, resume=state, watch=watch)
        self._save()
        self.learner.memory_.save(self.memory_path, evaluator=self.learner.evaluator_.name)
        return self.learner.memory_

    def _load(self) -> dict[str, Any]:
        """Returns the state of the learner in the last checkpoint."""
        saved = self.folder.load()
        try:
            state = dict(saved["learner"])
            # the memory is in the folder, which may have been moved
            self._saved = self.folder.path / Path(state["memory"]).name
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(
                f"{self.folder.path}: expected a checkpoint of a run, found {error!r}"
            ) from None
        return {**state, "memory": str(self._saved)}

    def _save(self) -> None:
        """Write a checkpoint that names its memory file, and delete the previous memory file."""
        before = self._saved
        state = self.learner.checkpoint(self.folder.path)
        self.folder.save({"learner": state})
        self._saved = Path(state["memory"])
        if before is not None and before != self._saved:
            before.unlink(missing_ok=True)

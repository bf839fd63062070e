"""A run of rote learning: a memory filled in a folder, with checkpoints and a log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from learner.arena import Strength
from learner.learner import Progress
from learner.online.rote import Rote
from learner.run.folder import Pace, RunError, RunFolder, csv_row
from learner.run.settings import RunSettings
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
        self._pace = Pace()
        #: whether `train` resumed a run that had ended and was measured
        self.finished = False

    def train(
        self,
        evaluator: Any,
        *,
        resume: bool = False,
        changed: bool = False,
        show: Callable[[Progress, dict[int, list[Any]]], None] | None = None,
        say: Callable[[str], None] = lambda text: None,
    ) -> RoteMemory:
        """Learn to the end; returns the memory. The options and errors are those of `Run.train`."""
        self.learner.prepare(evaluator)
        with self.folder.alone():
            return self._train(evaluator, resume, changed, show, say)

    def _train(
        self,
        evaluator: Any,
        resume: bool,
        changed: bool,
        show: Callable[[Progress, dict[int, list[Any]]], None] | None,
        say: Callable[[str], None],
    ) -> RoteMemory:
        state = self._load() if resume else None
        self.finished = resume and self.folder.is_reported(self.learner.games)
        self.folder.open(
            self.learner.game_, self.learner, self.settings,
            resume=resume, changed=changed, say=say, finished=self.finished,
        )  # fmt: skip
        tenth = max(1, self.learner.games // 10)

        def watch(progress: Progress) -> None:
            record = progress.record
            row = csv_row(
                progress.game, progress.updates, str(record.outcome()), record.ply, progress.note
            )
            self.folder.log("log.csv", row)
            if progress.game % tenth == 0 or self._pace.is_due():
                self._save()
            if show is not None:
                show(progress, {})

        if not resume:
            self._save()  # so that there is something to resume from the first game on
        self.learner.fit(evaluator, resume=state, watch=watch)
        if self.finished:
            return self.learner.memory_
        self._save()
        self.learner.memory_.save(self.memory_path, evaluator=self.learner.evaluator_.name)
        return self.learner.memory_

    def report(self, strength: Strength, limits: Any) -> None:
        """Write report.json: the match of the memory against the evaluator alone."""
        with self.folder.alone():
            self.folder.write_report(
                {
                    "evaluator": f"{self.learner.evaluator_.name}+{self.memory_path.name}",
                    "games_asked": self.learner.games,
                    "limits": str(limits),
                    "matches": [strength.as_dict()],
                }
            )

    def _load(self) -> dict[str, Any]:
        """Returns the state of the learner in the last checkpoint."""
        saved = self.folder.load()
        try:
            state = dict(saved["learner"])
            name = Path(state["memory"]).name  # in the folder, which may have been moved
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(
                f"{self.folder.path}: expected a checkpoint of a run, found {error!r}"
            ) from None
        self.folder.expect(name)
        self._saved = self.folder.path / name
        return {**state, "memory": str(self._saved)}

    def _save(self) -> None:
        """Write a checkpoint that names its memory file, and delete the previous memory file."""
        before = self._saved
        with self._pace.writing():
            state = self.learner.checkpoint(self.folder.path)
            self.folder.save({"learner": state})
        self._saved = Path(state["memory"])
        if before is not None and before != self._saved:
            before.unlink(missing_ok=True)

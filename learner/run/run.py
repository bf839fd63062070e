"""A run: a learner in a folder, with checkpoints and a log, that survives a crash at any moment.

Every run leaves in its folder:

    checkpoint.json   what resuming goes on from (`learner.run.folder`)
    log.csv           one line a game, or a batch of games; of a problem, a round of positions
    positions/        the store of a learner that learns from one, or the memory of a rote learner
    options.json, provenance.json   its settings, and the code of each session

The rest of a folder is told where it is made: an evaluator of games, with snapshots and
matches (`learner.run.measured_run`), a memory (`learner.run.memory_run`) or a heuristic
(`learner.run.heuristic_run`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from learner.arena import Strength
from learner.frame import Learner, Progress
from learner.run.folder import REPORT, Pace, RunError, RunFolder, csv_row
from learner.run.settings import RunSettings
from play.web.runs import report_of

__all__ = ["Run", "report_seed"]

LOG = "game,updates,alpha_side,outcome,plies,loss,held_out,note\n"

#: The seed of the openings or positions of a run's report; learning and choosing have others.
REPORT_SEED = 3_000_017


class Run:
    """A learner in a folder.

    learner: the learner.
    folder: where everything is written.
    settings: the settings, which the folder keeps for `--resume`.
    game: the game, if it has a user's features besides those that the learner's has.
    feature_file: the user's file of features, of which the folder keeps a copy.
    logs: other logs, by the names of their files, with their first lines.
    """

    #: A word for the result.
    made: ClassVar[str] = "evaluator"

    def __init__(
        self,
        learner: Learner,
        folder: Any,
        *,
        settings: RunSettings | None = None,
        game: Any = None,
        feature_file: Path | None = None,
        logs: Mapping[str, str] | None = None,
    ) -> None:
        self.learner: Any = learner
        self.folder = RunFolder(folder, {"log.csv": LOG, **(logs or {})})
        if "store" in learner.get_params(deep=False):
            learner.set_params(store=self.folder.path / "positions")
        self.settings = settings
        self.feature_file = feature_file
        self._game = game
        #: game number -> strength of the snapshot against each opponent
        self.measured: dict[int, list[Strength]] = {}
        self._pace = Pace()
        #: whether `train` resumed a run that had ended and was measured
        self.finished = False
        #: entries of the report, which `results` adds to
        self.entries: dict[str, Any] = {}

    # --- what a subclass adds -----------------------------------------------------------------

    def is_finished(self) -> bool:
        """Returns whether the folder holds the report of a run of as many games."""
        return self.folder.is_reported(self.games_asked)

    @property
    def path(self) -> Path:
        """The file of the result."""
        return self.folder.path / f"last{self.learner.evaluator_.suffix}"

    def start(self) -> Any:
        """Returns what the settings say to start from, as `train` takes it."""
        return None

    def _result(self, say: Callable[[str], None]) -> Any:
        """Write what was learned, unless the run was `finished` before; returns it."""
        if not self.finished:
            self._keep()
        return self.learner.evaluator_

    def _keep(self) -> None:
        """Write what was learned so far, so that it can be played."""
        evaluator = self.learner.evaluator_
        evaluator.save(self.folder.path / f"last{evaluator.suffix}")

    def _created(self) -> None:
        """Write what a new run has from its beginning."""

    def _reported(self, progress: Progress) -> bool:
        """Take a report of the learner; returns whether a checkpoint is due at once."""
        return False

    def _held_out_loss(self, progress: Progress) -> float | str:
        """Returns the loss on positions that are not learned from, for the log, or ""."""
        return ""

    def _content(self) -> dict[str, Any]:
        """Returns the content of a checkpoint without the state of the learner."""
        return {}

    def _take(self, saved: dict[str, Any]) -> None:
        """Take what `_content` returned; raises KeyError, TypeError or ValueError otherwise."""

    @contextmanager
    def _learning(self, say: Callable[[str], None]) -> Iterator[None]:
        """Surround the learning."""
        yield

    def about(self, learned: Any) -> Iterator[str]:
        """Yields lines for people about what was learned."""
        yield from ()

    def results(self, learned: Any) -> Iterator[str]:
        """Measure what was learned, and add to `entries`; yields lines for people."""
        yield from ()

    # --- learning -----------------------------------------------------------------------------

    @property
    def games_asked(self) -> int:
        """The games that the run was asked to learn from; a book may have fewer."""
        return self.settings.games if self.settings is not None else int(self.learner.games)

    def train(
        self,
        evaluator: Any = None,
        *,
        resume: bool = False,
        changed: bool = False,
        watch: Callable[[Progress], None] = lambda progress: None,
        say: Callable[[str], None] = lambda text: None,
    ) -> Any:
        """Learn to the end; returns what was learned, which is also in the folder.

        evaluator: the evaluator to start from.
        resume: whether to continue from the last checkpoint.
        changed: continue although the code has changed since.
        watch: called after every game, or every batch of games.
        say: gets a line when a new stage begins.

        Ctrl-C is passed on, after what was learned so far was written; games after the last
        checkpoint are played again on resuming. Raises
        LockedError if another process writes in the folder, RunError if it cannot be used or lacks
        a file of the run, and ChangedError if the run began with other code.
        """
        learner = self.learner
        learner.prepare(evaluator)
        with self.folder.alone():
            state = self._load() if resume else None
            if state is not None:
                learner.check_goes_on(state)  # before anything is written
            self.finished = resume and self.is_finished()
            self.folder.open(
                self.game, learner, self.settings,
                resume=resume, changed=changed, say=say, finished=self.finished,
            )  # fmt: skip
            if not resume:
                self._created()
                self._save()  # so that there is something to resume from the first game on
            try:
                with self._learning(say):
                    learner.fit(evaluator, resume=state, watch=lambda one: self._log(one, watch))
            except KeyboardInterrupt:
                if not self.finished:
                    self._keep()
                raise
            if not self.finished:
                self._save()
            return self._result(say)

    @property
    def game(self) -> Any:
        """The game or problem; after the learner was prepared."""
        return self.learner.game_ if self._game is None else self._game

    def _log(self, progress: Progress, watch: Callable[[Progress], None]) -> None:
        record = progress.record
        ended = ("", "") if record is None else (str(record.outcome()), record.ply)
        row = csv_row(
            progress.game, progress.updates, progress.alpha_side, *ended,
            progress.figures.get("loss", ""), self._held_out_loss(progress),
            progress.summary("loss"),
        )  # fmt: skip
        self.folder.log("log.csv", row)
        if self._reported(progress) or self._pace.is_due():
            self._save()
        watch(progress)

    def _save(self) -> None:
        with self._pace.writing():
            self.folder.save({"learner": self.learner.checkpoint(), **self._content()})

    def _load(self) -> dict[str, Any]:
        """Returns the state of the learner in the last checkpoint."""
        saved = self.folder.load()
        try:
            state = dict(saved["learner"])
            self._take(saved)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, RunError):
                raise
            raise RunError(
                f"{self.folder.path}: expected a checkpoint of a run, found {error!r}"
            ) from None
        return state

    def report(self, learned: Any) -> Iterator[str]:
        """Yields the lines of the results; they are measured, unless the run was finished before.

        Raises ValueError for a report that is damaged.
        """
        if self.finished:
            lines = report_of(self.folder.path).get("lines")
            if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
                raise ValueError(
                    f"{self.folder.path / REPORT}: expected the report of a run, found no lines;"
                    " without the file the run is measured again"
                )
            yield from lines
            return
        self.entries = {"games_asked": self.games_asked, "lines": []}
        for line in self.results(learned):
            self.entries["lines"].append(line)
            yield line
        self.write_report()

    def write_report(self) -> None:
        """Write `entries` as report.json."""
        with self.folder.alone():
            self.folder.write_report(self.entries)


def report_seed(learner: Learner) -> int:
    """Returns the seed of the openings of a run's last matches.

    It differs by the run's seed, so that an interval over seeds counts the luck of openings too.
    """
    return REPORT_SEED + learner.seed

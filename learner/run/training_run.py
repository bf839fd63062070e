"""A training run: learning with progress, checkpoints, snapshots, measurements and a report.

The learner plays and learns in this process; a second one plays snapshots against fixed opponents.
The best snapshot by these matches is kept beside the last; of a learner that settles it is the
last. Everything that a run leaves lies in one folder:

    checkpoint.json   what resuming goes on from (`learner.run.folder`)
    log.csv           one line a game, or a batch of games; snapshots.csv the strength of snapshots
    hours.csv         hours of processor time that learning took to each snapshot and until now
    games.*           games in the form of the game's files (.pdn with values for checkers, .mat
                      for backgammon, else .txt): all, or the last of each batch
    positions/        the store of a learner that learns from one
    snapshots/        evaluators on the way; last and best beside it (.json, or .safetensors)
    report.json, strength.png; for weights over terms weights.png, terms.txt and terms.png, and
    calibration.png and path.png where they were fitted (`learner.reports.diagnosis`)
    features.py       a copy of the user's features that the run learned with
    without/          the same run without them, which it is compared with
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from games.contract import Game
from games.counted import counted
from games.file_form import NO_NAMES, form_of
from games.whole_files import write_atomically
from learner.arena import Arena, Strength
from learner.learner import Learner, Progress
from learner.options import Range
from learner.run.folder import Pace, RunError, RunFolder, csv_row, read_report
from learner.run.settings import RunSettings
from play.players.limits import Limits
from search import Evaluator, LinearEvaluator, load_evaluator

__all__ = ["FEATURES", "Run"]

HOURS = "hours.csv"
LOG = "game,updates,alpha_side,outcome,plies,note\n"
#: Seeds of the order of the openings. Those of the choice are the same positions both times; the
#: report has positions a ply later, which played no part in the choice.
CHOICE_SEED, FINAL_SEED, REPORT_SEED = 1_000_003, 2_000_003, 3_000_017
CHOICE_PLIES, REPORT_PLIES = 3, 4
#: With fewer games, chances of win, draw and loss are not fitted.
FEWEST_GAMES = 20
#: The copy of a user's features.
FEATURES = "features.py"


class Run:
    """One training run in a folder.

    learner: the learner.
    game: the game.
    folder: where everything is written.
    opponents: players that snapshots are measured against.
    snapshots: number of snapshots, evenly spread.
    snapshot_games: games of each snapshot against each opponent.
    finalists: number of snapshots with the highest mean score that are measured again.
    final_games: games of these measurements, by which the best is chosen.
    limits: limits of the searches of all these matches.
    settings: the settings, which the folder keeps for `--resume`.
    feature_file: the user's file of features, of which the folder keeps a copy.
    """

    def __init__(
        self,
        learner: Learner,
        game: Game,
        folder: Any,
        *,
        opponents: Sequence[str],
        snapshots: int = 24,
        snapshot_games: int = 40,
        finalists: int = 4,
        final_games: int = 150,
        limits: Limits,
        settings: RunSettings | None = None,
        feature_file: Any = None,
    ) -> None:
        Range(1).check("snapshots", snapshots)
        self.learner = learner
        self.game = game
        self._form = form_of(game)
        self.games_log = f"games{self._form.suffix}"
        self.folder = RunFolder(folder, {"log.csv": LOG, self.games_log: ""})
        if "store" in learner.get_params(deep=False):
            learner.set_params(store=self.folder.path / "positions")
        self.opponents = list(opponents)
        self.snapshots = snapshots
        self.snapshot_games = snapshot_games
        self.finalists = finalists
        self.final_games = final_games
        self.limits = limits
        self.settings = settings
        self.feature_file = feature_file
        #: games after which a snapshot was taken
        self._taken: list[int] = []
        #: game number -> strength against each opponent
        self.measured: dict[int, list[Strength]] = {}
        self._waiting: dict[int, list[Future[Strength]]] = {}
        #: games played when the learner last reported
        self._reported = 0
        self._pace = Pace()
        #: hours of processor time until each snapshot, and in the sessions before this one
        self._hours: dict[int, float] = {}
        self._hours_before = 0.0
        #: whether `train` resumed a run that had ended and was measured
        self.finished = False

    def train(
        self,
        evaluator: Any = None,
        *,
        resume: bool = False,
        changed: bool = False,
        show: Callable[[Progress, dict[int, list[Strength]]], None] | None = None,
        say: Callable[[str], None] = lambda text: None,
    ) -> Evaluator:
        """Learn to the end; returns the best evaluator, which is also in the folder.

        evaluator: the evaluator to start from.
        resume: whether to continue from the last checkpoint.
        changed: continue although the code has changed since.
        show: called after every game.
        say: gets a line when a new stage begins.

        Ctrl-C is passed on; games after the last checkpoint are played again on resuming. Raises
        LockedError if another process writes in the folder, RunError if it cannot be used or lacks
        a file of the run, and ChangedError if the run began with other code.
        """
        self.learner.prepare(evaluator)
        with self.folder.alone():
            return self._train(evaluator, resume, changed, show, say)

    def _train(
        self,
        evaluator: Any,
        resume: bool,
        changed: bool,
        show: Callable[[Progress, dict[int, list[Strength]]], None] | None,
        say: Callable[[str], None],
    ) -> Evaluator:
        state = self._load() if resume else None
        if state is not None:
            self.learner.check_goes_on(state)  # before anything is written
        self._hours_before -= time.process_time() / 3600
        self.finished = resume and self._is_finished()
        self.folder.open(
            self.game, self.learner, self.settings,
            resume=resume, changed=changed, say=say, finished=self.finished,
        )  # fmt: skip
        if not resume:
            if self.feature_file is not None:
                copy = Path(self.feature_file).read_bytes()
                write_atomically(self.folder.path / FEATURES, copy)
            self._save()  # so that there is something to resume from the first game on
        with Arena(self.game, limits=self.limits) as self._arena:
            for game in self._taken:
                if game not in self.measured:
                    self._ask(game, self._snapshot(game))
            self.learner.fit(
                evaluator, resume=state, watch=lambda progress: self._watch(progress, show)
            )
            if self._waiting:
                say(f"learned; {counted(len(self._waiting), 'snapshot')} still to be measured")
            for game in sorted(self._waiting):
                self._collect(game)
        if self.finished:
            return self._loaded(self._path("best"))
        self._save()
        if not self.learner.settles:
            say("choosing among the best snapshots")
        best = self._finish(say)
        from learner.reports.diagnosis import diagnose

        missing = diagnose(self.folder.path, self.learner, best)
        if missing:
            say(f"no report on the terms: {missing}")
        return best

    def _load(self) -> dict[str, Any]:
        """Returns the state of the learner in the last checkpoint."""
        saved = self.folder.load()
        try:
            self._taken = [int(game) for game in saved["taken"]]
            self.measured = {
                int(game): [Strength(**entry) for entry in entries]
                for game, entries in saved["measured"].items()
            }
            state = dict(saved["learner"])
            self._reported = int(state["games_played"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RunError(
                f"{self.folder.path}: expected a checkpoint of a run, found {error!r}"
            ) from None
        paths = map(self._snapshot_path, self._taken)
        self.folder.expect(*(str(path.relative_to(self.folder.path)) for path in paths))
        self._load_hours()
        return state

    def _load_hours(self) -> None:
        """Take the hours that earlier sessions left; without them, they count from now on."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            with open(self.folder.path / HOURS, newline="", encoding="utf-8") as file:
                found = {int(row["game"]): float(row["hours"]) for row in csv.DictReader(file)}
            self._hours_before = max(found.values())
            self._hours = {game: found[game] for game in self._taken}

    def _is_due(self, game: int, before: int) -> bool:
        """Returns whether a snapshot is due after a game; game `before` had the last report.

        One is taken after the last game, and others evenly before.
        """
        games, count = self.learner.games, self.snapshots
        return game * count // games > before * count // games

    def _path(self, name: str) -> Path:
        return self.folder.path / f"{name}{self.learner.evaluator_.suffix}"

    def _snapshot_path(self, game: int) -> Path:
        return self._path(f"snapshots/{game:06d}")

    def _snapshot(self, game: int) -> Evaluator:
        return self._loaded(self._snapshot_path(game))

    def _loaded(self, path: Path) -> Evaluator:
        mine = self.learner.evaluator_
        inputs = getattr(mine, "inputs", None) or getattr(mine, "features", None)
        return load_evaluator(path, game=self.game, inputs=inputs)

    def _watch(
        self,
        progress: Progress,
        show: Callable[[Progress, dict[int, list[Strength]]], None] | None,
    ) -> None:
        game = progress.game
        record = progress.record
        row = csv_row(
            game, progress.updates, progress.alpha_side, str(record.outcome()), record.ply,
            progress.note,
        )  # fmt: skip
        self.folder.log("log.csv", row)
        self.folder.log(self.games_log, self._game_text(progress) + "\n")
        due = self._is_due(game, self._reported)
        self._reported = game
        if due:
            evaluator = self._named(self.learner.evaluator_.copy(), game)
            evaluator.save(self._snapshot_path(game))
            self._taken.append(game)
            self._hours[game] = self._hours_spent()
            self._ask(game, evaluator)
        for waiting in sorted(self._waiting):
            if all(future.done() for future in self._waiting[waiting]):
                self._collect(waiting)
        if due or self._pace.is_due():
            self._save()
        if show is not None:
            show(progress, self.measured)

    def _game_text(self, progress: Progress) -> str:
        """Returns the game in the form of the game's files."""
        tags = {"Event": "Plysmith", "Round": str(progress.game)}
        names = NO_NAMES[:1] * self.game.players
        if progress.alpha_side is not None:
            names = ("Beta", "Alpha") if progress.alpha_side else ("Alpha", "Beta")
        return self._form.write(progress.record, names, tags)

    def _ask(self, game: int, evaluator: Evaluator) -> None:
        """Start measuring a snapshot."""
        self._waiting[game] = self._matches(
            self._arena, evaluator, self.snapshot_games, CHOICE_SEED, CHOICE_PLIES
        )

    def _matches(
        self, arena: Arena, evaluator: Evaluator, games: int, seed: int, plies: int
    ) -> list[Future[Strength]]:
        return [
            arena.submit(evaluator, opponent, games=games, seed=seed, plies=plies)
            for opponent in self.opponents
        ]

    def _collect(self, game: int) -> None:
        self.measured[game] = [future.result() for future in self._waiting.pop(game)]

    def _hours_spent(self) -> float:
        """Returns the hours of processor time that this process and earlier sessions took."""
        return self._hours_before + time.process_time() / 3600

    def _named(self, evaluator: Evaluator, game: int) -> Evaluator:
        evaluator.name = f"{type(self.learner).__name__.lower()}-{game}"
        evaluator.provenance = {
            "learner": self.learner.identity(),
            "games": game,
            "updates": self.learner.updates_,
        }
        return evaluator

    def _save(self) -> None:
        with self._pace.writing():
            self.folder.save(
                {
                    "learner": self.learner.checkpoint(),
                    "taken": self._taken,
                    "measured": {
                        str(game): [entry.as_dict() for entry in entries]
                        for game, entries in sorted(self.measured.items())
                    },
                }
            )
            self._save_hours()

    def _save_hours(self) -> None:
        """Write the hours; not in the checkpoint, which is the same for runs of every speed."""
        hours = {self._reported: self._hours_spent(), **self._hours}
        rows = [csv_row(game, f"{spent:.4g}") for game, spent in sorted(hours.items())]
        write_atomically(self.folder.path / HOURS, "".join(["game,hours\n", *rows]))

    def _best_snapshot(self) -> int:
        """Returns the finalist with the highest score in its last match; if equal, the latest.

        Of a learner that settles it is the last snapshot.
        """
        if self.learner.settles:
            return max(self.measured)

        def mean(entries: Sequence[Strength]) -> float:
            return sum(entry.score for entry in entries) / max(1, len(entries))

        ranking = sorted(self.measured, key=lambda game: (mean(self.measured[game]), game))
        finalists = ranking[-self.finalists :]
        if len(finalists) == 1:
            return finalists[0]
        with Arena(self.game, limits=self.limits, workers=2) as arena:
            pending = {
                game: self._matches(
                    arena, self._snapshot(game), self.final_games, FINAL_SEED, CHOICE_PLIES
                )
                for game in finalists
            }
            measured = {game: [f.result() for f in futures] for game, futures in pending.items()}
        return max(finalists, key=lambda game: (mean(measured[game]), game))

    def _finish(self, say: Callable[[str], None]) -> Evaluator:
        path = self.folder.path
        best = self._best_snapshot()
        last = self._named(self.learner.evaluator_.copy(), self.learner.games_played_)
        last.save(self._path("last"))
        write_atomically(self._path("best"), self._snapshot_path(best).read_bytes())
        lines = ["game,opponent,games,wins,draws,losses,score,value,low,high,unit\n"]
        for game, entries in sorted(self.measured.items()):
            lines += [
                csv_row(
                    game, e.opponent, e.games, e.wins, e.draws, e.losses, f"{e.score:.4f}",
                    f"{e.value:.4g}", f"{e.low:.4g}", f"{e.high:.4g}", e.unit,
                )
                for e in entries
            ]  # fmt: skip
        write_atomically(path / "snapshots.csv", "".join(lines))
        self._plot(best)
        return self._calibrated(self._loaded(self._path("best")), say)

    def _calibrated(self, best: Evaluator, say: Callable[[str], None]) -> Evaluator:
        """Fit the chances that the best evaluator's values stand for, where that is cheap.

        The games for it are a third as many as those of the run, at most the usual number.
        """
        from learner.fit.calibration import GAMES, calibrate

        games = min(GAMES, self.learner.games // 3)
        if best.gives_outcomes or self.game.rules is None or games < FEWEST_GAMES:
            return best
        if self.game.players > 2:  # chances are those of win, draw and loss
            return best
        say(f"fitting the chances of win, draw and loss to {counted(games, 'game')} of self-play")
        try:
            best.calibration = calibrate(self.game, best, games=games)
        except ValueError as error:
            say(f"no chances: {error}")
            return best
        best.save(self._path("best"))
        return best

    def _plot(self, best: int) -> None:
        from learner.reports.plots import plot_strength, plot_weights

        path = self.folder.path
        plot_strength(path / "strength.png", self.measured, chosen=best, hours=self._hours)
        snapshots = [(game, self._snapshot(game)) for game in sorted(self.measured)]
        weights = [(g, e.term_weights()) for g, e in snapshots if isinstance(e, LinearEvaluator)]
        if weights:
            # weights that never changed are fixed
            first = weights[0][1]
            held = [n for n in first if first[n] and all(w.get(n) == first[n] for _, w in weights)]
            plot_weights(path / "weights.png", weights, fixed=held if len(weights) > 1 else ())

    def report(
        self, evaluator: Evaluator, opponents: Sequence[str], *, games: int
    ) -> Iterator[Strength]:
        """Measure the best evaluator on openings of its own, and write report.json.

        Yields each opponent's result when its match ends.
        """
        results: list[Strength] = []
        with Arena(self.game, limits=self.limits, workers=2) as arena:
            pending = [
                arena.submit(evaluator, o, games=games, seed=REPORT_SEED, plies=REPORT_PLIES)
                for o in opponents
            ]
            for future in pending:
                results.append(future.result())
                yield results[-1]
        content = {
            "evaluator": evaluator.name,
            "games_asked": self._asked,
            "limits": str(self.limits),
            "matches": [entry.as_dict() for entry in results],
        }
        with self.folder.alone():
            self.folder.write_report(content)

    def add_to_report(self, **content: Any) -> None:
        """Add entries to report.json, which `report` has written."""
        with self.folder.alone():
            self.folder.write_report({**read_report(self.folder.path), **content})

    def _is_finished(self) -> bool:
        parts = () if self.feature_file is None else ("worth",)
        return self.folder.is_reported(self._asked, *parts) and self._path("best").is_file()

    @property
    def _asked(self) -> int:
        """The games that the run was asked to learn from; a book may have fewer."""
        return self.settings.games if self.settings is not None else int(self.learner.games)

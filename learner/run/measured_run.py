"""A run of an evaluator of games: snapshots, matches that choose among them, and a report.

The learner plays and learns in this process; a second one plays snapshots against fixed opponents.
The best snapshot by these matches is kept beside the last; of a learner that settles it is the
last. Beside what every run leaves (`learner.run.run`) the folder holds:

    snapshots.csv     the strength of snapshots
    hours.csv         hours of processor time that learning took to each snapshot and until now,
                      without those of compiling
    held_out.safetensors  positions that are not learned from, of which log.csv has the loss
    games.*           games in the form of the game's files (.pdn with values for checkers, .mat
                      for backgammon, else .txt): all, or the last of each batch
    snapshots/        evaluators on the way; last and best beside it (.json, or .safetensors)
    report.json, strength.png; for weights over terms weights.png
    features.py       a copy of the user's features that the run learned with
    without/          the same run without them, which it is compared with
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from games.contract import Game
from games.file_form import NO_NAMES, form_of
from learner.arena import Arena, Strength
from learner.books.book_study import BookStudy
from learner.frame import Learner, Progress
from learner.options import CALIBRATION_GAMES
from learner.reports.worth import start_for
from learner.run.folder import FEATURES, HOURS, RunError, csv_row
from learner.run.held_out import HeldOut
from learner.run.recipes import recipe_of
from learner.run.run import Run, report_seed
from learner.run.settings import RunSettings
from play.players.limits import Limits
from play.web.runs import hours_of, strength_of, weights_of
from play.workers import Workers
from programs import waiting
from programs.ending import result_of
from programs.phrases import counted
from programs.whole_files import write_atomically
from search import Evaluator, LinearEvaluator, load_evaluator

__all__ = ["MeasuredRun"]

#: Seeds of the order of the openings. Those of the choice are the same positions both times; the
#: report has positions a ply later, which played no part in the choice, in another order for each
#: seed of a run.
CHOICE_SEED, FINAL_SEED = 1_000_003, 2_000_003
CHOICE_PLIES, REPORT_PLIES = 3, 4
#: Number of snapshots with the highest mean score that are measured again.
FINALISTS = 4
#: Number of matches at a time when learning is over; beside learning it is one.
PROCESSES = 2
#: With fewer games, chances of win, draw and loss are not fitted.
FEWEST_GAMES = 20
#: The file of positions that are not learned from, and the number of times that the evaluator is
#: judged by them.
HELD_OUT, JUDGEMENTS = "held_out.safetensors", 48


class MeasuredRun(Run):
    """A learner of a game in a folder, measured on its way.

    learner: the learner.
    folder: where everything is written.
    settings: the settings, which say how often and against whom it is measured.
    game, feature_file: as in `Run`.
    """

    def __init__(
        self,
        learner: Learner,
        folder: Any,
        *,
        settings: RunSettings,
        game: Game,
        feature_file: Path | None = None,
    ) -> None:
        self._form = form_of(game)
        self.games_log = f"games{self._form.suffix}"
        super().__init__(
            learner, folder, settings=settings, game=game, feature_file=feature_file,
            logs={self.games_log: ""},
        )  # fmt: skip
        self.settings: RunSettings = settings
        recipe = recipe_of(settings.learner, game)
        depth = settings.depth if recipe.match_depth is None else recipe.match_depth
        #: limits of the searches of all matches
        self.limits = Limits(depth=depth, nodes=settings.nodes)
        #: games after which a snapshot was taken
        self._taken: list[int] = []
        self._waiting: dict[int, list[Future[Strength]]] = {}
        #: games played when the learner last reported
        self._reported_game = 0
        #: hours of processor time until each snapshot, and in the sessions before this one
        self._hours: dict[int, float] = {}
        self._hours_before = 0.0
        self._began = _learning_seconds()
        self._held_out: HeldOut | None = None

    @property
    def path(self) -> Path:
        return self._path("best")

    def start(self) -> Any:
        return start_for(self.game, self.settings.start, self.learner)

    def is_finished(self) -> bool:
        parts = () if self.feature_file is None else ("worth",)
        reported = self.folder.is_reported(self.games_asked, *parts)
        return reported and self._path("best").is_file()

    def _created(self) -> None:
        if self._predicts() and not self.game.dice and self.learner.games >= FEWEST_GAMES:
            start = self.learner.evaluator_.copy()
            self._held_out = HeldOut.drawn(self.game, start, games=int(self.learner.games))
        if self._held_out is not None:
            self._held_out.write(self.folder.path / HELD_OUT)
        self._began = _learning_seconds()
        if self.feature_file is not None:
            write_atomically(self.folder.path / FEATURES, self.feature_file.read_bytes())

    @contextmanager
    def _learning(self, say: Callable[[str], None]) -> Iterator[None]:
        """Measure the snapshots."""
        with self._new_arena(1) as self._arena:
            for game in self._taken:
                if game not in self.measured:
                    self._ask(game, self._snapshot(game))
            yield
            if self._waiting:
                say(f"learned; {counted(len(self._waiting), 'snapshot')} still to be measured")
            for game in sorted(self._waiting):
                self._collect(game)

    def _result(self, say: Callable[[str], None]) -> Evaluator:
        """Returns the best evaluator, with reports on it beside it."""
        if self.finished:
            return self._loaded(self._path("best"))
        if not self.learner.settles:
            say("choosing among the best snapshots")
        return self._finish(say)

    def _take(self, saved: dict[str, Any]) -> None:
        self._began = _learning_seconds()
        if saved.get("held_out"):
            self.folder.expect(HELD_OUT)
            try:
                self._held_out = HeldOut.read(self.folder.path / HELD_OUT)
            except ValueError as error:
                raise RunError(str(error)) from None
        self._taken = [int(game) for game in saved["taken"]]
        self.measured = {
            int(game): [Strength(**entry) for entry in entries]
            for game, entries in saved["measured"].items()
        }
        self._reported_game = int(saved["learner"]["games_played"])
        paths = map(self._snapshot_path, self._taken)
        self.folder.expect(*(str(path.relative_to(self.folder.path)) for path in paths))
        found = hours_of(self.folder.path)
        if found:  # else they count from now on
            self._hours_before = max(found.values())
            with suppress(KeyError):
                self._hours = {game: found[game] for game in self._taken}

    def _content(self) -> dict[str, Any]:
        return {
            "held_out": self._held_out is not None,
            "taken": self._taken,
            "measured": {
                str(game): [entry.as_dict() for entry in entries]
                for game, entries in sorted(self.measured.items())
            },
        }

    def _path(self, name: str) -> Path:
        return self.folder.path / f"{name}{self.learner.evaluator_.suffix}"

    def _snapshot_path(self, game: int) -> Path:
        return self._path(f"snapshots/{game:06d}")

    def _snapshot(self, game: int) -> Evaluator:
        return self._loaded(self._snapshot_path(game))

    def _loaded(self, path: Path) -> Evaluator:
        mine = self.learner.evaluator_
        inputs = getattr(mine, "inputs", None) or getattr(mine, "features", None)
        if getattr(inputs, "cell_terms", None):
            inputs = None  # a file holds the terms that were made up, others than these
        return load_evaluator(path, game=self.game, inputs=inputs)

    def _reported(self, progress: Progress) -> bool:
        game = progress.game
        self.folder.log(self.games_log, self._game_text(progress) + "\n")
        due = self._evenly(game, min(self.settings.snapshots, self.settings.games))
        self._reported_game = game
        if due:
            evaluator = self._named(self.learner.evaluator_.copy(), game)
            evaluator.save(self._snapshot_path(game))
            self._taken.append(game)
            self._hours[game] = self._hours_spent()
            self._ask(game, evaluator)
        for taken in sorted(self._waiting):
            if all(future.done() for future in self._waiting[taken]):
                self._collect(taken)
        return due

    def _held_out_loss(self, progress: Progress) -> float | str:
        due = self._evenly(progress.game, JUDGEMENTS) or not self._reported_game
        if self._held_out is None or not due:
            return ""
        return self._held_out.loss(self.learner.evaluator_)

    def _evenly(self, game: int, times: int) -> bool:
        """Returns whether something that is done evenly, and after the last game, is due."""
        games = int(self.learner.games)
        return game * times // games > self._reported_game * times // games

    def _game_text(self, progress: Progress) -> str:
        """Returns the game in the form of the game's files."""
        tags = {"Event": "Plysmith", "Round": str(progress.game)}
        names = NO_NAMES[:1] * self.game.players
        if progress.alpha_side is not None:
            names = ("Beta", "Alpha") if progress.alpha_side else ("Alpha", "Beta")
        assert progress.record is not None
        return self._form.write(progress.record, names, tags)

    @property
    def _cluster(self) -> Workers | None:
        """The learner's workers, if they are those of a cluster, which then plays all games."""
        workers: Workers | None = getattr(self.learner, "workers", None)
        return workers if workers is not None and workers.cluster is not None else None

    def _new_arena(self, processes: int) -> Arena:
        return Arena(self.game, limits=self.limits, processes=processes, workers=self._cluster)

    def _ask(self, game: int, evaluator: Evaluator) -> None:
        """Start measuring a snapshot."""
        self._waiting[game] = self._matches(
            self._arena, evaluator, self.settings.snapshot_games, CHOICE_SEED, CHOICE_PLIES
        )

    def _matches(
        self, arena: Arena, evaluator: Evaluator, games: int, seed: int, plies: int
    ) -> list[Future[Strength]]:
        return [
            arena.submit(evaluator, opponent, games=games, seed=seed, plies=plies)
            for opponent in self.settings.pacemakers
        ]

    def _collect(self, game: int) -> None:
        self.measured[game] = [result_of(future) for future in self._waiting.pop(game)]
        self._write_strengths()

    def _write_strengths(self) -> None:
        """Write what is known of the snapshots, for those who look at a run that goes on."""
        lines = ["game,opponent,games,wins,draws,losses,score,value,low,high,unit\n"]
        for game, entries in sorted(self.measured.items()):
            lines += [
                csv_row(
                    game, e.opponent, e.games, e.wins, e.draws, e.losses, f"{e.score:.4f}",
                    f"{e.value:.4g}", f"{e.low:.4g}", f"{e.high:.4g}", e.unit,
                )
                for e in entries
            ]  # fmt: skip
        write_atomically(self.folder.path / "snapshots.csv", "".join(lines))

    def _hours_spent(self) -> float:
        """Returns the hours of processor time that this process and earlier sessions took."""
        return self._hours_before + (_learning_seconds() - self._began) / 3600

    def _named(self, evaluator: Evaluator, game: int) -> Evaluator:
        evaluator.name = f"{type(self.learner).__name__.lower()}-{game}"
        evaluator.provenance = {
            "learner": self.learner.identity(),
            "games": game,
            "updates": self.learner.updates_,
        }
        return evaluator

    def _save(self) -> None:
        super()._save()
        # the hours are not in the checkpoint, which is the same for runs of every speed
        hours = {self._reported_game: self._hours_spent(), **self._hours}
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
        finalists = ranking[-FINALISTS:]
        if len(finalists) == 1:
            return finalists[0]
        with self._new_arena(PROCESSES) as arena:
            pending = {
                game: self._matches(
                    arena, self._snapshot(game), self.settings.final_games, FINAL_SEED, CHOICE_PLIES
                )
                for game in finalists
            }
            measured = {
                game: [result_of(future) for future in futures] for game, futures in pending.items()
            }
        return max(finalists, key=lambda game: (mean(measured[game]), game))

    def _finish(self, say: Callable[[str], None]) -> Evaluator:
        best = self._best_snapshot()
        last = self._named(self.learner.evaluator_.copy(), self.learner.games_played_)
        last.save(self._path("last"))
        write_atomically(self._path("best"), self._snapshot_path(best).read_bytes())
        self._write_strengths()
        self._plot(best)
        return self._calibrated(self._loaded(self._path("best")), say)

    def _predicts(self) -> bool:
        """Returns whether values can be compared with wins, draws and losses of self-play."""
        mine, game = self.learner.evaluator_, self.game
        return not mine.gives_outcomes and game.rules is not None and game.players == 2

    def _calibrated(self, best: Evaluator, say: Callable[[str], None]) -> Evaluator:
        """Fit the chances that the best evaluator's values stand for, where that is cheap.

        The games for it are a third as many as those of the run, at most the usual number.
        """
        from learner.regression.calibration import calibration_of, self_play_sample

        games = min(CALIBRATION_GAMES, int(self.learner.games) // 3)
        if not self._predicts() or games < FEWEST_GAMES:
            return best
        say(f"fitting the chances of win, draw and loss to {counted(games, 'game')} of self-play")
        try:
            sample = self_play_sample(self.game, best, games=games, workers=self._cluster)
            best.calibration = calibration_of(sample, self.game)
        except ValueError as error:
            say(f"no chances: {error}")
            return best
        best.save(self._path("best"))
        return best

    def _plot(self, best: int) -> None:
        from learner.reports.plots import plot_strength, plot_weights

        path = self.folder.path
        chosen = None if self.learner.settles or len(self.measured) == 1 else best
        strength = strength_of(path)
        plot_strength(path / "strength.png", strength, chosen=chosen, hours=self._hours)
        curves = weights_of(path)["curves"]
        if curves:
            plot_weights(path / "weights.png", curves)

    def about(self, learned: Evaluator) -> Iterator[str]:
        """Yields its name, weights over terms in the game's unit, and figures of a book."""
        learner = self.learner
        chosen = not learner.settles and len(self.measured) > 1
        yield (
            f"{'best of the snapshots' if chosen else 'the last weights'}: {learned.name}, from"
            f" {counted(learner.updates_, 'position')} in {counted(learner.games_played_, 'game')}"
        )
        if isinstance(learned, LinearEvaluator):
            weights = sorted(learned.term_weights().items(), key=lambda item: -abs(item[1]))
            texts = [f"{name} {learned.in_units(weight):g}" for name, weight in weights if weight]
            yield f"weights in {self.game.unit}: {', '.join(texts)}"
        if isinstance(learner, BookStudy):
            if learner.agreement_ is not None:
                yield f"on the games held out: {learner.agreement_.text()}"
            yield learner.book_.text()

    def results(self, learned: Evaluator) -> Iterator[str]:
        """Measure the best evaluator on openings of its own; yields when a match ends."""
        strengths: list[Strength] = []
        with self._new_arena(PROCESSES) as arena:
            pending = [
                arena.submit(
                    learned, opponent, games=self.settings.match_games,
                    seed=report_seed(self.learner), plies=REPORT_PLIES,
                )
                for opponent in self.settings.opponents
            ]  # fmt: skip
            for future in pending:
                strengths.append(result_of(future))
                yield f"{strengths[-1].text()} at {self.limits}"
        self.entries |= {
            "evaluator": learned.name,
            "limits": str(self.limits),
            "matches": [entry.as_dict() for entry in strengths],
        }


def _learning_seconds() -> float:
    """Returns the seconds of processor time that this process took, but for those of compiling."""
    return time.process_time() - waiting.compiled_seconds()

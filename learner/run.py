"""A training run: learning with progress, checkpoints, snapshots, measurements and a report.

The learner plays and learns in this process; a second one plays snapshots against fixed opponents.
The best snapshot by these matches is kept beside the last. Everything that a run leaves lies in
one folder:

    checkpoint.json   what resuming goes on from (`learner.folder`)
    log.csv           one line a game; snapshots.csv the strength of each snapshot
    games.pdn         the games, with values (checkers)
    snapshots/        evaluators on the way; last.json and best.json
    report.json, strength.png, weights.png
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from games.contract import Game
from learner.arena import Arena, Strength, measure
from learner.folder import RunFolder
from learner.online import OnlineLearner, Progress
from play.player import Limits
from search import LinearEvaluator, load_evaluator
from search.files import write_atomically

__all__ = ["Run"]

LOGS = {
    "log.csv": "game,updates,alpha_side,outcome,plies,note\n",
    "games.pdn": "",
}
#: Games between two checkpoints.
CHECKPOINT_GAMES = 10
#: Seeds of the openings: learning uses its own, choosing the best another, the report a third.
CHOICE_SEED, REPORT_SEED = 1_000_003, 2_000_003


class Run:
    """One training run of a linear learner in a folder.

    opponents: who snapshots are measured against; the best is the one with the highest mean
    score. snapshots: how many are taken, evenly spread. snapshot_games: games of each against
    each opponent. limits: of these matches.
    """

    def __init__(
        self,
        learner: OnlineLearner,
        game: Game,
        folder: Any,
        *,
        opponents: Sequence[str],
        snapshots: int = 20,
        snapshot_games: int = 60,
        limits: Limits,
        options: dict[str, Any] | None = None,
    ) -> None:
        if snapshots < 1:
            raise ValueError(f"snapshots: expected at least 1, found {snapshots}")
        self.learner = learner
        self.game = game
        self.folder = RunFolder(folder, LOGS)
        self.opponents = list(opponents)
        self.snapshots = snapshots
        self.snapshot_games = snapshot_games
        self.limits = limits
        self.options = options or {}
        #: game number -> strength against each opponent
        self.measured: dict[int, list[Strength]] = {}
        self._waiting: dict[int, Future[list[Strength]]] = {}

    def train(
        self,
        evaluator: Any = None,
        *,
        resume: bool = False,
        show: Callable[[Progress, dict[int, list[Strength]]], None] | None = None,
    ) -> LinearEvaluator:
        """Learn to the end; returns the best evaluator, which is also in best.json.

        Ctrl-C writes a checkpoint at the last finished game and passes the exception on.
        """
        state = None
        if resume:
            saved = self.folder.load()
            state = saved["learner"]
            self.measured = {
                int(game): [Strength(**entry) for entry in entries]
                for game, entries in saved["measured"].items()
            }
        else:
            self.folder.create()
            write_atomically(self.folder.path / "options.json", json.dumps(self.options, indent=1))
        arena = Arena(
            self.game,
            self.opponents,
            games=self.snapshot_games,
            limits=self.limits,
            seed=CHOICE_SEED,
        )
        self._arena = arena
        try:
            for game in self._due(0 if state is None else int(state["games_played"])):
                if game not in self.measured:
                    self._waiting[game] = arena.submit(self._snapshot_path(game))
            self.learner.fit(
                evaluator, resume=state, watch=lambda progress: self._watch(progress, show)
            )
            for game in sorted(self._waiting):
                self.measured[game] = self._waiting.pop(game).result()
        except KeyboardInterrupt:
            # the game that was under way is lost, and played again when the run is resumed
            raise
        finally:
            arena.close()
        self._save()
        return self._finish()

    def _due(self, upto: int) -> list[int]:
        """The games after which a snapshot is taken, as far as they are played."""
        games = self.learner.games
        marks = {max(1, math.ceil(games * (i + 1) / self.snapshots)) for i in range(self.snapshots)}
        return sorted(mark for mark in marks if mark <= upto)

    def _snapshot_path(self, game: int) -> Path:
        return self.folder.path / "snapshots" / f"{game:06d}.json"

    def _watch(
        self,
        progress: Progress,
        show: Callable[[Progress, dict[int, list[Strength]]], None] | None,
    ) -> None:
        game = progress.game
        outcome = progress.record.outcome()
        self.folder.log(
            "log.csv",
            f"{game},{progress.updates},{progress.alpha_side},{outcome},"
            f"{progress.record.ply},{progress.note}\n",
        )
        if self.game.name == "checkers":
            from games.checkers.pdn import write_game

            names = ["Alpha", "Beta"] if progress.alpha_side == 0 else ["Beta", "Alpha"]
            tags = {"Event": "Plysmith", "Round": str(game), "Black": names[0], "White": names[1]}
            self.folder.log("games.pdn", write_game(progress.record, tags) + "\n")
        due = game in self._due(game)
        if due:
            evaluator = self._named(self.learner.evaluator_.copy(), game)
            evaluator.save(self._snapshot_path(game))
            self._waiting[game] = self._arena.submit(self._snapshot_path(game))
        for waiting in sorted(self._waiting):
            if self._waiting[waiting].done():
                self.measured[waiting] = self._waiting.pop(waiting).result()
        if due or game % CHECKPOINT_GAMES == 0:
            self._save()
        if show is not None:
            show(progress, self.measured)

    def _named(self, evaluator: LinearEvaluator, game: int) -> LinearEvaluator:
        evaluator.name = f"{type(self.learner).__name__.lower()}-{game}"
        evaluator.provenance = {
            "learner": self.learner.identity(),
            "games": game,
            "updates": self.learner.updates_,
        }
        return evaluator

    def _save(self) -> None:
        self.folder.save(
            {
                "learner": self.learner.checkpoint(),
                "measured": {
                    str(game): [entry.as_dict() for entry in entries]
                    for game, entries in sorted(self.measured.items())
                },
            }
        )

    def best_game(self) -> int:
        """The snapshot that scored most; of equals the latest."""
        return max(
            self.measured,
            key=lambda game: (sum(entry.score for entry in self.measured[game]), game),
        )

    def _finish(self) -> LinearEvaluator:
        path = self.folder.path
        best = self.best_game()
        last = self._named(self.learner.evaluator_.copy(), self.learner.games_played_)
        last.save(path / "last.json")
        shutil.copyfile(self._snapshot_path(best), path / "best.json.new")
        (path / "best.json.new").replace(path / "best.json")
        lines = ["game,opponent,games,wins,draws,losses,score,elo,low,high\n"]
        for game, entries in sorted(self.measured.items()):
            lines += [
                f"{game},{e.opponent},{e.games},{e.wins},{e.draws},{e.losses},{e.score:.4f},"
                f"{e.elo:.1f},{e.low:.1f},{e.high:.1f}\n"
                for e in entries
            ]
        write_atomically(path / "snapshots.csv", "".join(lines))
        from learner.plots import plot_strength, plot_weights

        plot_strength(path / "strength.png", self.measured, chosen=best)
        snapshots = [
            (game, load_evaluator(self._snapshot_path(game), game=self.game,
                                  features=self.learner.features_).term_weights())
            for game in sorted(self.measured)
        ]  # fmt: skip
        plot_weights(path / "weights.png", snapshots, fixed=tuple(self.learner.fixed or ()))
        return load_evaluator(path / "best.json", game=self.game, features=self.learner.features_)

    def report(
        self, evaluator: LinearEvaluator, opponents: Sequence[str], *, games: int, threads: int = 2
    ) -> list[Strength]:
        """Measure the best evaluator on openings drawn anew, and write report.json."""
        found = measure(
            self.game,
            evaluator,
            opponents,
            games=games,
            limits=self.limits,
            seed=REPORT_SEED,
            threads=threads,
        )
        content = {
            "evaluator": evaluator.name,
            "limits": str(self.limits),
            "matches": [entry.as_dict() for entry in found],
        }
        # an Elo of infinity is not JSON
        text = json.dumps(content, indent=1).replace("Infinity", "null")
        write_atomically(self.folder.path / "report.json", text)
        return found

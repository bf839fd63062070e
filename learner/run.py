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
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from games.contract import Game
from learner.arena import Arena, Strength
from learner.folder import RunError, RunFolder
from learner.learner import Learner, Progress
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
#: Seeds of the order of the openings, which are the same positions for all three.
CHOICE_SEED, FINAL_SEED, REPORT_SEED = 1_000_003, 2_000_003, 3_000_017


class Run:
    """One training run of a linear learner in a folder.

    opponents: who snapshots are measured against. snapshots: how many are taken, evenly spread.
    snapshot_games: games of each against each opponent. finalists: how many of those with the
    highest mean score are measured again, with `final_games`, to choose the best. limits: of these
    matches.
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
        self.finalists = finalists
        self.final_games = final_games
        self.limits = limits
        self.options = options or {}
        #: games after which a snapshot was taken
        self._taken: list[int] = []
        #: game number -> strength against each opponent
        self.measured: dict[int, list[Strength]] = {}
        self._waiting: dict[int, list[Future[Strength]]] = {}

    def train(
        self,
        evaluator: Any = None,
        *,
        resume: bool = False,
        show: Callable[[Progress, dict[int, list[Strength]]], None] | None = None,
        say: Callable[[str], None] = lambda text: None,
    ) -> LinearEvaluator:
        """Learn to the end; returns the best evaluator, which is also in best.json.

        `show` is called after every game; `say` gets a line when something else begins. Ctrl-C is
        passed on: what came after the last checkpoint is played again on resuming.
        """
        self.learner.prepare(evaluator)
        state = self._load() if resume else None
        if not resume:
            self.folder.create()
        write_atomically(self.folder.path / "options.json", json.dumps(self.options, indent=1))
        self._arena = arena = Arena(self.game, limits=self.limits)
        try:
            for game in self._taken:
                if game not in self.measured:
                    self._ask(game)
            self.learner.fit(
                evaluator, resume=state, watch=lambda progress: self._watch(progress, show)
            )
            if self._waiting:
                say(f"learned; {len(self._waiting)} snapshots are still to be measured")
            for game in sorted(self._waiting):
                self._collect(game)
        finally:
            arena.close()
        self._save()
        say("choosing among the best snapshots")
        return self._finish()

    def _load(self) -> dict[str, Any]:
        """The state of the learner in the last checkpoint."""
        saved = self.folder.load()
        try:
            self._taken = [int(game) for game in saved["taken"]]
            self.measured = {
                int(game): [Strength(**entry) for entry in entries]
                for game, entries in saved["measured"].items()
            }
            return dict(saved["learner"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RunError(
                f"{self.folder.path}: expected a checkpoint of a run, found {error!r}"
            ) from None

    def _is_due(self, game: int) -> bool:
        """Whether a snapshot is taken after a game: after the last, and evenly before."""
        games, count = self.learner.games, self.snapshots
        return game * count // games > (game - 1) * count // games

    def _snapshot_path(self, game: int) -> Path:
        return self.folder.path / "snapshots" / f"{game:06d}.json"

    def _watch(
        self,
        progress: Progress,
        show: Callable[[Progress, dict[int, list[Strength]]], None] | None,
    ) -> None:
        game = progress.game
        self.folder.log(
            "log.csv",
            f"{game},{progress.updates},{progress.alpha_side},"
            f"{progress.record.outcome()},{progress.record.ply},{progress.note}\n",
        )
        if self.game.name == "checkers":
            from games.checkers.pdn import write_game

            names = ["Alpha", "Beta"] if progress.alpha_side == 0 else ["Beta", "Alpha"]
            tags = {"Event": "Plysmith", "Round": str(game), "Black": names[0], "White": names[1]}
            self.folder.log("games.pdn", write_game(progress.record, tags) + "\n")
        due = self._is_due(game)
        if due:
            evaluator = self._named(self.learner.evaluator_.copy(), game)
            evaluator.save(self._snapshot_path(game))
            self._taken.append(game)
            self._ask(game)
        for waiting in sorted(self._waiting):
            if all(future.done() for future in self._waiting[waiting]):
                self._collect(waiting)
        if due or game % CHECKPOINT_GAMES == 0:
            self._save()
        if show is not None:
            show(progress, self.measured)

    def _ask(self, game: int) -> None:
        """Have a snapshot measured."""
        self._waiting[game] = [
            self._arena.submit(
                self._snapshot_path(game), opponent, games=self.snapshot_games, seed=CHOICE_SEED
            )
            for opponent in self.opponents
        ]

    def _collect(self, game: int) -> None:
        self.measured[game] = [future.result() for future in self._waiting.pop(game)]

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
                "taken": self._taken,
                "measured": {
                    str(game): [entry.as_dict() for entry in entries]
                    for game, entries in sorted(self.measured.items())
                },
            }
        )

    def _best_snapshot(self) -> int:
        """The finalist that scored most when measured again; of equals the latest."""

        def mean(entries: Sequence[Strength]) -> float:
            return sum(entry.score for entry in entries) / max(1, len(entries))

        ranking = sorted(self.measured, key=lambda game: (mean(self.measured[game]), game))
        finalists = ranking[-self.finalists :]
        if len(finalists) == 1:
            return finalists[0]
        arena = Arena(self.game, limits=self.limits, workers=2)
        try:
            asked = {
                game: [
                    arena.submit(
                        self._snapshot_path(game), opponent, games=self.final_games, seed=FINAL_SEED
                    )
                    for opponent in self.opponents
                ]
                for game in finalists
            }
            found = {game: [f.result() for f in futures] for game, futures in asked.items()}
        finally:
            arena.close()
        return max(finalists, key=lambda game: (mean(found[game]), game))

    def _finish(self) -> LinearEvaluator:
        path = self.folder.path
        best = self._best_snapshot()
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
        names = self.learner.features_.names
        fixed = [name for name, held in zip(names, self.learner.fixed_, strict=True) if held]
        plot_weights(path / "weights.png", snapshots, fixed=fixed)
        return load_evaluator(path / "best.json", game=self.game, features=self.learner.features_)

    def report(
        self, evaluator: LinearEvaluator, opponents: Sequence[str], *, games: int
    ) -> Iterator[Strength]:
        """Measure the best evaluator on openings in a new order, and write report.json."""
        arena = Arena(self.game, limits=self.limits, workers=2)
        found: list[Strength] = []
        try:
            best = self.folder.path / "best.json"
            asked = [arena.submit(best, o, games=games, seed=REPORT_SEED) for o in opponents]
            for future in asked:
                found.append(future.result())
                yield found[-1]
        finally:
            arena.close()
        content = {
            "evaluator": evaluator.name,
            "limits": str(self.limits),
            "matches": [entry.as_dict() for entry in found],
        }
        # an Elo of infinity is not JSON
        text = json.dumps(content, indent=1).replace("-Infinity", "null")
        write_atomically(self.folder.path / "report.json", text.replace("Infinity", "null"))

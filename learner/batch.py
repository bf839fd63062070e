"""Batch learning: play many games, keep the positions, fit the weights to all of them at once.

In rounds: the games of a round are played with what the rounds before have taught, by as many
workers as there are; then the weights are fitted to the stored positions of the last rounds
("Texel tuning", Österlund 2014; see `learner.fit`). What the rounds share, and what
`learner.network_fit` does otherwise, is only how a model is fitted to rows of a store.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from learner.filters import Filter, distinct
from learner.fit import LogisticFit
from learner.learner import Learner, Progress, feature_set
from learner.model import numbers_of
from learner.rollout import Rollout, slight_noise
from learner.self_play import GAMES_PER_TASK, Lesson, Task, play_task
from learner.shards import Rows
from learner.store import PositionStore
from learner.targets import fit_scale
from play.workers import Workers
from search import Evaluator, LinearEvaluator, as_evaluator

__all__ = ["BatchFit", "BatchLearner"]


#: Players who look one ply ahead draw what is won: see `learner.rollout`.
ROLLOUT_DEPTH = 3


class BatchLearner(Learner):
    """What learners from stored positions have in common.

    Beside the options of every learner: round_games: games between two fits.
    keep_rounds: how many of the last rounds are learned from. blend: the share of the game's
    result in a target, against the value that search backed up. games_per_report: games between
    two reports. most_plies: longer games are drawn. decide: a game that search has proved won ends
    there. store: folder of the positions (None: a temporary one). workers: who plays (None: this
    thread).

    Learned from are quiet positions, each once: those that are the same, also by symmetry, count as
    one with the mean of their labels. decided: also those that search has proved won or lost, which
    tie values to the end of the game.

    rollouts: games in which each position is played out by what was learned so far, at three plies;
    their mean takes the place of the result of its own game (`learner.rollout`). Learned from are
    then at most `rollout_positions` positions a round, drawn at random. 0 for no rollouts: without
    dice the same time spent on more games teaches more.

    After `fit`: `evaluator_`, `store_`, and `rounds_`, what each round found, as plain numbers.
    """

    round_games: int
    keep_rounds: int
    blend: float
    decided: bool
    rollouts: int = 0
    rollout_positions: int = 4000
    games_per_report: int
    most_plies: int
    decide: bool
    store: Any
    workers: Workers | None

    # --- what a subclass says -----------------------------------------------------------------

    def _begin(self, evaluator: Any) -> Evaluator:
        """The evaluator to start from."""
        raise NotImplementedError

    def _fit_to(self, rows: Rows, number: int) -> dict[str, float]:
        """Change the evaluator's weights to fit the rows after round `number`; what was found."""
        raise NotImplementedError

    def _weights(self) -> list[float]:
        """The evaluator's weights as a list."""
        raise NotImplementedError

    def _set_weights(self, weights: list[float]) -> None:
        """The inverse of `_weights`."""
        raise NotImplementedError

    # --- learning -----------------------------------------------------------------------------

    def fit(
        self,
        evaluator: Any = None,
        *,
        resume: dict[str, Any] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> BatchLearner:
        """As in `Learner`; `watch` is called after every `games_per_report` games."""
        self.prepare(evaluator)
        if resume is not None:
            self._resume(resume)
        elif len(self.store_):
            raise ValueError(f"store: expected an empty folder, found {len(self.store_)} positions")
        openings = islice(self._openings(), self.games_played_, None)
        workers = self.workers
        with nullcontext(workers) if workers is not None else Workers(jobs=1) as at_work:
            while self.games_played_ < self.games:
                self._round(at_work, openings, watch)
        self.store_.flush()
        return self

    def prepare(self, evaluator: Any = None) -> None:
        game = self._load_game()
        self._check_options()
        self.evaluator_ = self._begin(evaluator)
        folder = self.store
        if folder is None:
            folder = tempfile.mkdtemp(prefix="plysmith-positions-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.store_ = PositionStore(Path(folder), game)
        self.rounds_: list[dict[str, float]] = []
        self.games_played_ = 0
        self.updates_ = 0

    def _check_options(self) -> None:
        super()._check_options()
        for name in ("round_games", "keep_rounds", "games_per_report", "most_plies"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: expected at least 1, found {getattr(self, name)}")
        if not 0 <= self.blend <= 1:
            raise ValueError(f"blend: expected 0 to 1, found {self.blend}")
        for name, least in (("rollouts", 0), ("rollout_positions", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}: expected at least {least}, found {getattr(self, name)}")

    def _round(
        self,
        workers: Workers,
        openings: Iterator[tuple[Any, ...]],
        watch: Callable[[Progress], None] | None,
    ) -> None:
        """Play what is missing of a round, in one stream that keeps all workers busy, and learn."""
        until = min(self.games, (self.games_played_ // self.round_games + 1) * self.round_games)
        reported = self.games_played_
        for lessons in workers.map(play_task, self._tasks(openings, until - reported)):
            self._keep(lessons)
            self.games_played_ += len(lessons)
            note = self._end_round(workers) if self.games_played_ == until else ""
            if note or self.games_played_ - reported >= self.games_per_report:
                reported = self.games_played_
                if watch is not None:
                    record = lessons[-1].played.record()
                    watch(Progress(self.games_played_, self.games, record, self.updates_, note))

    def _tasks(self, openings: Iterator[tuple[Any, ...]], games: int) -> Iterator[Task]:
        """A task for every few games, the evaluator as it is now."""
        while games > 0:
            some = list(islice(openings, min(GAMES_PER_TASK, games)))
            games -= len(some)
            yield Task(
                self.game_,
                self.evaluator_,
                None,
                some,
                self.depth,
                self.nodes,
                self.most_plies,
                self.decide,
            )

    def _keep(self, lessons: list[Lesson]) -> None:
        """Store the positions that were searched."""
        for number, lesson in enumerate(lessons, start=self.games_played_):
            played = lesson.played
            plies = slice(played.opening, len(played.moves))
            if plies.start < plies.stop:
                self.store_.append(
                    played.positions[plies],
                    value=played.values[plies],
                    result=np.sign(played.outcomes()[plies]),
                    ply=np.arange(plies.start, plies.stop),
                    game_number=number,
                )
            self.updates_ += plies.stop - plies.start

    def _end_round(self, workers: Workers) -> str:
        number = len(self.rounds_)
        self.store_.flush()
        begun = (self.games_played_ - 1) // self.round_games + 1
        first_game = max(0, begun - self.keep_rounds) * self.round_games
        wanted = Filter(quiet=True, undecided=not self.decided, first_game=first_game)
        rows = distinct(self.game_, self.store_.load(keep=wanted))
        if not len(rows):
            raise ValueError("expected quiet positions to learn from, found none")
        if self.rollouts:
            rows = self._rolled_out(rows, workers)
        found = {"positions": float(len(rows)), **self._fit_to(rows, number)}
        self.rounds_.append(found)
        return f"round {number + 1}: " + ", ".join(f"{k} {v:.6g}" for k, v in found.items())

    def _rolled_out(self, rows: Rows, workers: Workers) -> Rows:
        """Some of the rows, drawn by chance, with what the evaluator makes of them in rollouts."""
        random = np.random.default_rng((self.seed, len(self.rounds_)))
        chosen = np.sort(random.permutation(len(rows))[: self.rollout_positions])
        rollout = Rollout(
            self.evaluator_,
            games=self.rollouts,
            depth=min(ROLLOUT_DEPTH, self.depth or ROLLOUT_DEPTH),
            noise=slight_noise(rows.value),
            most_plies=self.most_plies,
            decide=self.decide,
            seed=self.seed,
        )
        return rollout.label(rows.take(chosen), workers=workers)

    # --- state --------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        self.store_.flush()
        return {
            "weights": self._weights(),
            "positions": len(self.store_),
            "rounds_done": [dict(found) for found in self.rounds_],
        }

    def set_state(self, state: dict[str, Any]) -> None:
        self._set_weights(state["weights"])
        self.rounds_ = [dict(found) for found in state["rounds_done"]]
        # last, for it cannot be undone
        self.store_.truncate(state["positions"])

    def _resume(self, state: dict[str, Any]) -> None:
        try:
            rounds = [dict(found) for found in state["rounds_done"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"expected a state of this learner, found {error!r}") from None
        # their number differs from what a fresh learner has
        super()._resume({**state, "rounds_done": []})
        self.rounds_ = rounds


def scale_of(rows: Rows) -> float | None:
    """K of the rows (see `fit_scale`); None where their results do not rise with their values.

    That is so where all values are 0, in the first round of a learner that starts from nothing,
    and where all games are drawn, in the last of one that has learned a drawn game.
    """
    try:
        return fit_scale(rows.value, rows.result, sample_weight=rows.count)
    except ValueError:
        return None


class BatchFit(BatchLearner):
    """Weights over terms, fitted by logistic regression; options of the fit are `LogisticFit`'s.

    features: a feature set or its name. method, loss, alpha: see `LogisticFit`. fixed: weights
    that are given and never learned, by term (None: a man of the set `classic` is 1); they set the
    unit. Without them it is that of the first round's values; where these say nothing, K is 1.
    """

    def __init__(
        self,
        game: Any = "checkers",
        *,
        games: int = 6000,
        depth: int | None = 5,
        nodes: int | None = None,
        seed: int = 0,
        features: Any = "classic",
        fixed: dict[str, float] | None = None,
        round_games: int = 2000,
        keep_rounds: int = 2,
        blend: float = 0.5,
        decided: bool = True,
        rollouts: int = 0,
        rollout_positions: int = 4000,
        method: str = "lbfgs",
        loss: str = "cross_entropy",
        alpha: float = 1e-5,
        games_per_report: int = 32,
        opening_plies: int = 4,
        within: float | None = None,
        judge: Any = "classic",
        most_plies: int = 200,
        decide: bool = True,
        store: Any = None,
        workers: Any = None,
    ) -> None:
        self.game = game
        self.games = games
        self.depth = depth
        self.nodes = nodes
        self.seed = seed
        self.features = features
        self.fixed = fixed
        self.round_games = round_games
        self.keep_rounds = keep_rounds
        self.blend = blend
        self.decided = decided
        self.rollouts = rollouts
        self.rollout_positions = rollout_positions
        self.method = method
        self.loss = loss
        self.alpha = alpha
        self.games_per_report = games_per_report
        self.opening_plies = opening_plies
        self.within = within
        self.judge = judge
        self.most_plies = most_plies
        self.decide = decide
        self.store = store
        self.workers = workers

    def _begin(self, evaluator: Any) -> LinearEvaluator:
        features = feature_set(self.game_, self.features)
        fixed = self.fixed
        if fixed is None:
            fixed = {"men": 1.0} if "men" in features.terms else {}
        self.features_ = features
        self._held = dict(fixed)
        self._fitter()._check(1.0)
        weights = dict.fromkeys(features.names, 0.0)
        if evaluator is not None:
            given = as_evaluator(self.game_, evaluator)
            if not isinstance(given, LinearEvaluator) or given.features.names != features.names:
                raise ValueError(
                    f"expected a linear evaluator over {', '.join(features.names)} to start from,"
                    f" found {given!r}"
                )
            weights = given.term_weights()
        self._linear = LinearEvaluator(
            self.game_, features, {**weights, **fixed}, name=type(self).__name__.lower()
        )
        return self._linear

    def _fit_to(self, rows: Rows, number: int) -> dict[str, float]:
        K = self.rounds_[-1]["K"] if self.rounds_ else 1.0
        # fitted anew each time, without a fixed weight, K would grow for ever as values shrink
        find = (any(self._held.values()) or not self.rounds_) and scale_of(rows) is not None
        fitted = self._fitter(None if find else K).fit_rows(rows)
        self._linear.weights[:] = fitted.weights_
        self.fit_ = fitted
        return {"K": float(fitted.K_), "loss": float(fitted.loss_)}

    def _fitter(self, scale: float | None = None) -> LogisticFit:
        return LogisticFit(
            self.features_,
            method=self.method,
            loss=self.loss,
            blend=self.blend,
            scale=scale,
            alpha=self.alpha,
            fixed=self._held,
            seed=self.seed,
        )

    def _weights(self) -> list[float]:
        return self._linear.weights.tolist()  # type: ignore[no-any-return]

    def _set_weights(self, weights: list[float]) -> None:
        self._linear.weights[:] = numbers_of(weights, len(self._linear.weights))

"""Batch learning: play many games, store the positions, fit the weights to all of them at once.

The games of a round are played with the weights learned in earlier rounds, in one stream of tasks,
so that no worker waits for another before the round ends; then the weights are fitted to the stored
positions of the last rounds ("Texel tuning", Österlund 2014; see `learner.fit.logistic`).
`learner.rounds.network_fit` differs only in fitting a network.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from learner.fit.logistic import LogisticFit
from learner.fit.targets import fit_scale
from learner.frame import Progress, last_round
from learner.game_learner import MAN, feature_set, linear_start
from learner.models.model import numbers_of
from learner.multiplayer_play import late_starts
from learner.options import ranged
from learner.positions.filters import Filter, distinct
from learner.positions.shards import Rows
from learner.positions.store import PositionStore, own_folder
from learner.rounds.playouts import Rollout, slight_noise
from learner.rounds.tree_rows import lesson_rows
from learner.self_play import Lesson, Task, Teacher
from learner.task_learner import TaskLearner
from play.workers import Workers
from search import Evaluator

__all__ = ["BatchFit", "BatchLearner"]


#: Players that look one ply ahead draw won positions, see `learner.rounds.playouts`.
ROLLOUT_DEPTH = 3


@dataclass(kw_only=True, eq=False, repr=False)
class BatchLearner(TaskLearner):
    """The base class of learners that fit a model to stored positions.

    Each round learns from the quiet positions of the last rounds, also from those that search has
    proven, which tie values to the end of the game. Positions that are equal, also by
    symmetry, become one row with the mean of their labels. Options in addition to those of
    `TaskLearner`:

    round_games: games of a round.
    keep_rounds: number of the last rounds to learn from.
    games_per_report: games between two reports.
    blend: share of the game's result in a target, 0 to 1; the rest is the value that search backed
        up.
    store: folder of the positions (default: a temporary one).
    rollouts: number of games from each position, played at three plies with the weights learned so
        far; their mean replaces the result of the position's own game (`learner.rounds.playouts`).
        0 for none: in games without dice, more games are a better use of the time.
    rollout_positions: with `rollouts`, at most this many positions per round, drawn at random.

    With more than two players a position is worth to each its chance to come first: it is learned
    from as each player sees it, and the result is whether he came first. So `blend` must be 1.

    After `fit`: `evaluator_`, `store_`, and `rounds_`, the figures of each round as plain numbers.
    """

    takes_many = True

    games: int = 6000
    round_games: int = ranged(low=1)
    keep_rounds: int = ranged(low=1)
    games_per_report: int = ranged(32, 1)
    blend: float = ranged(0.5, 0, 1)
    opening_plies: int = 4
    decide: bool = True
    store: Any = None
    #: fixed values for learners that do not offer these options
    rollouts: int = ranged(0, 0, init=False)
    rollout_positions: int = ranged(4000, 1, init=False)

    # --- what a subclass says -----------------------------------------------------------------

    def _player(self) -> Evaluator:
        """Returns the evaluator that plays the games of a round."""
        return self.evaluator_

    def _teacher(self, number: int) -> Teacher | None:
        """Returns the teacher that labels a round's games, or None."""
        return None

    def _fit_to(self, rows: Rows, number: int) -> dict[str, Any]:
        """Fit the evaluator to the rows after round `number`; returns figures to report."""
        raise NotImplementedError

    def _weights(self) -> Any:
        """The evaluator's weights, as plain JSON values."""
        raise NotImplementedError

    def _set_weights(self, weights: Any) -> None:
        """The inverse of `_weights`."""
        raise NotImplementedError

    def begin(self, evaluator: Any) -> None:
        self.rounds_: list[dict[str, Any]] = []
        self.store_ = PositionStore(own_folder(self, self.store), self.game_)
        #: the stored rows of the rounds that are learned from
        self._recent: list[Rows] = []

    def learn(self) -> Generator[Progress, None, None]:
        if self.games_played_:
            begun = self.round_of(self.games_played_) + 1
            first = self.games_before(max(0, begun - self.keep_rounds - 1))
            # bounds count only in the round in which they are found
            passing = Filter(first_bounded=self.games_before(begun - 1), first_game=first)
            self._recent = [self.store_.load(keep=passing)]
        elif len(self.store_):
            raise ValueError(f"store: expected an empty folder, found {len(self.store_)} positions")
        yield from super().learn()
        self.store_.flush()

    # --- rounds -------------------------------------------------------------------------------

    def games_before(self, number: int) -> int:
        """Returns the number of games before round `number`, from 0."""
        return number * self.round_games

    def round_of(self, game: int) -> int:
        """Returns the number of the round, from 0, that game `game` belongs to."""
        return game // self.round_games

    def round_end(self) -> int:
        return self.games_before(self.round_of(self.games_played_) + 1)

    def report_games(self) -> int:
        return self.games_per_report

    def first_of_round(self) -> int:
        """Returns the number of the first game of the round that the last game belongs to."""
        return self.games_before(self.round_of(max(0, self.games_played_ - 1)))

    def first_kept(self) -> int:
        """Returns the number of the first game to be learned from at the end of this round."""
        begun = self.round_of(max(0, self.games_played_ - 1)) + 1
        return self.games_before(max(0, begun - self.keep_rounds))

    def nodes_of(self, number: int) -> int | None:
        """Returns the most nodes of a search in round `number`, or None for no limit."""
        return self.nodes

    def _task(self) -> Task:
        number = self.round_of(self.games_played_)
        teacher = self._teacher(number)
        return Task(
            self.game_, self._player(), None, self.depth, self.nodes_of(number), self.most_plies,
            self.decide, lookup=self.lookup_, techniques=self.techniques_,
            teacher=teacher, traces=teacher is not None,
        )  # fmt: skip

    def _check_options(self) -> None:
        super()._check_options()
        if self.rollouts and self.game_.dice:
            raise ValueError(f"rollouts: expected 0 in a game with dice, found {self.rollouts}")
        if self.game_.players > 2:
            for name, only in (("blend", 1), ("rollouts", 0)):
                if getattr(self, name) != only:
                    raise ValueError(
                        f"{name}: expected {only} for more than two players, found"
                        f" {getattr(self, name)}"
                    )

    def _openings(self) -> Iterator[tuple[Any, ...]]:
        if self.game_.players > 2:
            return late_starts(self.seed, self.round_games)
        return super()._openings()

    def _keep(self, lessons: list[Lesson]) -> None:
        """Store the positions that were searched."""
        for number, lesson in enumerate(lessons, start=self.games_played_):
            rows = self._rows(lesson, number)
            self.store_.extend(rows)
            self._recent.append(rows)
            self.updates_ += len(rows)

    def _rows(self, lesson: Lesson, number: int) -> Rows:
        """Returns what is stored of game `number`."""
        return lesson_rows(lesson, number)

    def _end_round(self, workers: Workers) -> dict[str, Any]:
        self.rounds_.append(self._fit_round(workers))
        return last_round(self.rounds_)

    def _fit_round(self, workers: Workers) -> dict[str, Any]:
        """Learn from the stored games of the last rounds; returns figures for the report."""
        number = len(self.rounds_)
        passing = Filter(first_bounded=self.first_of_round(), first_game=self.first_kept())
        width = len(self.game_.start())
        recent = passing.apply(self.game_, Rows.concatenate(self._recent, width))
        self._recent = [recent]
        passing = Filter(first_bounded=0, quiet=True)
        rows = distinct(self.game_, passing.apply(self.game_, recent))
        if not len(rows):  # all games were decided by their openings
            return {"positions": 0.0}
        if self.rollouts:
            rows = self._rolled_out(rows, workers)
        return {"positions": float(len(rows)), **self._fit_to(rows, number)}

    def _rolled_out(self, rows: Rows, workers: Workers) -> Rows:
        """Returns a random sample of the rows, with results of rollouts."""
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

    def _get_state(self) -> dict[str, Any]:
        self.store_.flush()
        rounds = [dict(figures) for figures in self.rounds_]
        return {
            "rounds_done": rounds, "weights": self._weights(), "positions": len(self.store_),
        }  # fmt: skip

    def _set_state(self, state: dict[str, Any]) -> None:
        self.rounds_ = [dict(figures) for figures in state["rounds_done"]]
        self._set_weights(state["weights"])
        # last, because it cannot be undone
        self.store_.truncate(state["positions"])


def scale_of(rows: Rows) -> float | None:
    """Returns K of the rows (see `fit_scale`), or None if results do not rise with values.

    They do not if all values are 0, as in the first round of a learner that starts from nothing, or
    if all games are drawn, as in late rounds of a drawn game.
    """
    try:
        return fit_scale(rows.value, rows.result, sample_weight=rows.count)
    except ValueError:
        return None


@dataclass(kw_only=True, eq=False, repr=False)
class BatchFit(BatchLearner):
    """Weights over terms, fitted by logistic regression to the positions of the last rounds.

    features: a feature set or its name (default: the game's first).
    fixed: weights by term that are never learned and set the unit (default: 1 for the term `men` if
        the set has it). With none, the unit is that of the values of the first round; K is 1 if
        these are all equal or do not predict the results.
    loss, alpha: see `LogisticFit`.
    K: a value predicts the result sigmoid(K * value) (default: fitted to the results of each
    round).

    In checkers from material, fitting the search's value alone (blend 0, K 4/3, squared loss) over
    many small rounds played best (docs/notebook.md), because each round carries values a few plies
    further.

    In games with dice, values are exact averages over all rolls, in points; the result that `blend`
    mixes in says who won, not by how much.
    """

    features: Any = None
    fixed: dict[str, float] | None = None
    round_games: int = 100
    keep_rounds: int = 6
    rollouts: int = 0
    rollout_positions: int = 4000
    loss: str = "cross_entropy"
    alpha: float = ranged(1e-5, 0)
    K: float | None = ranged(None, above=0)

    usual_fixed: ClassVar[dict[str, float]] = MAN
    takes_dice = True

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        features = feature_set(self.game_, self.features)
        self.features_ = features
        self._linear, self._held = linear_start(
            self.game_, features, self.fixed, evaluator, usual=self.usual_fixed,
            name=type(self).__name__.lower(),
        )  # fmt: skip
        self._fitter().check()
        self.evaluator_ = self._linear

    def _fit_to(self, rows: Rows, number: int) -> dict[str, Any]:
        K = self.rounds_[-1]["K"] if self.rounds_ else 1.0
        # refitted each time without a fixed weight, K would grow without bound as values shrink
        find = (any(self._held.values()) or not self.rounds_) and scale_of(rows) is not None
        # a position of several games has a row for each, so that each game counts alike
        counts = np.bincount(rows.game_number)[rows.game_number]
        weights = rows.count / counts if self.game_.players > 2 else None
        fitted = self._fitter(self.K or (None if find else K)).fit_rows(rows, weights)
        self._linear.weights[:] = fitted.weights_
        self.fit_ = fitted
        return {"K": float(fitted.K_), "loss": float(fitted.loss_)}

    def _fitter(self, scale: float | None = None) -> LogisticFit:
        return LogisticFit(
            self.features_,
            loss=self.loss,
            blend=self.blend,
            scale=scale,
            alpha=self.alpha,
            fixed=self._held,
        )

    def _weights(self) -> Any:
        return self._linear.weights.tolist()

    def _set_weights(self, weights: Any) -> None:
        self._linear.weights[:] = numbers_of(weights, len(self._linear.weights))

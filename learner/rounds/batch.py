"""Batch learning: weights fitted to the stored positions of many games, all at once.

After each round of games (`learner.rounds.frame`) all weights are fitted to the positions of the
last rounds ("Texel tuning", Österlund 2014; see `learner.regression.logistic`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from learner.game_learner import MAN, feature_set, linear_start
from learner.models.model import numbers_of
from learner.options import ranged
from learner.positions.shards import Rows
from learner.regression.logistic import LogisticFit
from learner.rounds.frame import RoundsLearner, scale_of
from search import LinearEvaluator

__all__ = ["BatchFit", "LinearFit"]


@dataclass
class LinearFit:
    """The fit of weights over terms to the positions of each round.

    evaluator: the weights.
    fixed: weights by term that stay as they are.
    loss, blend, alpha: see `LogisticFit`.
    K: see `BatchFit`.

    Raises ValueError for an option that is not allowed, and where no term is left to learn.
    """

    evaluator: LinearEvaluator
    fixed: Mapping[str, float]
    loss: str
    blend: float
    alpha: float
    K: float | None

    def __post_init__(self) -> None:
        self._regression(None).check()

    def fit(
        self,
        rows: Rows,
        rounds: Sequence[Mapping[str, Any]],
        *,
        reserve: Sequence[str] = (),
        counts: ArrayLike | None = None,
    ) -> LogisticFit:
        """Returns the weights that fit the rows of a round; the evaluator's stay as they are.

        rounds: the figures of the rounds before this one.
        reserve: terms whose weights become 0.
        counts: the weight of each row (default: its `count`).
        """
        last = next((figures["K"] for figures in reversed(rounds) if "K" in figures), None)
        # refitted each time without a fixed weight, K would grow without bound as values shrink
        free = any(self.fixed.values()) or last is None
        given = None if free and scale_of(rows) is not None else last or 1.0
        return self._regression(self.K or given, reserve).fit_rows(rows, counts)

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
        """Returns the rows that are stored of game `number`."""
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

    def get_state(self) -> list[float]:
        """Returns the weights, as plain JSON values."""
        return self.evaluator.weights.tolist()  # type: ignore[no-any-return, unused-ignore]

    def set_state(self, weights: Any) -> None:
        """Take the weights that `get_state` returned."""
        self.evaluator.weights[:] = numbers_of(weights, len(self.evaluator.weights))


@dataclass(kw_only=True, eq=False, repr=False)
class BatchFit(RoundsLearner):
    """Weights over terms, fitted by logistic regression to the positions of the last rounds.

    inputs: a feature set or its name (default: the game's first).
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

    inputs: Any = None
    fixed: dict[str, float] | None = None
    round_games: int = 100
    keep_rounds: int = 6
    loss: str = "cross_entropy"
    alpha: float = ranged(1e-5, 0)
    K: float | None = ranged(None, above=0)
    evaluator_: LinearEvaluator = field(init=False)

    takes_dice = True
    takes_many = True

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        self.features_ = feature_set(self.game_, self.inputs)
        self.evaluator_, fixed = linear_start(
            self.game_, self.features_, self.fixed, evaluator, usual=MAN, name="batchfit"
        )
        self._fitter = LinearFit(self.evaluator_, fixed, self.loss, self.blend, self.alpha, self.K)

    def fit_rows(self, rows: Rows) -> dict[str, Any]:
        counts = None
        if self.game_.players > 2:
            # a position of several games has a row for each, so that each game counts alike
            counts = rows.count / np.bincount(rows.game_number)[rows.game_number]
        fitted = self._fitter.fit(rows, self.rounds_, counts=counts)
        self.evaluator_.weights[:] = fitted.weights_
        return {"K": float(fitted.K_), "loss": float(fitted.loss_)}

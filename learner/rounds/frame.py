"""Learning in rounds: play games, store the positions, fit an evaluator to all of them at once.

The games of a round are played with the evaluator of the round before. A learner has a player of
games (`learner.player`), a store of positions (`learner.positions`), and a fit of its own, which
its file holds.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from learner.frame import Progress, last_round
from learner.game_learner import GameLearner, check_plies
from learner.multiplayer_play import late_starts
from learner.options import ranged
from learner.positions.filters import Filter, distinct
from learner.positions.shards import Rows
from learner.positions.store import PositionStore, own_folder
from learner.regression.targets import fit_scale
from learner.rounds.tree_rows import lesson_rows
from learner.self_play import Lesson, Task, Teacher
from play.workers import Workers
from search import Evaluator, Lookup, Techniques

__all__ = ["RoundsLearner", "scale_of"]


@dataclass(kw_only=True, eq=False, repr=False)
class RoundsLearner(GameLearner):
    """The base class of learners that fit an evaluator to stored positions.

    Each round learns from the quiet positions of the last rounds, also from those that search has
    proven, which tie values to the end of the game. Positions that are equal, also by
    symmetry, become one row with the mean of their labels. Options in addition to those of
    `GameLearner`:

    round_games: games of a round.
    keep_rounds: number of the last rounds to learn from.
    games_per_report: games between two reports.
    blend: share of the game's result in a target, 0 to 1; the rest is the value that search backed
        up.
    store: folder of the positions (default: a temporary one).

    With more than two players a position is worth to each its chance to come first: it is learned
    from as each player sees it, and the result is whether he came first. So `blend` must be 1.

    After `fit`: `evaluator_`, `store_`, and `rounds_`, the figures of each round as plain numbers.
    """

    games: int = 6000
    round_games: int = ranged(low=1)
    keep_rounds: int = ranged(low=1)
    games_per_report: int = ranged(32, 1)
    blend: float = ranged(0.5, 0, 1)
    opening_plies: int = 4
    most_plies: int = 200
    decide: bool = True
    workers: Workers | None = None
    store: Any = None

    #: fits the evaluator; made by `begin`, with `get_state` and `set_state`
    _fitter: Any = field(init=False)

    # --- what a subclass says -----------------------------------------------------------------

    def fit_rows(self, rows: Rows) -> dict[str, Any]:
        """Fit the evaluator to rows of the last rounds; returns figures to report.

        `rounds_` holds the figures of the rounds before this one.
        """
        raise NotImplementedError

    def player_of(self, number: int) -> Evaluator:
        """Returns the evaluator that plays the games of round `number`."""
        return self.evaluator_

    def teacher_of(self, number: int) -> Teacher | None:
        """Returns the teacher that labels the games of round `number`, or None."""
        return None

    def nodes_of(self, number: int) -> int | None:
        """Returns the most nodes of a search in round `number`, or None for no limit."""
        return self.nodes

    def search_with(self) -> tuple[Lookup | None, Techniques | None]:
        """Returns the lookup and the selective techniques of the searches."""
        return None, None

    def games_before(self, number: int) -> int:
        """Returns the number of games before round `number`, from 0."""
        return number * self.round_games

    def round_of(self, game: int) -> int:
        """Returns the number of the round, from 0, that game `game` belongs to."""
        return game // self.round_games

    def rows_of_game(self, lesson: Lesson, number: int) -> Rows:
        """Returns what is stored of game `number`."""
        return lesson_rows(lesson, number)

    # --- rounds -------------------------------------------------------------------------------

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
        with self.playing(self.workers) as player:
            while (first := self.games_played_) < self.games:
                number = self.round_of(first)
                until = min(self.games, self.games_before(number + 1))
                reported = first
                for lessons in player.play(self._task(number), until - first):
                    self._keep(lessons)
                    self.games_played_ += len(lessons)
                    done = self.games_played_ == until
                    if done:
                        self._end_round(number)
                    if done or self.games_played_ - reported >= self.games_per_report:
                        reported = self.games_played_
                        figures = last_round(self.rounds_) if done else None
                        yield self.progress(lessons[-1].played.record(), figures)
        self.store_.flush()

    def together(self) -> int:
        return self.games_before(1)

    def _task(self, number: int) -> Task:
        teacher, (lookup, techniques) = self.teacher_of(number), self.search_with()
        return Task(
            self.game_,
            self.player_of(number),
            None,
            self.depth,
            self.nodes_of(number),
            self.most_plies,
            self.decide,
            lookup=lookup,
            techniques=techniques,
            teacher=teacher,
            traces=teacher is not None,
        )

    def _keep(self, lessons: list[Lesson]) -> None:
        """Store the positions that were searched."""
        for number, lesson in enumerate(lessons, start=self.games_played_):
            rows = self.rows_of_game(lesson, number)
            self.store_.extend(rows)
            self._recent.append(rows)
            self.updates_ += len(rows)

    def _end_round(self, number: int) -> None:
        """Learn from the stored games of the last rounds."""
        first = self.games_before(max(0, number + 1 - self.keep_rounds))
        passing = Filter(first_bounded=self.games_before(number), first_game=first)
        recent = Rows.concatenate(self._recent, len(self.game_.start()))
        recent = passing.apply(self.game_, recent)
        self._recent = [recent]
        passing = Filter(first_bounded=0, quiet=True)
        rows = distinct(self.game_, passing.apply(self.game_, recent))
        figures: dict[str, Any] = {"positions": 0.0}
        if len(rows):  # else all games were decided by their openings
            figures = {"positions": float(len(rows)), **self.fit_rows(rows)}
        self.rounds_.append(figures)

    def _check_options(self) -> None:
        super()._check_options()
        check_plies(self.most_plies, self.opening_plies)
        if self.game_.players > 2 and self.blend != 1:
            raise ValueError(f"blend: expected 1 for more than two players, found {self.blend}")

    def _openings(self) -> Iterator[tuple[Any, ...]]:
        if self.game_.players > 2:
            return late_starts(self.seed, self.round_games)
        return super()._openings()

    # --- state --------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        self.store_.flush()
        rounds = [dict(figures) for figures in self.rounds_]
        weights = self._fitter.get_state()
        return {"rounds_done": rounds, "weights": weights, "positions": len(self.store_)}

    def _set_state(self, state: dict[str, Any]) -> None:
        self.rounds_ = [dict(figures) for figures in state["rounds_done"]]
        self._fitter.set_state(state["weights"])
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

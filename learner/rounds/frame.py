"""Learning in rounds: play games with the weights of earlier rounds, then learn from them.

The games of a round are one stream of tasks, so that no worker waits for another before the round
ends (`learner.task_learner`); a learner keeps those of several rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from learner.frame import round_note
from learner.options import ranged
from learner.self_play import Task, Teacher
from learner.task_learner import TaskLearner
from play.workers import Workers
from search import Evaluator

__all__ = ["RoundLearner"]


@dataclass(kw_only=True, eq=False, repr=False)
class RoundLearner(TaskLearner):
    """The base class of learners that learn from the games of several rounds.

    Options beside those of `TaskLearner`:

    round_games: games of a round.
    keep_rounds: number of the last rounds to learn from.
    games_per_report: games between two reports.

    After `fit`: `evaluator_`, and `rounds_`, the figures of each round as plain values.
    """

    round_games: int = ranged(low=1)
    keep_rounds: int = ranged(low=1)
    games_per_report: int = ranged(32, 1)

    # --- what a subclass says -----------------------------------------------------------------

    def _player(self) -> Evaluator:
        """Returns the evaluator that plays the games of a round."""
        return self.evaluator_

    def _teacher(self, number: int) -> Teacher | None:
        """Returns what takes labels from the searches of a game in a round (None: none)."""
        return None

    def _fit_round(self, workers: Workers) -> dict[str, Any]:
        """Learn from the stored games of the last rounds; returns figures for the report."""
        raise NotImplementedError

    # --- learning -----------------------------------------------------------------------------

    def begin(self, evaluator: Any) -> None:
        self.rounds_: list[dict[str, Any]] = []

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
        """Returns the most nodes of a search in round `number`; None for no limit."""
        return self.nodes

    def _task(self) -> Task:
        number = self.round_of(self.games_played_)
        return Task(
            self.game_,
            self._player(),
            None,
            self.depth,
            self.nodes_of(number),
            self.most_plies,
            self.decide,
            lookup=self.lookup_,
            techniques=self.techniques_,
            teacher=self._teacher(number),
        )

    def _end_round(self, workers: Workers) -> str:
        self.rounds_.append(self._fit_round(workers))
        return round_note(self.rounds_)

    # --- state --------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        return {"rounds_done": [dict(figures) for figures in self.rounds_]}

    def set_state(self, state: dict[str, Any]) -> None:
        self.rounds_ = [dict(figures) for figures in state["rounds_done"]]

"""Learning in rounds: play games with the weights of earlier rounds, then learn from them.

The games of a round are one stream of tasks, so that no worker waits for another before the round
ends. The evaluator does not change within a round, so that the result depends only on the options
and the seed, not on the workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from learner.learner import Learner, Progress, check_plies
from learner.options import ranged
from learner.self_play import Lesson, Task, Teacher, in_tasks, play_task
from play.workers import Workers
from search import Evaluator, Lookup, Techniques

__all__ = ["RoundLearner"]


@dataclass(kw_only=True, eq=False, repr=False)
class RoundLearner(Learner):
    """The base class of learners that play in rounds.

    Options beside those of `Learner`:

    round_games: games of a round.
    keep_rounds: number of the last rounds to learn from.
    games_per_report: games between two reports.
    most_plies: longer games are drawn.
    workers: the `Workers` that play (None: this thread).
    decide: whether a game ends once search has proven it won (in most of these learners).

    After `fit`: `evaluator_`, and `rounds_`, the figures of each round as plain values.
    """

    round_games: int = ranged(low=1)
    keep_rounds: int = ranged(low=1)
    games_per_report: int = ranged(32, 1)
    most_plies: int = 200
    workers: Workers | None = None
    #: fixed value for learners that do not offer this option
    decide: bool = field(default=False, init=False)
    #: lookup and selective techniques of the searches, set by subclasses
    lookup_: Lookup | None = field(default=None, init=False)
    techniques_: Techniques | None = field(default=None, init=False)

    # --- what a subclass says -----------------------------------------------------------------

    def _begin(self, evaluator: Any) -> Evaluator:
        """Returns the evaluator to start from."""
        raise NotImplementedError

    def _player(self) -> Evaluator:
        """Returns the evaluator that plays the games of a round."""
        return self.evaluator_

    def _teacher(self, number: int) -> Teacher | None:
        """Returns what takes labels from the searches of a game in a round (None: none)."""
        return None

    def _keep(self, lessons: list[Lesson]) -> None:
        """Store what games teach; their numbers begin with `games_played_`."""
        raise NotImplementedError

    def _end_round(self, workers: Workers) -> dict[str, Any]:
        """Learn from the stored games of the last rounds; returns figures for the report."""
        raise NotImplementedError

    # --- learning -----------------------------------------------------------------------------

    def fit(
        self,
        evaluator: Any = None,
        *,
        resume: dict[str, Any] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> RoundLearner:
        """As in `Learner`; `watch` is called after every `games_per_report` games."""
        self.prepare(evaluator)
        if resume is not None:
            self._resume(resume)
        self._play_rounds(watch)
        return self

    def prepare(self, evaluator: Any = None) -> None:
        self._load_game()
        self._check_options()
        self.evaluator_ = self._begin(evaluator)
        self.rounds_: list[dict[str, Any]] = []
        self.games_played_ = 0
        self.updates_ = 0

    def _check_options(self) -> None:
        super()._check_options()
        check_plies(self.most_plies, self.opening_plies)

    def games_before(self, number: int) -> int:
        """Returns the number of games before round `number`, from 0."""
        return number * self.round_games

    def round_of(self, game: int) -> int:
        """Returns the number of the round, from 0, that game `game` belongs to."""
        return game // self.round_games

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

    def _play_rounds(self, watch: Callable[[Progress], None] | None) -> None:
        openings = islice(self._openings(), self.games_played_, None)
        workers = self.workers
        with nullcontext(workers) if workers is not None else Workers(jobs=1) as at_work:
            while self.games_played_ < self.games:
                self._round(at_work, openings, watch)

    def _round(
        self,
        workers: Workers,
        openings: Iterator[tuple[Any, ...]],
        watch: Callable[[Progress], None] | None,
    ) -> None:
        """Play the rest of a round in one stream that keeps all workers busy, and learn."""
        number = self.round_of(self.games_played_)
        until = min(self.games, self.games_before(number + 1))
        task = Task(
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
        tasks = in_tasks(task, islice(openings, until - self.games_played_))
        with closing(workers.map(play_task, tasks)) as played:
            self._learn_from(played, until, workers, watch)

    def _learn_from(
        self,
        played: Iterable[list[Lesson]],
        until: int,
        workers: Workers,
        watch: Callable[[Progress], None] | None,
    ) -> None:
        reported = self.games_played_
        for lessons in played:
            self._keep(lessons)
            self.games_played_ += len(lessons)
            note = ""
            if self.games_played_ == until:
                found = self._end_round(workers)
                self.rounds_.append(found)
                note = f"round {len(self.rounds_)}: "
                note += ", ".join(
                    f"{name} {value if isinstance(value, str) else f'{value:.6g}'}"
                    for name, value in found.items()
                )
            if note or self.games_played_ - reported >= self.games_per_report:
                reported = self.games_played_
                if watch is not None:
                    record = lessons[-1].played.record()
                    watch(Progress(self.games_played_, self.games, record, self.updates_, note))

    # --- state --------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        return {"rounds_done": [dict(figures) for figures in self.rounds_]}

    def set_state(self, state: dict[str, Any]) -> None:
        self.rounds_ = [dict(figures) for figures in state["rounds_done"]]

    def _resume(self, state: dict[str, Any]) -> None:
        try:
            rounds = [dict(figures) for figures in state["rounds_done"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"expected a state of this learner, found {error!r}") from None
        # their number differs from what a fresh learner has
        super()._resume({**state, "rounds_done": []})
        self.rounds_ = rounds

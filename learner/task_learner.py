"""Learners whose games workers play, in rounds of tasks; they learn at the end of each round.

The evaluator does not change within a round, and every game depends only on its opening and the
weights. The result therefore depends only on the options and the seed, not on the workers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterable
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from learner.frame import Progress
from learner.game_learner import GameLearner, check_plies
from learner.journal import Journal
from learner.self_play import Lesson, SelfPlay, Task
from play.workers import Workers
from play.workers.sources import digest
from play.workers.transport import pack
from search import Lookup, Techniques

__all__ = ["TaskLearner"]

#: Games between two looks whether a report is due.
GAMES_PER_LOOK = 4


@dataclass(kw_only=True, eq=False, repr=False)
class TaskLearner(GameLearner):
    """The base class of learners whose games workers play.

    Options in addition to those of `GameLearner`:

    most_plies: longer games are drawn.
    workers: the `Workers` that play (default: this thread).
    decide: whether a game ends once search has proven it won (in most of these learners).
    """

    most_plies: int = 200
    workers: Workers | None = None
    #: fixed value for learners that do not offer this option
    decide: bool = field(default=False, init=False)
    #: lookup and selective techniques of the searches, set by subclasses
    lookup_: Lookup | None = field(default=None, init=False)
    techniques_: Techniques | None = field(default=None, init=False)
    #: games that have been played, but not learned from
    _journal: Journal | None = field(default=None, init=False)

    # --- what a subclass says -----------------------------------------------------------------

    def round_end(self) -> int:
        """Returns the number of games at the end of the round under way."""
        raise NotImplementedError

    def report_games(self) -> int:
        """Returns the number of games after which a round is reported on before its end."""
        return self.games

    def _task(self) -> Task:
        """Returns the task of a round, without openings."""
        raise NotImplementedError

    def _keep(self, lessons: list[Lesson]) -> None:
        """Keep what games teach; their numbers begin with `games_played_`."""
        raise NotImplementedError

    def _end_round(self, workers: Workers) -> dict[str, Any]:
        """Learn from the games of the round, which `games_played_` counts; returns figures."""
        raise NotImplementedError

    def keep_journal(self, path: Path) -> None:
        """Keep games that have been played, but not learned from, if a cluster plays."""
        if self.workers is not None and self.workers.cluster is not None:
            self._journal = Journal(path)

    # --- learning -----------------------------------------------------------------------------

    def _check_options(self) -> None:
        super()._check_options()
        check_plies(self.most_plies, self.opening_plies)

    def learn(self) -> Generator[Progress, None, None]:
        openings = islice(self._openings(), self.games_played_, None)
        workers = self.workers
        with nullcontext(workers) if workers is not None else Workers(jobs=1) as at_work:
            while self.games_played_ < self.games:
                until = min(self.games, self.round_end())
                some = islice(openings, until - self.games_played_)
                yield from self._round(at_work, some, until)
        if self._journal is not None:
            self._journal.path.unlink(missing_ok=True)

    def _round(
        self, workers: Workers, openings: Iterable[tuple[Any, ...]], until: int
    ) -> Generator[Progress, None, None]:
        """Play the rest of a round in one stream that keeps all workers busy, and learn."""
        reported = self.games_played_
        with closing(self._play(workers, openings)) as played:
            for lessons in played:
                self._keep(lessons)
                self.games_played_ += len(lessons)
                figures = self._end_round(workers) if self.games_played_ == until else None
                if figures or self.games_played_ - reported >= self.report_games():
                    reported = self.games_played_
                    yield self.progress(lessons[-1].played.record(), figures)

    def _play(
        self, workers: Workers, openings: Iterable[tuple[Any, ...]]
    ) -> Generator[list[Lesson], None, None]:
        """Yields the lessons of a game from each opening, in order, a few at a time."""
        task, starts, first = self._task(), list(openings), self.games_played_
        play = SelfPlay(task)
        played = {} if self._journal is None else self._journal.begin(self.game_, self._mark(play))
        missing = [number for number in range(first, first + len(starts)) if number not in played]

        def arrived(begin: int, results: list[Any]) -> None:
            if self._journal is not None:
                self._journal.add(missing[begin : begin + len(results)], results)

        left = [starts[number - first] for number in missing]
        with closing(workers.map(play, left, arrived=arrived)) as lessons:
            numbers = range(first, first + len(starts))
            every = (played.pop(n) if n in played else next(lessons) for n in numbers)
            while some := list(islice(every, GAMES_PER_LOOK)):
                yield some

    def _mark(self, play: SelfPlay) -> str:
        """Returns a digest of everything that decides the games of this round."""
        decides = digest() + json.dumps(self.identity())
        return hashlib.sha256(decides.encode() + pack(play)).hexdigest()

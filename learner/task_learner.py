"""Learners whose games workers play, in rounds of tasks; they learn at the end of each round.

The evaluator does not change within a round, and every game depends only on its opening and the
weights. The result therefore depends only on the options and the seed, not on the workers.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from learner.frame import Progress
from learner.game_learner import GameLearner, check_plies
from learner.journal import Journal
from learner.options import ranged
from learner.self_play import Lesson, SelfPlay, Task
from play.workers import Workers
from play.workers.sources import digest
from play.workers.transport import pack
from search import Lookup, Techniques

__all__ = ["TaskLearner"]

#: Games between two looks whether a report is due.
GAMES_PER_LOOK = 4
#: Seconds that work which was begun ahead has to end.
PATIENCE = 10.0


class Ahead:
    """The items of a generator, which a thread draws from now on."""

    def __init__(self, source: Generator[Any, None, None]) -> None:
        self._source, self._items, self._closed = source, SimpleQueue[Any](), False
        self._thread = threading.Thread(target=self._draw, daemon=True, name="ahead")
        self._thread.start()

    def _draw(self) -> None:
        end: BaseException | None = None
        try:
            with closing(self._source) as items:
                for item in items:
                    self._items.put((item, None))
                    if self._closed:
                        break
        except BaseException as error:
            end = error
        self._items.put((None, end or StopIteration()))

    def __iter__(self) -> Iterator[Any]:
        while True:
            try:
                item, end = self._items.get(timeout=1.0)
            except Empty:  # so that a signal that came meanwhile is seen
                continue
            if isinstance(end, StopIteration):
                return
            if end is not None:
                raise end
            yield item

    def close(self) -> None:
        """End the work."""
        self._closed = True
        self._thread.join(PATIENCE)


@dataclass(kw_only=True, eq=False, repr=False)
class TaskLearner(GameLearner):
    """The base class of learners whose games workers play.

    Options beside those of `GameLearner`:

    most_plies: longer games are drawn.
    workers: the `Workers` that play (None: this thread).
    decide: whether a game ends once search has proven it won (in most of these learners).
    """

    most_plies: int = 200
    workers: Workers | None = None
    #: fixed values for learners that do not offer these options
    decide: bool = field(default=False, init=False)
    lag: int = ranged(0, 0, 1, init=False)
    #: lookup and selective techniques of the searches, set by subclasses
    lookup_: Lookup | None = field(default=None, init=False)
    techniques_: Techniques | None = field(default=None, init=False)
    #: files of games that have been played, but not learned from, of a round each
    _journals: tuple[Journal, ...] = field(default=(), init=False)
    #: the lessons of the next round, if it has begun
    _ahead: Ahead | None = field(default=None, init=False)

    # --- what a subclass says -----------------------------------------------------------------

    def round_end(self) -> int:
        """Returns the number of games at the end of the round under way."""
        raise NotImplementedError

    def games_at_once(self) -> int:
        """Returns the number of games that are played with the same weights."""
        return self.round_end() - self.games_played_

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
            paths = [path, path.with_name(f"{path.name}.ahead")]
            self._journals = tuple(Journal(path) for path in paths[: 1 + self.lag])

    # --- learning -----------------------------------------------------------------------------

    def _check_options(self) -> None:
        super()._check_options()
        check_plies(self.most_plies, self.opening_plies)

    def learn(self) -> Generator[Progress, None, None]:
        openings = islice(self._openings(), self.games_played_, None)
        workers = self.workers
        with nullcontext(workers) if workers is not None else Workers(jobs=1) as at_work:
            try:
                while self.games_played_ < self.games:
                    yield from self._round(at_work, openings)
            finally:
                if self._ahead is not None:
                    self._ahead.close()
        for journal in self._journals:
            journal.path.unlink(missing_ok=True)

    def _round(
        self, workers: Workers, openings: Iterator[tuple[Any, ...]]
    ) -> Generator[Progress, None, None]:
        """Play the rest of a round in one stream that keeps all workers busy, and learn."""
        reported, until = self.games_played_, self._until()
        begun, self._ahead = self._ahead, None
        with closing(begun or self._play(workers, openings)) as played:
            for lessons in played:
                self._keep(lessons)
                self.games_played_ += len(lessons)
                figures = None
                if self.games_played_ == until:
                    if self.lag:
                        self._look_ahead()
                        if until < self.games:
                            self._ahead = Ahead(self._play(workers, openings))
                    figures = self._end_round(workers)
                if figures or self.games_played_ - reported >= self.report_games():
                    reported = self.games_played_
                    yield self.progress(lessons[-1].played.record(), figures)

    def _until(self) -> int:
        """Returns the number of games at the end of the round, or of all rounds."""
        return min(self.games, self.round_end())

    def _look_ahead(self) -> None:
        """Keep the evaluator as it is, before the fit; with a `lag` it plays the next round."""

    def _parity(self) -> int:
        """Returns the number of the file, of `1 + lag`, for the games of the round under way."""
        return 0

    def _play(
        self, workers: Workers, openings: Iterator[tuple[Any, ...]]
    ) -> Generator[list[Lesson], None, None]:
        """Returns the lessons of the games of a round, in order, a few at a time."""
        numbers = range(self.games_played_, self._until())
        starts, play = dict(zip(numbers, openings, strict=False)), SelfPlay(self._task())
        journal = self._journals[self._parity()] if self._journals else None
        known = {} if journal is None else journal.begin(self._mark(play))
        missing = [number for number in numbers if number not in known]

        def arrived(begin: int, count: int, results: bytes) -> None:
            if journal is not None:
                journal.add(missing[begin : begin + count], results)

        def lessons() -> Generator[list[Lesson], None, None]:
            left = [starts[number] for number in missing]
            with closing(workers.map(play, left, arrived=arrived)) as new:
                every = (known.pop(n) if n in known else next(new) for n in numbers)
                while some := list(islice(every, GAMES_PER_LOOK)):
                    yield some

        return lessons()

    def _mark(self, play: SelfPlay) -> str:
        """Returns a digest of everything that decides the games of this round."""
        decides = digest() + json.dumps(self.identity())
        return hashlib.sha256(decides.encode() + pack(play)).hexdigest()

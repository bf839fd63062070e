"""The player of a learner's games: workers play them, from frozen weights, in order.

The evaluator does not change while games of one task are played, and every game depends only on
its opening and the weights. The result therefore depends only on the options and the seed, not on
the workers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import islice
from typing import Any

from learner.journal import Journal
from learner.self_play import Lesson, SelfPlay, Task
from play.workers import Workers
from play.workers.sources import digest
from play.workers.transport import pack

__all__ = ["GamePlayer"]

#: Games between two checks whether a report is due.
GAMES_PER_LOOK = 4


class GamePlayer:
    """Plays the games of a learner, one from each opening.

    workers: the `Workers` that play.
    openings: the beginning of each game that is still to be played.
    first: number of the first of these games.
    journal: keeps games that have been played, but not learned from (default: no journal).
    mark: everything that decides the games, besides the task.
    """

    def __init__(
        self,
        workers: Workers,
        openings: Iterator[tuple[Any, ...]],
        *,
        first: int = 0,
        journal: Journal | None = None,
        mark: str = "",
    ) -> None:
        self.workers = workers
        self._openings = openings
        self._first = first
        self._journal = journal
        self._mark = mark

    def play(self, task: Task, games: int) -> Generator[list[Lesson], None, None]:
        """Yields the lessons of the next games, in order, a few at a time.

        All are played in one stream that keeps the workers busy.

        task: the games; its evaluator must not change before the last of them.
        games: number of games.
        """
        play = SelfPlay(task)
        numbers = range(self._first, self._first + games)
        self._first += games
        starts = dict(zip(numbers, islice(self._openings, games), strict=True))
        played = {} if self._journal is None else self._journal.begin(task.game, self._round(play))
        missing = [number for number in numbers if number not in played]

        def arrived(begin: int, results: list[Any]) -> None:
            if self._journal is not None:
                self._journal.add(missing[begin : begin + len(results)], results)

        left = [starts[number] for number in missing]
        with closing(self.workers.map(play, left, arrived=arrived)) as lessons:
            every = (played.pop(n) if n in played else next(lessons) for n in numbers)
            while some := list(islice(every, GAMES_PER_LOOK)):
                yield some

    def _round(self, play: SelfPlay) -> str:
        """Returns a digest of everything that decides the games of a task."""
        return hashlib.sha256((digest() + self._mark).encode() + pack(play)).hexdigest()

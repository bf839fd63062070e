"""The player of a learner's games: workers play them, from frozen weights, in order.

The evaluator does not change while games of one task are played, and every game depends only on
its opening and the weights. The result therefore depends only on the options and the seed, not on
the workers.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import islice
from typing import Any

from learner.self_play import Lesson, SelfPlay, Task
from play.workers import Workers

__all__ = ["GamePlayer"]

#: Games between two checks whether a report is due.
GAMES_PER_LOOK = 4


class GamePlayer:
    """Plays the games of a learner, one from each opening.

    workers: the `Workers` that play.
    openings: the beginning of each game that is still to be played.
    """

    def __init__(self, workers: Workers, openings: Iterator[tuple[Any, ...]]) -> None:
        self.workers = workers
        self._openings = openings

    def play(self, task: Task, games: int) -> Generator[list[Lesson], None, None]:
        """Yields the lessons of the next games, in order, a few at a time.

        All are played in one stream that keeps the workers busy.

        task: the games; its evaluator must not change before the last of them.
        games: number of games.
        """
        starts = list(islice(self._openings, games))
        with closing(self.workers.map(SelfPlay(task), starts)) as lessons:
            while some := list(islice(lessons, GAMES_PER_LOOK)):
                yield some

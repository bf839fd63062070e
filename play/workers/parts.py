"""Parts: how many tasks travel to another process at once.

A task may be a game of five milliseconds, or a match. Parts are sized by time, so that sending them
costs little, and get short at the end of a list, so that no worker is left with a long one (guided
self-scheduling: Polychronopoulos and Kuck, 1987).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sized
from itertools import islice
from statistics import median
from typing import Any

__all__ = ["Parts", "TaskPace", "kind_of"]

#: Maximum number of tasks in a part.
MOST = 4096
#: Times of parts from which the pace is taken.
REMEMBERED = 32


def kind_of(function: Any) -> str:
    """Returns the name of a kind of work, whose tasks take alike."""
    kind = getattr(function, "func", function)
    return str(getattr(kind, "__qualname__", type(kind).__qualname__))


class TaskPace:
    """The duration of tasks, from the last parts of a kind of work."""

    def __init__(self) -> None:
        self._work: deque[float] = deque(maxlen=REMEMBERED)
        self._answers: deque[float] = deque(maxlen=REMEMBERED)

    def add(self, tasks: int, seconds: float, answered: float) -> None:
        """Take the times of a part: that of its work, and that until its answer was there."""
        self._work.append(seconds / tasks)
        self._answers.append(answered / tasks)

    def tasks_in(self, seconds: float) -> int:
        """Returns how many tasks take this time, at least 1; 1 as long as nothing is known."""
        if not self._work:
            return 1
        return max(1, min(MOST, int(seconds / max(median(self._work), 1e-9))))

    def usual_answer(self, tasks: int) -> float | None:
        """Returns the median time until the answer to a part; None before there are four."""
        return median(self._answers) * tasks if len(self._answers) >= 4 else None


class Parts:
    """The tasks of some work, in parts.

    tasks: the tasks; if they have a length, the parts get smaller towards the end, but not too
        small, otherwise they grow from single tasks, and are never more than a share of those drawn
        before.
    pace: how long tasks take.
    """

    def __init__(self, tasks: Iterable[Any], pace: TaskPace) -> None:
        self.pace = pace
        #: number of tasks drawn
        self.drawn = 0
        self._length = len(tasks) if isinstance(tasks, Sized) else None
        self._tasks = iter(tasks)

    def next(self, jobs: int, most: float, least: float = 0.0) -> list[Any]:
        """Returns the next tasks, none at the end.

        jobs: number of tasks that are worked on at a time.
        most: the seconds that a part should take.
        least: the seconds that it should take at the end of tasks that have a length, of which
            each job still gets some.
        """
        share, fewest = self.drawn, 1
        if self._length is not None:
            share = self._length - self.drawn
            fewest = min(self.pace.tasks_in(least), -(-self._length // jobs))
        size = max(fewest, min(self.pace.tasks_in(most), share // (2 * jobs)))
        some = list(islice(self._tasks, size))
        self.drawn += len(some)
        return some

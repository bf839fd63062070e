"""`Crew`: a function for `Workers.map` in which each thread has engines and seats of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from threading import Event, Lock
from typing import Any, Generic, TypeVar

from play.workers.workers import Workers
from programs.arguments import THREADS

__all__ = ["Crew", "done"]

Result = TypeVar("Result")
Seats = TypeVar("Seats", bound=tuple[Any, ...])


class Crew(Generic[Seats]):
    """A base class of functions for `Workers.map`.

    A subclass makes one thread's seats (engines, players, tables) in `new_seats` and borrows them
    in `__call__` by `with self.seats() as (...)`. Seats are made if no others are free, and kept
    for later tasks.

    options: the arguments of the subclass's constructor, in its order; nothing else is sent to
        other processes.
    """

    def __init__(self, *options: Any) -> None:
        self._options = options
        #: set once the work should end
        self.stopped = Event()
        self._free: list[Seats] = []
        self._all: list[Seats] = []
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._options

    def new_seats(self) -> Seats:
        """Returns the seats of one thread; `stop` calls the method `stop` of those that have it."""
        raise NotImplementedError

    @contextmanager
    def seats(self) -> Iterator[Seats]:
        """Seats for one task, which no other task uses at the same time."""
        with self._lock:  # no two threads should compile the same code at once
            if not self._free:
                self._free.append(self.new_seats())
                self._all.append(self._free[0])
            seats = self._free.pop()
        try:
            yield seats
        finally:
            with self._lock:
                self._free.append(seats)

    def stop(self) -> None:
        """End the work under way; callable from any thread."""
        self.stopped.set()
        for seats in list(self._all):
            for seat in seats:
                if hasattr(seat, "stop"):
                    seat.stop()


def done(
    crew: Callable[[Any], Result],
    tasks: Iterable[Any],
    *,
    threads: int = THREADS,
    workers: Workers | None = None,
    processes: bool = False,
    progress: Callable[[], None] | None = None,
) -> list[Result]:
    """Returns the results of all tasks, in their order.

    threads: tasks at a time.
    workers: who does them instead.
    processes: whether processes do them, if they are done several at a time.
    progress: called after each.

    Raises ValueError for fewer than one thread.
    """
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, found {threads}")
    backend, results = "loky" if processes and threads > 1 else "threads", list[Result]()
    with (
        nullcontext(workers) if workers is not None else Workers(backend, threads) as hands,
        closing(hands.map(crew, tasks)) as answers,
    ):
        for result in answers:
            results.append(result)
            if progress is not None:
                progress()
    return results

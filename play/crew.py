"""`Crew`: a task for `Workers.map` whose threads each work with engines and seats of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import Any, Generic, TypeVar

__all__ = ["Crew"]

Seats = TypeVar("Seats", bound=tuple[Any, ...])


class Crew(Generic[Seats]):
    """A base class of functions for `Workers.map`.

    A subclass makes in `new_seats` what one thread works with, and borrows it in `__call__` by
    `with self.seats() as (...)`. Seats are made when no others are free and kept for later tasks.

    options: what the subclass is made of, in the order of its constructor; nothing else travels to
        another process.
    """

    def __init__(self, *options: Any) -> None:
        self._options = options
        #: set once the work is to end
        self.stopped = Event()
        self._free: list[Seats] = []
        self._all: list[Seats] = []
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._options

    def new_seats(self) -> Seats:
        """What one thread works with; `stop` stops each of these that has a method `stop`."""
        raise NotImplementedError

    @contextmanager
    def seats(self) -> Iterator[Seats]:
        """Seats for one task, which nobody else uses meanwhile."""
        with self._lock:  # so that no two threads compile the same at once
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

"""What is being compiled in this process, for people who wait for the first use of a game.

Compiled kernels are kept on disk, so that this happens once for each version of a function.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from numba.core import event

from games.kernels.compiler import is_kernel

__all__ = ["Compiling", "compiling", "count_kernels", "new_count"]

#: Seconds without compiling after which it counts as ended.
PAUSE = 1.0


class Compiling(NamedTuple):
    """Compiling that is going on.

    functions: number of functions that are finished since the count began.
    seconds: time since then, without pauses.
    finished: the same time when the last of them was finished.
    """

    functions: int
    seconds: float
    finished: float


class _Listener(event.Listener):  # type: ignore[misc]
    """Counts the functions that Numba compiles; those read from disk are no events."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = self._functions = 0
        self._began = self._ended = -PAUSE

    def on_start(self, event: Any) -> None:
        with self._lock:
            now = time.monotonic()
            if self._depth == 0 and now - self._ended > PAUSE:
                gap = now - max(self._ended, self._began)
                self._began += gap
                self._ended += gap
            self._depth += 1

    def on_end(self, event: Any) -> None:
        with self._lock:
            self._depth -= 1
            self._functions += 1
            self._ended = time.monotonic()

    def new_count(self) -> None:
        """Begin to count anew."""
        with self._lock:
            self._functions, self._began = 0, time.monotonic()

    def state(self) -> Compiling | None:
        """Returns what is going on; None if nothing is."""
        with self._lock:
            now = time.monotonic()
            if self._depth == 0 and now - self._ended > PAUSE:
                return None
            finished = max(self._ended - self._began, 0.0) if self._functions else 0.0
            return Compiling(self._functions, now - self._began, finished)


_listener = _Listener()
event.register("numba:compile", _listener)


def new_count() -> None:
    """Count functions from now on: another game is used."""
    _listener.new_count()


def compiling() -> Compiling | None:
    """Returns the compiling that is going on in this process; None if there is none."""
    return _listener.state()


def count_kernels(functions: Iterable[Any]) -> int:
    """Returns the number of kernels among functions and everything that these call."""
    pending, seen = [one for one in functions if is_kernel(one)], set()
    while pending:
        function = pending.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        source = getattr(function, "py_func", function)
        used = [source.__globals__.get(name) for name in source.__code__.co_names]
        used += [cell.cell_contents for cell in source.__closure__ or ()]
        pending += filter(is_kernel, used)
    return len(seen)

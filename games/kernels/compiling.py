"""What is being compiled in this process, for people who wait for the first use of a game.

Compiled kernels are kept on disk, so that this happens once for each version of a function.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from numba.core import event

from games.kernels.cache import is_kept
from games.kernels.compiler import GENERATED, is_kernel

__all__ = ["Compiling", "compiling", "counting", "is_made", "kernels_of", "new_count", "size_of"]

#: Seconds without compiling after which it counts as ended.
PAUSE = 1.0
#: Bytes that take as long as the compiler's own start, which comes with the first function.
START = 1200


class Compiling(NamedTuple):
    """Compiling that is going on.

    size: size of the functions that are finished since the count began, in bytes of bytecode.
    sizes: the same of the whole process, by the first two words of the functions' modules.
    generated: the part of the size that is code made by this program.
    rate: seconds for a byte in this process until now, without the start of the compiler; None
        before the first function is finished.
    current: seconds since the last function was finished, without pauses.
    """

    size: int
    sizes: Mapping[str, int]
    generated: int
    rate: float | None
    current: float


class _Listener(event.Listener):  # type: ignore[misc]
    """Counts the functions that Numba compiles; those read from disk are no events."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._sizes, self._before = Counter[str](), Counter[str]()
        #: when compiling began, and when a function was last finished, as if there were no pauses
        self._began = self._ended = -PAUSE

    def on_start(self, event: Any) -> None:
        self.begin()

    def on_end(self, event: Any) -> None:
        self.end(event.data["dispatcher"].py_func)

    def begin(self) -> None:
        """Count a function that begins to be compiled."""
        with self._lock:
            now = time.monotonic()
            if self._depth == 0 and now - self._ended > PAUSE:
                gap = now - max(self._ended, self._began)
                self._began += gap
                self._ended += gap
            self._depth += 1

    def end(self, function: Any) -> None:
        """Count a function that is finished; None if it was read from disk."""
        with self._lock:
            self._depth -= 1
            if function is not None:
                self._sizes[".".join(function.__module__.split(".")[:2])] += size_of(function)
                self._ended = time.monotonic()

    def new_count(self) -> None:
        """Begin to count anew; the rate stays that of the whole process."""
        with self._lock:
            self._before = self._sizes.copy()

    def state(self) -> Compiling | None:
        """Returns what is going on; None if nothing is."""
        with self._lock:
            now = time.monotonic()
            if self._depth == 0 and now - self._ended > PAUSE:
                return None
            size = self._sizes.total()
            rate = (self._ended - self._began) / (size + START) if size else None
            current = now - max(self._ended, self._began)
            new = self._sizes - self._before
            return Compiling(new.total(), dict(self._sizes), new[GENERATED], rate, current)


_listener = _Listener()
event.register("numba:compile", _listener)


@contextlib.contextmanager
def counting(made: Any) -> Iterator[None]:
    """Count a C function of Numba, for which there are no events, that is compiled in a block."""
    _listener.begin()
    try:
        yield
    finally:
        _listener.end(None if made.cache_hits else made._pyfunc)


def new_count() -> None:
    """Count functions from now on: another game is used."""
    _listener.new_count()


def compiling() -> Compiling | None:
    """Returns the compiling that is going on in this process; None if there is none."""
    return _listener.state()


def size_of(function: Any) -> int:
    """Returns the size of a function in bytes of bytecode.

    The time that it takes to compile follows this size: of whole first uses, the share of the size
    that was done and the share of the time never differed by more than six hundredths.
    """
    return len(getattr(function, "py_func", function).__code__.co_code)


def is_made(kernel: Any) -> bool:
    """Returns whether a kernel is compiled, in this process or on disk."""
    return bool(getattr(kernel, "overloads", True)) or is_kept(kernel)


def kernels_of(functions: Iterable[Any]) -> list[Any]:
    """Returns the kernels among functions and everything that these call."""
    pending, seen = [one for one in functions if is_kernel(one)], dict[int, Any]()
    while pending:
        function = pending.pop()
        if id(function) in seen:
            continue
        seen[id(function)] = function
        source = getattr(function, "py_func", function)
        used = [source.__globals__.get(name) for name in source.__code__.co_names]
        used += [cell.cell_contents for cell in source.__closure__ or ()]
        pending += filter(is_kernel, used)
    return list(seen.values())

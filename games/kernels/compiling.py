"""Whether something is being compiled in this process, for people who wait for it.

Compiled kernels are kept on disk, so that this happens once for each version of a function. Whoever
waits for two seconds reads one line, by the logger `plysmith`; PLYSMITH_QUIET=1 hides it, which
programs set, because they show waits themselves.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

from numba.core import event

from programs import waiting
from programs.waiting import QUIET

__all__ = ["counting"]

#: Seconds without compiling after which it counts as ended, and seconds of a wait before the line.
PAUSE, PATIENCE = 1.0, 2.0
LINE = f"compiling for the first time; the result is kept on disk ({QUIET}=1 hides this line)"


class _Listener(event.Listener):  # type: ignore[misc]
    """Times what Numba compiles; functions read from disk are no events."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth, self._watched = 0, False
        #: when this wait began, and when a function was last finished
        self._began = self._ended = -PAUSE
        #: processor time of this process in which functions were compiled or read from disk
        self._spent = self._since = 0.0

    def on_start(self, event: Any) -> None:
        self.begin()

    def on_end(self, event: Any) -> None:
        self.end(made=True)

    def begin(self) -> None:
        """A function begins to be compiled, perhaps for another one."""
        with self._lock:
            now = time.monotonic()
            if self._depth == 0 and now - self._ended > PAUSE:
                self._began = now
            if self._depth == 0:
                self._since = time.process_time()
            self._depth += 1
            watch, self._watched = not self._watched, True
        if watch:
            threading.Thread(target=self._watch, daemon=True, name="compiling").start()

    def end(self, *, made: bool) -> None:
        """A function is finished; made: whether it was compiled rather than read from disk."""
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._spent += time.process_time() - self._since
            if made:
                self._ended = time.monotonic()

    def seconds(self) -> float | None:
        """Returns for how long something has been compiled, short pauses included, or None."""
        with self._lock:
            now = time.monotonic()
            over = self._depth == 0 and now - self._ended > PAUSE
            return None if over else now - self._began

    def spent(self) -> float:
        """Returns the seconds of processor time in which functions were compiled or read."""
        return self._spent

    def _watch(self) -> None:
        """Say once in a process that it compiles; workers leave that to their parent."""
        while (seconds := self.seconds()) is not None:
            if seconds >= PATIENCE:
                if not os.environ.get(QUIET) and multiprocessing.parent_process() is None:
                    logging.getLogger("plysmith").warning(LINE)
                return
            time.sleep(PATIENCE - seconds)
        self._watched = False


_listener = _Listener()
event.register("numba:compile", _listener)


@contextlib.contextmanager
def counting(made: Any) -> Iterator[None]:
    """Time a C function of Numba, for which there are no events, that is compiled in a block."""
    _listener.begin()
    try:
        yield
    finally:
        _listener.end(made=not made.cache_hits)


waiting.compiling_seconds = _listener.seconds
waiting.compiled_seconds = _listener.spent

"""Stops and Ctrl-C that come while a search runs, however slow the machine is."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["ctrl_c", "no_search_runs", "stopping"]


def _searches() -> bool:
    return any(thread.name == "search" for thread in threading.enumerate())


def no_search_runs() -> bool:
    """Returns whether every search has ended, or ends soon."""
    until = time.monotonic() + 60
    while _searches() and time.monotonic() < until:
        time.sleep(0.01)
    return not _searches()


@contextmanager
def ctrl_c(after: float = 0.3) -> Iterator[None]:
    """Send Ctrl-C to the main thread once a search has run for `after` seconds."""
    main, over = threading.main_thread().ident, threading.Event()
    assert main is not None

    def send() -> None:
        while not _searches() and not over.is_set():
            time.sleep(0.005)
        if not over.wait(after):
            signal.pthread_kill(main, signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        over.set()
        sender.join()


def stopping(value: Callable[[Any], float], stop: Callable[[], None], calls: int) -> Any:
    """Returns an evaluator after whose given number of calls another thread calls `stop`."""
    asked = 0

    def evaluate(position: Any) -> float:
        nonlocal asked
        asked += 1
        if asked == calls:
            threading.Thread(target=stop).start()
        return value(position)

    return evaluate

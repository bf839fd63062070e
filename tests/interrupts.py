"""Stops and Ctrl-C that come while a search runs, however slow the machine is."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

import play.workers.workers
import search.search

__all__ = ["ctrl_c", "ctrl_c_at_workers", "no_search_runs", "stopping"]


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
    """Call the handler of Ctrl-C where the main thread waits for a search, `after` seconds on.

    No signal is sent, because it would reach whichever process is the tests' own. Programs that
    get one run in test_stopping.py.
    """
    asked = False

    class Waiting(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            nonlocal asked
            if not asked and not super().wait(after):
                asked = True
                signal.default_int_handler(signal.SIGINT, sys._getframe())
            return super().wait(timeout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            search.search, "threading", SimpleNamespace(**{**vars(threading), "Event": Waiting})
        )
        yield
    assert asked, "expected a search that was still running"


@contextmanager
def ctrl_c_at_workers(after: float = 0.3) -> Iterator[None]:
    """Call the handler of Ctrl-C where the main thread waits for workers, `after` seconds on."""
    usual, asked = play.workers.workers.result_of, False

    def waiting(future: Any) -> Any:
        nonlocal asked
        if not asked:
            asked = True
            time.sleep(after)
            signal.default_int_handler(signal.SIGINT, sys._getframe())
        return usual(future)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(play.workers.workers, "result_of", waiting)
        yield
    assert asked


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

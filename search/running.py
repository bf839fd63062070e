"""Running a search: the limits that it is given, and how it is ended."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable

__all__ = ["check_limits", "run_search"]


def run_search(
    search: Callable[[], None], stop: Callable[[], None], *, seconds: float | None, short: bool
) -> bool:
    """Search until it ends, or stop it after so many seconds or by Ctrl-C; whether it was Ctrl-C.

    `stop` makes `search` return soon. A short one is over before anybody could wait for it, and
    runs without a thread of its own. Raises what the search raised.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if seconds is None and (not in_main or short):
        try:
            search()
        except KeyboardInterrupt:
            return True
        return False
    failed: list[BaseException] = []
    # Not `join`: interrupted by Ctrl-C, that of Python 3.11 takes the thread for ended.
    ended = threading.Event()

    def work() -> None:
        try:
            search()
        except BaseException as error:
            failed.append(error)
        finally:
            ended.set()

    # Native code holds up signals: it runs in a thread of its own, and this one waits.
    interrupted = False
    try:
        threading.Thread(target=work, daemon=True, name="search").start()
        ended.wait(None if seconds is None else min(seconds, threading.TIMEOUT_MAX))
    except KeyboardInterrupt:
        interrupted = True
    while not ended.is_set():
        stop()
        try:
            ended.wait()
        except KeyboardInterrupt:
            interrupted = True
    if failed:
        raise failed[0]
    return interrupted


def check_limits(
    depth: int | None, nodes: int | None, seconds: float | None, *, least: int, deepest: int
) -> None:
    """Raise ValueError for a limit out of range, and where none is given.

    Depths reach from `least` to `deepest`.
    """
    if depth is None and nodes is None and seconds is None:
        raise ValueError("expected a limit: depth, nodes or seconds; found none")
    for name, number in (("depth", depth), ("nodes", nodes)):
        try:
            operator.index(0 if number is None else number)
        except TypeError:
            raise ValueError(f"{name}: expected a whole number, found {number!r}") from None
    if depth is not None and not least <= depth <= deepest:
        raise ValueError(f"depth: expected {least} to {deepest} plies, found {depth}")
    if nodes is not None and nodes < 1:
        raise ValueError(f"nodes: expected at least 1, found {nodes}")
    if seconds is not None and not seconds > 0:
        raise ValueError(f"seconds: expected more than 0, found {seconds}")

"""Running a search: limits, threads, stopping and errors."""

from __future__ import annotations

import math
import operator
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from games import kernels
from games.contract import Game
from games.values import WIN
from search.evaluators.evaluator import Evaluator
from search.result import Depth, Result
from search.sizes import MOST_THREADS
from search.time_control import GLANCE, Allowance, TimeControl

__all__ = ["UNLIMITED", "Search", "check_limits", "run_search", "run_together"]

#: Stands for "no limit" of nodes.
UNLIMITED = 1 << 62


class Search(ABC):
    """The base of all kinds of search: a game, an evaluator, and memory of earlier searches.

    A subclass makes one line for each thread (`_lines`); the first line holds the result.

    Attributes:
        native: whether compiled code searches, or the same source in plain Python.
    """

    def __init__(self, game: Game, evaluator: Evaluator, *, threads: int, seed: Any) -> None:
        if type(threads) is not int or not 1 <= threads <= MOST_THREADS:
            raise ValueError(f"threads: expected 1 to {MOST_THREADS}, found {threads}")
        self.game = game
        self.evaluator = evaluator
        self.native = game.rules is not None and kernels.compiled
        try:
            self._random = np.random.default_rng(seed) if seed is not None else None
        except (TypeError, ValueError):
            raise ValueError(f"seed: expected at least 0, found {seed!r}") from None
        self._lines: list[Any] = []
        self._errors: list[BaseException] = []
        self._stopped = False
        self._generation = 0

    @abstractmethod
    def search(
        self,
        position: Any,
        *,
        depth: int | None,
        nodes: int | None,
        seconds: float | Allowance | None,
        history: Sequence[Any],
        roll: int | None,
        exact_root: bool,
    ) -> Result:
        """As `Engine.search`; with `exact_root` every root move gets its exact value."""

    @property
    def line(self) -> Any:
        """The line of the first thread."""
        return self._lines[0]

    def stop(self) -> None:
        """End the running search, which returns its result so far. Callable from any thread."""
        self._stopped = True
        self._put(stop=1)

    def clear(self) -> None:
        """Forget earlier searches."""
        for line in self._lines:
            line.clear()

    def _put(self, **values: Any) -> None:
        """Set fields of all lines."""
        for line in self._lines:
            line.put(**values)

    def _fail(self, error: BaseException) -> None:
        """Stop because an evaluator raised `error`, which native code cannot pass on."""
        self._errors.append(error)
        self._put(stop=1)

    def _raise_failure(self) -> None:
        """Raise the error of an evaluator, if there was one."""
        if self._errors:
            error = self._errors[0]
            self._errors.clear()
            raise error

    def _new_generation(self) -> int:
        """Begin a search: clear the stop flag and return a new number for its table entries."""
        self._stopped = False
        self._generation = (self._generation + 1) & 0xFF
        return self._generation

    def _run(
        self,
        search: Callable[[], None],
        *,
        seconds: float | Allowance | None,
        short: bool,
    ) -> bool:
        """Run a search within its time. Returns whether it was interrupted.

        Raises any error of the search or of an evaluator.
        """
        stop = partial(self._put, stop=1)
        control = None
        if isinstance(seconds, Allowance):
            control = TimeControl(seconds, self.line, self.evaluator.unit)
            seconds = seconds.most
        interrupted = run_search(search, stop, seconds=seconds, short=short, control=control)
        self._raise_failure()
        return interrupted or self._stopped

    def _check_position(self, position: Any) -> None:
        if self.native and len(position) != len(self.game.start()):
            raise ValueError(
                f"expected a position of {len(self.game.start())} integers, found {position!r}"
            )

    def _finished(self, position: Any) -> Result:
        """Returns the result in a position without legal moves; raises ValueError if it goes on."""
        outcome = self.game.outcome(position)
        if outcome is None:
            raise ValueError(f"{self.game.name}: no legal move, but no outcome: {position}")
        value = math.copysign(WIN, outcome) if self.game.wins and outcome else outcome
        return Result(None, value, (), 0, 0, 0.0)

    def _move(self, move: Any) -> Any:
        """Returns a move of a line in the form that users see."""
        return int(move) if self.native else move

    def _depths(self, first: int, last: int, *, moves: bool) -> tuple[Depth, ...]:
        """Returns the results of the iterations from `first` to `last`, with or without moves."""
        line = self.line
        return tuple(
            Depth(
                depth,
                float(line.depth_value[depth]) + 0.0,
                self._move(line.depth_move[depth]) if moves else None,
                int(line.depth_nodes[depth]),
            )
            for depth in range(first, last + 1)
        )


def run_together(
    tasks: Sequence[Callable[[], None]], first_ended: Callable[[], None] | None = None
) -> None:
    """Run several tasks at once and wait for all: the first in this thread, each other in its own.

    tasks: functions without arguments.
    first_ended: called when the first task has ended, to make the others end.

    Raises the error of the first task that failed.
    """
    failed: list[BaseException] = []

    def run(task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(task,), daemon=True) for task in tasks[1:]]
    try:
        for thread in threads:
            thread.start()
        tasks[0]()
    finally:
        if first_ended is not None:
            first_ended()
        for thread in threads:
            if thread.ident is not None:  # the system may have refused to start it
                thread.join()
    if failed:
        raise failed[0]


def run_search(
    search: Callable[[], None],
    stop: Callable[[], None],
    *,
    seconds: float | None,
    short: bool,
    control: TimeControl | None = None,
) -> bool:
    """Run a search until it ends, its time is up or Ctrl-C. Returns whether Ctrl-C ended it.

    search: runs the search.
    stop: makes `search` return soon.
    seconds: the time limit; None for no limit.
    short: whether the search ends within milliseconds and so needs no thread of its own.
    control: ends the search earlier if it has used enough of its time; None for never.

    Raises any error of the search.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if seconds is None and (not in_main or short):
        try:
            search()
        except KeyboardInterrupt:
            return True
        return False
    failed: list[BaseException] = []
    # Not `join`: in Python 3.11, a `join` interrupted by Ctrl-C marks the thread as ended.
    ended = threading.Event()

    def work() -> None:
        try:
            search()
        except BaseException as error:
            failed.append(error)
        finally:
            ended.set()

    # Native code delays signals, so it runs in a thread of its own while this one waits.
    interrupted = False
    began = time.perf_counter()
    try:
        threading.Thread(target=work, daemon=True, name="search").start()
        if control is None:
            ended.wait(None if seconds is None else min(seconds, threading.TIMEOUT_MAX))
        while control is not None and not control.enough(time.perf_counter() - began):
            if ended.wait(GLANCE):
                break
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
    """Raises ValueError if a limit is out of range or none is given.

    depth: greatest depth in plies; None for no limit, likewise below.
    nodes: greatest number of positions.
    seconds: greatest time.
    least: the smallest depth allowed.
    deepest: the greatest depth allowed.
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

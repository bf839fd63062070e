"""Running a search: its limits, its threads, how it is stopped and how it fails."""

from __future__ import annotations

import operator
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from games import kernels
from games.contract import Game
from search.evaluators.evaluator import Evaluator
from search.result import Depth, Result
from search.sizes import MOST_THREADS

__all__ = ["UNLIMITED", "Search", "check_limits", "run_search", "run_together"]

#: In place of a limit of nodes: there is none.
UNLIMITED = 1 << 62


class Search(ABC):
    """A game, an evaluator and what searches of them remember.

    A kind of search makes a line for each thread (`_lines`), of which the first has the result.

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
        seconds: float | None,
        history: Sequence[Any],
        roll: int | None,
        exact_root: bool,
    ) -> Result:
        """See `Engine.search`; with `exact_root` every root move gets its exact value."""

    @property
    def line(self) -> Any:
        """The line of the first thread."""
        return self._lines[0]

    def stop(self) -> None:
        """End the search under way, which returns what it has. Callable from any thread."""
        self._stopped = True
        self._put(stop=1)

    def clear(self) -> None:
        """Forget everything earlier searches left."""
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
        """Raise what an evaluator raised."""
        if self._errors:
            error = self._errors[0]
            self._errors.clear()
            raise error

    def _new_generation(self) -> int:
        """Begin a search: it is not stopped, and its entries in the table have their own number."""
        self._stopped = False
        self._generation = (self._generation + 1) & 0xFF
        return self._generation

    def _run(self, search: Callable[[], None], *, seconds: float | None, short: bool) -> bool:
        """Run a search within its time; returns whether it was interrupted.

        Raises what the search or an evaluator raised.
        """
        stop = partial(self._put, stop=1)
        interrupted = run_search(search, stop, seconds=seconds, short=short)
        self._raise_failure()
        return interrupted or self._stopped

    def _check_position(self, position: Any) -> None:
        if self.native and len(position) != len(self.game.start()):
            raise ValueError(
                f"expected a position of {len(self.game.start())} integers, found {position!r}"
            )

    def _move(self, move: Any) -> Any:
        """A move of a line as users see it."""
        return int(move) if self.native else move

    def _depths(self, first: int, last: int, *, moves: bool) -> tuple[Depth, ...]:
        """What the iterations from `first` to `last` found, with their moves or without."""
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
    works: Sequence[Callable[[], None]], first_ended: Callable[[], None] | None = None
) -> None:
    """Run the first of several works here and each other one in a thread, until all have ended.

    first_ended: called when the first has ended, to end the others.

    Raises what one of them raised.
    """
    failed: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works[1:]]
    try:
        for thread in threads:
            thread.start()
        works[0]()
    finally:
        if first_ended is not None:
            first_ended()
        for thread in threads:
            if thread.ident is not None:  # the system may have refused to start it
                thread.join()
    if failed:
        raise failed[0]


def run_search(
    search: Callable[[], None], stop: Callable[[], None], *, seconds: float | None, short: bool
) -> bool:
    """Search until it ends, or stop it by time or by Ctrl-C; returns whether it was Ctrl-C.

    search: the work.
    stop: makes `search` return soon.
    seconds: the time after which it is stopped; None for no limit.
    short: it ends at once, and needs no thread of its own.

    Raises what the search raised.
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
    """Raises ValueError for a limit out of range, and where none is given.

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

"""Running a search: its start, threads, stopping, errors and result, for all kinds of search."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from games import kernels
from games.contract import Game, expect_position
from games.values import WIN
from programs.ending import LOOK
from search.evaluators.evaluator import Evaluator
from search.limits import UNLIMITED, Limits
from search.line import LINE, MOST_EARLIER, MOST_ROOT_MOVES, NativeLine, PlainLine
from search.lookups.lookup import Lookup
from search.result import Depth, Result
from search.sizes import MOST_THREADS
from search.time_control import GLANCE, Allowance, TimeControl

__all__ = ["DEEPEST", "Search", "run_search", "run_together"]

#: Greatest depth of a search without dice.
DEEPEST = 100


class Search:
    """The base of all kinds of search: a game, an evaluator, and memory of earlier searches.

    A kind without dice has a kernel `search_depth` (`search.root`) and makes its lines by `_bind`,
    one for each thread; the first line holds the result.

    Attributes:
        native: whether compiled code searches, or the same source in plain Python.
    """

    #: The least and the greatest depth.
    depths: ClassVar[tuple[int, int]] = (1, DEEPEST)
    #: Whether the choice, hard or easy, decides how much of an `Allowance` is used; else the usual
    #: time is.
    paces: ClassVar[bool] = False

    def __init__(self, game: Game, evaluator: Evaluator, *, threads: int, seed: Any) -> None:
        if type(threads) is not int or not 1 <= threads <= MOST_THREADS:
            raise ValueError(f"threads: expected 1 to {MOST_THREADS}, found {threads}")
        self.game = game
        self.evaluator = evaluator
        self.native = game.rules is not None and kernels.runs_compiled()
        try:
            self._random = np.random.default_rng(seed) if seed is not None else None
        except (TypeError, ValueError):
            raise ValueError(f"seed: expected at least 0, found {seed!r}") from None
        self._lines: list[Any] = []
        self._errors: list[BaseException] = []
        self._stopped = False
        #: seconds after its beginning at which the last search should end, and by which it was late
        self._due, self.late = math.inf, 0.0
        self._generation = 0

    # --- a search --------------------------------------------------------------------------------

    def search(
        self,
        position: Any,
        limits: Limits,
        *,
        history: Sequence[Any] = (),
        roll: int | None = None,
        exact_root: bool = False,
    ) -> Result:
        """As `Engine.search`; with `exact_root` every root move gets its exact value."""
        limits.check_depth(*self.depths)
        began = time.perf_counter()
        expect_position(self.game, position)
        task = self._prepared(position, limits, history, roll, exact_root)
        if task is None:
            return self._finished(position)
        if self._stopped:  # by another thread, while the lines were set up
            self._put(stop=1)
        interrupted = self._run(task, seconds=limits.seconds, short=self._is_short())
        result = self._result(position, roll, exact_root)
        seconds = time.perf_counter() - began
        self.late = max(0.0, seconds - self._due)
        about = dict(position=position, evaluator=self.evaluator)
        return Result(**result, **about, seconds=seconds, interrupted=interrupted)

    def _prepared(
        self,
        position: Any,
        limits: Limits,
        history: Sequence[Any],
        roll: int | None,
        exact_root: bool,
    ) -> Callable[[], None] | None:
        """Prepare a search; returns the function that runs it, None if the game is over."""
        if roll is not None:
            raise ValueError(f"{self.game.name} has no dice: expected no roll, found {roll!r}")
        moves = self.game.legal_moves(position)
        if not moves:
            return None
        if len(moves) > MOST_ROOT_MOVES:
            raise ValueError(f"expected at most {MOST_ROOT_MOVES} legal moves, found {len(moves)}")
        if self._random is not None:
            moves = [moves[i] for i in self._random.permutation(len(moves))]
        moves = self._in_order(position, moves)
        used = self._lines[:1] if limits.nodes is not None else self._lines
        deepest = self.depths[1] if limits.depth is None else int(limits.depth)
        if self.paces and isinstance(limits.seconds, Allowance) and len(moves) == 1:
            deepest = 1  # the only move is played at once
        self._new_generation()
        for line in used:
            self._start(line, position, moves, history)
            line.put(
                depth_limit=deepest,
                node_limit=min(limits.nodes or UNLIMITED, UNLIMITED),
                exact_root=int(exact_root),
            )
            line.share(len(used) > 1)
        self._used = used
        tasks = [partial(self._iterate, line.row) for line in used]
        return partial(run_together, tasks, partial(self._end, used[1:]))

    def _in_order(self, position: Any, moves: list[Any]) -> list[Any]:
        """Returns the root moves in the order in which they are searched."""
        return moves

    def _start(self, line: Any, position: Any, moves: list[Any], history: Sequence[Any]) -> None:
        """Make a line begin at a position."""
        earlier = list(history)[-MOST_EARLIER:] if line.repeats else []
        line.set_root(position, moves, earlier)
        self._begin(line.row, self._generation, len(earlier), len(moves))

    def _end(self, others: list[Any]) -> None:
        for line in others:
            line.put(stop=1)

    def _is_short(self) -> bool:
        """Returns whether a search ends so soon that Ctrl-C can wait for it."""
        return False

    def _result(self, position: Any, roll: int | None, exact_root: bool) -> dict[str, Any]:
        """Returns the fields of the result but for time and interruption."""
        line = self.line
        move, value = self._move(line.root_moves[int(line.best)]), self._shown(float(line.value))
        pv = tuple(self._move(move) for move in line.pv[0][: int(line.pv_length[0])])
        completed = int(line.completed)
        moves: list[tuple[Any, float]] = []
        if exact_root and completed:
            listed = zip(line.root_moves, line.settled_values[: int(line.root_count)], strict=False)
            moves = [(self._move(move), self._shown(float(value)) + 0.0) for move, value in listed]
            moves.sort(key=lambda item: -item[1])
            move, value = moves[0]
        if value != value:  # stopped before any move was valued
            value = self.evaluator(position)
        counts = ("nodes", "lookups", "lookup_hits", "probes", "hits")
        totals = {name: sum(int(getattr(line, name)) for line in self._used) for name in counts}
        return {
            "move": move,
            "value": value + 0.0,
            "pv": pv if pv[:1] == (move,) else (move,),
            "depth": completed,
            "history": self._depths(1, completed, moves=True),
            "moves": tuple(moves),
            **totals,
        }

    def _finished(self, position: Any) -> Result:
        """Returns the result in a position without legal moves; ValueError before the end."""
        outcome = self.game.outcome(position)
        if outcome is None:
            raise ValueError(f"{self.game.name}: no legal move, but no outcome: {position}")
        value = math.copysign(WIN, outcome) if self.game.wins and outcome else outcome
        about = dict(position=position, evaluator=self.evaluator)
        return Result(None, value, (), 0, 0, 0.0, **about)

    def _move(self, move: Any) -> Any:
        """Returns a move of a line in the form that users see."""
        return int(move) if self.native else move

    def _shown(self, value: float) -> float:
        """Returns a value of a line in the form that users see."""
        return value

    def _depths(self, first: int, last: int, *, moves: bool) -> tuple[Depth, ...]:
        """Returns the results of the iterations from `first` to `last`, with or without moves."""
        line = self.line
        return tuple(
            Depth(
                depth,
                self._shown(float(line.depth_value[depth])) + 0.0,
                self._move(line.depth_move[depth]) if moves else None,
                int(line.depth_nodes[depth]),
            )
            for depth in range(first, last + 1)
            if line.depth_nodes[depth]
        )

    # --- lines of games without dice -------------------------------------------------------------

    def _bind(
        self,
        search_depth: Any,
        *,
        table_mib: float,
        threads: int = 1,
        lookup: Lookup | None = None,
        trace: int = 0,
        addresses: Mapping[str, int] | None = None,
    ) -> None:
        """Make the lines.

        search_depth: the kernel that searches the root of a line.
        lookup, trace: as in `search.line`.
        addresses: native code that this kind of search enters, without the rules and the evaluator.
        """
        from search.root import begin, iterate, root_address

        self._begin: Any = begin
        self._iterate: Any = iterate
        if not self.native:
            self._begin, self._iterate = kernels.uncompiled(begin), kernels.uncompiled(iterate)
            probe = None if lookup is None else lookup.plain()
            line = PlainLine(self.game, self.evaluator.plain(), probe, trace)
            line.put(search_depth=kernels.uncompiled(search_depth))
            self._lines = [line]
            return
        evaluator = self.evaluator.native(self._fail)
        native_lookup = None if lookup is None else lookup.native(self.game)
        fields = {"root_at": root_address(search_depth, LINE), **(addresses or {})}
        for number in range(threads):
            shared = self._lines[0] if number else None
            native = NativeLine(table_mib, 0 if number else trace, shared)
            native.enter(self.game, evaluator)
            native.put(**fields)
            if native_lookup is not None:
                native.bind("lookup_at", "tables", native_lookup)
            self._lines.append(native)

    @property
    def line(self) -> Any:
        """The line of the first thread."""
        return self._lines[0]

    # --- running and stopping --------------------------------------------------------------------

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
            if self.paces:
                control = TimeControl(seconds, self.line, self.evaluator.unit)
            seconds = seconds.most if self.paces else seconds.usual
        interrupted = run_search(search, stop, seconds=seconds, short=short, control=control)
        self._due = control.due if control is not None else seconds or math.inf
        self._raise_failure()
        return interrupted or self._stopped


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
    seconds: the time limit. Default: no limit.
    short: whether the search ends within milliseconds and so needs no thread of its own.
    control: ends the search earlier if it has used enough of its time. Default: never.

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
    most = math.inf if seconds is None else seconds
    began = time.perf_counter()
    try:
        threading.Thread(target=work, daemon=True, name="search").start()
        used = 0.0
        while used < most and not (control is not None and control.enough(used)):
            if ended.wait(min(most - used, LOOK if control is None else GLANCE)):
                break
            used = time.perf_counter() - began
    except KeyboardInterrupt:
        interrupted = True
    while not ended.is_set():
        stop()
        try:
            ended.wait(LOOK)
        except KeyboardInterrupt:
            interrupted = True
    if failed:
        raise failed[0]
    return interrupted

"""`solve`: the fast search for a goal, for any problem and any heuristic."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from games import kernels
from games.contract import Position, expect_position
from games.problem import Heuristic, KernelProblem, Known, Problem, expect_problem
from programs.phrases import counted
from search.evaluators.evaluator import Evaluator
from search.evaluators.load import as_evaluator
from search.limits import UNLIMITED, Limits
from search.search import run_search
from search.single_agent.record import MOST_PLIES, NativeSearch, PlainSearch
from search.single_agent.store import Store
from search.textbook.solution import INTERRUPTED, SearchProgress, Solution, worth

__all__ = ["METHODS", "Unsolvable", "heuristic_of", "solve"]

METHODS = ("astar", "ida", "greedy", "beam")
#: Greatest rounding error of sums of costs, as a share of the sum.
ROUNDING = 1e-12
MOST_WEIGHT = 1000.0
TOO_DEEP = f"lines of {MOST_PLIES:,} moves were cut off"
#: Seconds between two reports of a search.
OFTEN = 0.1


class Unsolvable(ValueError):
    """A position from which no goal can be reached, with the reason."""


def solve(
    problem: Problem,
    position: Position | None = None,
    heuristic: Any = None,
    *,
    method: str = "astar",
    weight: float = 1.0,
    width: int | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    memory_mib: float = 1024.0,
    progress: Callable[[SearchProgress], Any] | None = None,
) -> Solution:
    """Returns a path from a position to a goal.

    Problems whose rules are kernels are searched by native code, others by the same source in
    Python. If nodes, seconds or memory run out, or on Ctrl-C, the answer has no moves, and says
    what any solution costs at least if the search knows it. A cost is called optimal, or bounded,
    only with a heuristic of which it is known that it never overestimates
    (`games.problem.Known`).

    position: the first position; default: the problem's start.
    heuristic: the name of a heuristic of the problem, an evaluator or its file, a kernel or any
        callable of a position; values below 0 count as 0. Default: the problem's first heuristic,
        or 0 everywhere.
    method: "astar" keeps all positions that it met in memory and takes the least f = g + weight * h
        first (Hart, Nilsson, Raphael 1968; Pohl 1970); "ida" is iterative-deepening A* (Korf 1985),
        which needs no memory; "greedy" takes the least h first; "beam" keeps the `width` positions
        of least f at each depth.
    weight: weight of the heuristic in f, from 1 to 1000; for "astar" and "beam" only.
    width: number of positions that "beam" keeps; default 1000.
    nodes: greatest number of positions to expand.
    memory_mib: greatest memory for positions, in MiB.
    progress: called ten times a second, in a thread of its own, with the state of the search, which
        ends if it returns True.

    Raises Unsolvable with the reason if the problem can tell at once that there is no solution, and
    ValueError if an option is out of range.
    """
    expect_problem(problem)
    if method not in METHODS:
        raise ValueError(f"method: expected one of {', '.join(METHODS)}, found {method!r}")
    if not 1.0 <= weight <= MOST_WEIGHT:
        raise ValueError(f"weight: expected 1 to {MOST_WEIGHT:g}, found {weight}")
    if weight != 1.0 and method not in ("astar", "beam"):
        raise ValueError(f"weight: not for the method {method}, found {weight:g}")
    if width is not None and method != "beam":
        raise ValueError(f"width: not for the method {method}, found {width}")
    width = 1000 if width is None else width
    if width < 1:
        raise ValueError(f"width: expected at least 1, found {width}")
    if not 0 < memory_mib <= 1 << 20:
        raise ValueError(
            f"memory_mib: expected more than 0 and at most {1 << 20}, found {memory_mib}"
        )
    if nodes is not None or seconds is not None:
        Limits(None, nodes, seconds)
    start = problem.start() if position is None else position
    expect_position(problem, start)
    reason = problem.why_unsolvable(start)
    if reason:
        raise Unsolvable(reason)
    search = _Search(problem, start, *heuristic_of(problem, heuristic), weight, nodes)
    try:
        with _Watch(search, method, progress):
            return search.run(method, width, memory_mib, seconds)
    finally:
        search.record = None  # which would wait for the garbage collector


def heuristic_of(problem: Problem, heuristic: Any) -> tuple[Evaluator, Any]:
    """Returns a heuristic as an evaluator, and its kernel `change` if it has one.

    heuristic: as `solve` takes it.
    """
    if heuristic is None and not problem.evaluators:
        nothing = Heuristic(_nothing, known=Known.BY_PROOF)
        evaluator = as_evaluator(problem, nothing)
        evaluator.name = "a heuristic of 0"
        return evaluator, None
    if heuristic is None:
        heuristic = next(iter(problem.evaluators))
    entry = problem.evaluators.get(heuristic) if isinstance(heuristic, str) else heuristic
    change = entry.change if isinstance(entry, Heuristic) else None
    return as_evaluator(problem, heuristic), change


class _Watch:
    """Reports on a search, from a thread, for as long as a `with` block runs."""

    def __init__(
        self, search: _Search, method: str, progress: Callable[[SearchProgress], Any] | None
    ):
        self._search, self._method, self._progress = search, method, progress
        self._done = threading.Event()
        self._begin = time.perf_counter()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> None:
        if self._progress is not None:
            self._thread = threading.Thread(target=self._work, daemon=True, name="progress")
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        search = self._search
        assert self._progress is not None
        while not self._done.wait(OFTEN):
            record = search.record
            if record is not None and self._progress(self._now(record)) is True:
                search.stopped = True
                record.put(stop=1)

    def _now(self, record: Any) -> SearchProgress:
        seconds = time.perf_counter() - self._begin
        frontier = int(record.waiting) if self._method in ("astar", "greedy") else 0
        f = None
        if self._method == "astar" and record.expanded:
            f = float(record.least)
        elif self._method == "ida":
            f = float(record.bound)
        frontier = frontier or int(record.largest)
        return SearchProgress(int(record.expanded), int(record.generated), frontier, f, seconds)


def _nothing(position: Any) -> float:
    return 0.0


class _Search:
    """One search: its record, its arrays and its answer."""

    def __init__(
        self,
        problem: Problem,
        position: Position,
        evaluator: Evaluator,
        change: Any,
        weight: float,
        nodes: int | None,
    ) -> None:
        self.problem, self.position, self.weight = problem, position, weight
        self.evaluator, self.change = evaluator, change
        self.native = isinstance(problem, KernelProblem) and kernels.compiled
        self.errors: list[BaseException] = []
        self.record: Any = None
        #: Whether whoever watches the search has ended it.
        self.stopped = False
        self.node_limit = UNLIMITED if nodes is None else nodes
        self.goal = False
        self.moves: list[Any] = []
        self.cost = math.inf

    def run(self, method: str, width: int, memory_mib: float, seconds: float | None) -> Solution:
        begin = time.perf_counter()
        if self.problem.solved(self.position):
            self.record = self._record(2)
            return self._answer(begin, True, (), 0.0, 1.0, "it is solved already")
        work = {
            "ida": self._ida,
            "astar": lambda: self._best_first(memory_mib, 1.0, self.weight),
            "greedy": lambda: self._best_first(memory_mib, 0.0, 1.0),
            "beam": lambda: self._beam(memory_mib, width),
        }[method]()
        try:
            interrupted = run_search(work, self._stop, seconds=seconds, short=False)
        except MemoryError:  # the system gave less than was allowed
            interrupted = False
            self.record.put(full=1)
        if self.errors:
            raise self.errors[0]
        if self.goal:
            return self._answer(begin, True, tuple(self.moves), self.cost, *self._proof(method))
        factor, why = self._failure(method, interrupted)
        return self._answer(begin, False, None, math.inf, factor, why + self._bound(method))

    def _proof(self, method: str) -> tuple[float, str]:
        if method in ("greedy", "beam"):
            left = "costs so far" if method == "greedy" else "positions outside the beam"
            return math.inf, f"{left} were left aside"
        if self.record.too_deep:
            return math.inf, TOO_DEEP
        return worth(self.evaluator.known, self.weight, self.evaluator.name)

    def _failure(self, method: str, interrupted: bool) -> tuple[float, str]:
        record = self.record
        if interrupted or self.stopped:
            return math.inf, INTERRUPTED
        if record.full:
            return math.inf, f"out of memory with {counted(int(record.nodes), 'position')} in it"
        if record.expanded >= self.node_limit:
            expanded = counted(int(record.expanded), "position")
            return math.inf, f"{expanded} expanded, as many as were allowed"
        if record.stop:
            return math.inf, "out of time"
        if record.too_deep:
            return math.inf, TOO_DEEP
        if method == "beam":
            return math.inf, "no goal within the beam"
        expansions = counted(int(record.expanded), "expansion")
        return 1.0, f"no goal can be reached: nothing is left after {expansions}"

    def _bound(self, method: str) -> str:
        """Returns words for the lower bound of costs that an ended search has proved."""
        record = self.record
        least = {"astar": float(record.least) / self.weight, "ida": float(record.bound)}
        bound = math.floor(1e4 * least.get(method, 0.0)) / 1e4
        ended = record.full or record.stop or record.expanded >= self.node_limit
        if not (ended and self.evaluator.known.admissible and bound and not record.too_deep):
            return ""
        return f"; any solution costs at least {bound:.10g}"

    def _answer(
        self, begin: float, found: bool, moves: Any, cost: float, factor: float, proved: str
    ) -> Solution:
        record = self.record
        return Solution(
            moves if found else None,
            cost,
            int(record.expanded),
            int(record.generated),
            int(record.largest),
            time.perf_counter() - begin,
            factor,
            proved,
        )

    # --- records and arrays ----------------------------------------------------------------------

    def _record(self, blocks: int) -> Any:
        problem = self.problem
        record: Any
        if isinstance(problem, KernelProblem) and kernels.compiled:
            from search.single_agent.native import problem_addresses

            record = NativeSearch(len(problem.start()), problem.most_moves, blocks)
            record.put(**problem_addresses(problem, self.change))
            record.bind("evaluate_at", "evaluator", self.evaluator.native(self._fail))
        else:
            record = PlainSearch(problem, self.evaluator.plain(), blocks)
        record.put(node_limit=self.node_limit)
        record.begin(self.position)
        return record

    def _fail(self, error: BaseException) -> None:
        self.errors.append(error)
        self._stop()

    def _stop(self) -> None:
        self.record.put(stop=1)

    def _run(self, kernel: Any) -> Callable[..., Any]:
        """Returns a function that runs a kernel on this search's record."""
        run = kernel if self.native else kernels.uncompiled(kernel)
        return lambda *arguments: run(self.record.row, *arguments)

    # --- methods ---------------------------------------------------------------------------------

    def _ida(self) -> Callable[[], None]:
        from search.single_agent import ida

        record = self.record = self._record(MOST_PLIES + 1)
        search_within = self._run(ida.search_within)
        places, counts, following, rests = np.zeros((4, MOST_PLIES + 1), dtype=np.int64)
        spent = np.zeros(MOST_PLIES + 1)
        root = max(self.evaluator(self.position), 0.0)

        def work() -> None:
            bound = root
            while bound < math.inf and not record.stop:
                record.put(bound=bound * (1.0 + ROUNDING))
                if search_within(root, places, counts, following, rests, spent):
                    self._read_line(places, float(spent[record.goal]))
                    return
                if record.expanded >= self.node_limit:
                    return
                bound = record.beyond

        return work

    def _read_line(self, places: Any, cost: float) -> None:
        """Read the moves of the solution from the blocks."""
        from search.single_agent.native import read_move

        self.goal, self.cost = True, cost
        self.moves = [
            read_move(self.record, ply, int(places[ply])) for ply in range(1, self.record.goal + 1)
        ]

    def _store(self, memory_mib: float, *, ordered: bool) -> Store:
        """Returns a store that holds the first position."""
        self.record = self._record(2)
        most = self.problem.most_moves if isinstance(self.problem, KernelProblem) else 256
        self.record.put(most_moves=most)
        return Store(
            self.record, self._run, native=self.native, ordered=ordered, memory_mib=memory_mib
        )

    def _done(self) -> bool:
        """Returns whether a limit has ended the search."""
        return bool(self.record.stop) or self.record.expanded >= self.node_limit

    def _best_first(self, memory_mib: float, cost: float, value: float) -> Callable[[], None]:
        from search.single_agent.best_first import begin, best_first

        store, record = self._store(memory_mib, ordered=True), self.record
        record.put(cost_weight=cost, heuristic_weight=value)
        first, search = self._run(begin), self._run(best_first)

        def work() -> None:
            first(store.values, *_buckets(store))
            while not search(*_arrays(store), *_buckets(store)):
                if self._done() or not store.grow():
                    return
            self._read_nodes(store)

        return work

    def _beam(self, memory_mib: float, width: int) -> Callable[[], None]:
        from search.single_agent.beam import next_layer

        store, record = self._store(memory_mib, ordered=False), self.record
        record.put(cost_weight=1.0, heuristic_weight=self.weight)
        expand = self._run(next_layer)

        def work() -> None:
            layer = np.zeros(1, dtype=np.int64)
            while len(layer):
                first = record.nodes
                record.put(begun=0)
                while not expand(*_arrays(store), layer):
                    if self._done():
                        return
                    if not record.full:
                        break
                    if not store.grow():
                        return
                else:
                    self._read_nodes(store)
                    return
                new = np.arange(first, record.nodes)
                if len(new) > width:
                    new = new[np.argpartition(store.values[new], width)[:width]]
                layer = new
                record.put(largest=max(record.largest, len(layer)))

        return work

    def _read_nodes(self, store: Store) -> None:
        """Read the moves of the solution from the stored positions."""
        node = self.record.goal
        self.goal, self.cost = True, float(store.costs[node])
        while node > 0:
            move = store.moves[node, 0]
            self.moves.append(int(move) if self.native else move)
            node = int(store.nodes[node, 0])
        self.moves.reverse()


def _arrays(store: Store) -> tuple[Any, ...]:
    return store.slots, store.nodes, store.moves, store.costs, store.values


def _buckets(store: Store) -> tuple[Any, ...]:
    return store.keys, store.heads, store.heap, store.places

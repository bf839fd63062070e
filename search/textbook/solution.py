"""The result of a search for a goal, and the nodes and counters that lead to it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

from games.contract import Move, Position
from games.problem import KernelProblem, Known, Problem, expect_problem
from programs.phrases import counted

__all__ = [
    "INTERRUPTED",
    "Count",
    "Node",
    "SearchProgress",
    "Solution",
    "StrategyOptions",
    "Trace",
    "Waiting",
    "worth",
]

#: The reason why an interrupted search has no solution.
INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Solution:
    """The moves to a goal, and the effort of finding them.

    moves: the moves from the given position to a goal; None if no solution was found.
    cost: the sum of the moves' costs; infinite if no solution was found.
    expanded: number of positions whose moves were all played.
    generated: number of positions that moves led to.
    largest_frontier: greatest number of positions that waited to be expanded (or lay on the path).
    seconds: elapsed time.
    factor: the cost is proved to be at most `factor` times the least cost of any solution; 1 means
        optimal, infinity that nothing is proved.
    proved: the reason for `factor`, or why no solution was found, in a few words.
    """

    moves: tuple[Move, ...] | None
    cost: float
    expanded: int
    generated: int
    largest_frontier: int
    seconds: float
    factor: float
    proved: str

    @property
    def optimal(self) -> bool:
        """Whether the search proved that no solution is cheaper."""
        return self.moves is not None and self.factor == 1.0

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C, or `progress`, ended the search."""
        return self.moves is None and self.proved.startswith(INTERRUPTED)

    def whole(self) -> Solution:
        """Returns the solution itself; raises KeyboardInterrupt if the search was interrupted."""
        if self.interrupted:
            raise KeyboardInterrupt
        return self


def worth(known: Known, factor: float, name: str = "") -> tuple[float, str]:
    """Returns the factor that a search with a heuristic proves for a solution, and the reason.

    known: what is known of the heuristic.
    factor: what the search proves if the heuristic never overestimates.
    name: the heuristic's, if it has one.
    """
    called = name or "the given heuristic"
    if known.admissible:
        return factor, f"{called} never overestimates"
    if known is Known.OVERESTIMATES:
        return math.inf, f"{called} is known to overestimate"
    return math.inf, f"nothing is known of {'the heuristic ' * bool(name)}{called}"


@dataclass(frozen=True)
class SearchProgress:
    """The state of a search for a goal while it runs.

    expanded: number of positions whose moves were all played.
    generated: number of positions that moves led to.
    frontier: number of positions that wait to be expanded; in iterative deepening, the greatest
        number of moves on the path so far.
    f: the least f = g + weight * h that waits, or the bound of this iteration, or None in a
        search that is not ordered by f.
    seconds: elapsed time.
    """

    expanded: int
    generated: int
    frontier: int
    f: float | None
    seconds: float


def _has_unit_costs(problem: Problem) -> bool:
    """Returns whether every move costs 1 because the problem states no other cost."""
    if isinstance(problem, KernelProblem):
        return problem.problem.cost is None
    return getattr(problem.cost, "__func__", None) is Problem.cost


class Waiting(NamedTuple):
    """A position of a frontier, as a trace shows it.

    cost: cost of the path to it.
    value: the value by which positions are compared, such as f, or None.
    """

    position: Position
    cost: float
    value: float | None = None


#: Called at each step of a search with the positions that wait, the next one first. A search that
#: keeps one line of moves, or one position, gives that instead.
Trace = Callable[[list[Waiting]], Any]


class StrategyOptions(TypedDict, total=False):
    """Further parameters of all strategies; see `Count`."""

    nodes: float
    trace: Trace | None


@dataclass(frozen=True, slots=True)
class Node:
    """A position with the path by which a search reached it."""

    position: Position
    parent: Node | None = None
    move: Move = None
    cost: float = 0.0
    depth: int = 0

    def moves(self) -> tuple[Move, ...]:
        """Returns the moves from the first position to this one."""
        return tuple(node.move for node in self.line()[1:])

    def line(self) -> list[Node]:
        """Returns the nodes from the first position to this one."""
        reversed_line = [self]
        while reversed_line[-1].parent is not None:
            reversed_line.append(reversed_line[-1].parent)
        return reversed_line[::-1]


class Count:
    """A problem being searched, with counters; it makes the solution at the end.

    position: the first position. Default: the problem's start.
    nodes: greatest number of positions to expand; the search then ends without a solution.
    trace: called with the frontier at each step.
    """

    def __init__(
        self,
        problem: Problem,
        position: Position | None,
        nodes: float = math.inf,
        trace: Trace | None = None,
    ) -> None:
        self.problem = expect_problem(problem)
        self.nodes = nodes
        self.trace = trace
        self.root = Node(problem.start() if position is None else position)
        self.expanded = self.generated = self.largest = 0
        self._costs: set[float] = set()
        self._start = time.perf_counter()

    @property
    def spent(self) -> bool:
        """Whether the limit on expanded positions has been reached."""
        return self.expanded >= self.nodes

    @property
    def open_costs(self) -> bool:
        """Whether moves may differ in cost, although all costs so far are equal."""
        return len(self._costs) < 2 and not self.spent and not _has_unit_costs(self.problem)

    def by_depth(self, depth: int, *, expanded: bool = False) -> tuple[float, str]:
        """Returns the factor of a solution of the fewest moves, and the reason.

        expanded: whether all positions that are fewer moves away have been expanded, so that the
            costs of the first `depth` moves of any solution are known.
        """
        alike = len(self._costs) < 2 if expanded else _has_unit_costs(self.problem)
        fewest = f"no solution has fewer than {counted(depth, 'move')}"
        return (1.0, fewest) if alike else (math.inf, f"{fewest}, but moves may differ in cost")

    def frontier(self, size: int) -> None:
        """Record the number of positions that are waiting now."""
        self.largest = max(self.largest, size)

    def show(self, nodes: Iterable[Node], value: Callable[[Node], float] | None = None) -> None:
        """Give the trace a frontier, with a value for each node."""
        if self.trace is not None:
            self.trace([Waiting(one.position, one.cost, value and value(one)) for one in nodes])

    def show_line(self, node: Node, value: Callable[[Node], float] | None = None) -> None:
        """Give the trace the line to a node."""
        if self.trace is not None:
            self.show(node.line(), value)

    def children(self, node: Node) -> list[Node]:
        """Returns the nodes that the moves of a node lead to, in the order of the moves."""
        problem, position = self.problem, node.position
        self.expanded += 1
        children = []
        for move in problem.legal_moves(position):
            cost = problem.cost(position, move)
            if len(self._costs) < 2:
                self._costs.add(cost)
            after = problem.play(position, move)
            children.append(Node(after, node, move, node.cost + cost, node.depth + 1))
        self.generated += len(children)
        return children

    def solution(self, node: Node | None, factor: float, proved: str) -> Solution:
        """Returns the path to a node as a solution; an empty answer if the node is None."""
        return self.result(None if node is None else node.moves(),
                           math.inf if node is None else node.cost, factor, proved)  # fmt: skip

    def result(
        self, moves: tuple[Any, ...] | None, cost: float, factor: float, proved: str
    ) -> Solution:
        """Returns a solution of these moves."""
        seconds = time.perf_counter() - self._start
        return Solution(
            moves, cost, self.expanded, self.generated, self.largest, seconds, factor, proved
        )

    def exhausted(self, positions: int | None = None) -> Solution:
        """Returns the answer after a complete search that found no goal.

        positions: number of positions that can be reached; None if the search did not count them.
        """
        if positions is None:
            return self.solution(None, 1.0, "no line that can be played leads to a goal")
        all_of_them = counted(positions, "position")
        return self.solution(None, 1.0, f"no goal among all {all_of_them} that can be reached")

    def cut_short(self) -> Solution:
        """Returns the answer of a search that reached its limit on expanded positions."""
        return self.solution(None, math.inf, f"stopped after {counted(self.expanded, 'expansion')}")

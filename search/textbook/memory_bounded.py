"""Textbook search with a heuristic in little memory: IDA*, RBFS and SMA*, for any problem.

With an admissible heuristic IDA* and RBFS find a cheapest solution, and SMA* does if the lines that
it has to compare fit into its memory.
"""

from __future__ import annotations

import math
from typing import Unpack

from games.contract import Position
from games.problem import Problem
from search.textbook.best_first import Heuristic, proof
from search.textbook.solution import Count, Node, Solution, StrategyOptions, Waiting

__all__ = ["ida_star", "recursive_best_first", "sma_star"]


def ida_star(
    problem: Problem,
    heuristic: Heuristic,
    position: Position | None = None,
    **options: Unpack[StrategyOptions],
) -> Solution:
    """Returns the cheapest solution by iterative-deepening A* (Korf 1985).

    It repeats a depth-first search limited by a bound on f = g + h. Each time the bound rises to
    the least f that exceeded it. Memory holds one line of play.
    """
    count = Count(problem, position, **options)
    bound = heuristic(count.root.position)
    while bound < math.inf:
        goal, beyond = _within(count, heuristic, count.root, bound, {count.root.position})
        if goal is not None:
            return count.solution(goal, *proof(heuristic))
        if count.spent:
            return count.cut_short()
        bound = beyond
    return count.exhausted()


def _within(
    count: Count, heuristic: Heuristic, node: Node, bound: float, line: set[Position]
) -> tuple[Node | None, float]:
    """Returns the goal below a node with no f above `bound`, or the least f that exceeded it."""
    value = node.cost + heuristic(node.position)
    count.show_line(node, lambda one: one.cost + heuristic(one.position))
    if value > bound:
        return None, value
    if count.problem.solved(node.position):
        return node, value
    least = math.inf
    if count.spent:
        return None, least
    for child in count.children(node):
        if child.position in line:
            continue
        line.add(child.position)
        count.frontier(len(line))
        goal, beyond = _within(count, heuristic, child, bound, line)
        line.remove(child.position)
        if goal is not None:
            return goal, beyond
        least = min(least, beyond)
    return None, least


def recursive_best_first(
    problem: Problem,
    heuristic: Heuristic,
    position: Position | None = None,
    **options: Unpack[StrategyOptions],
) -> Solution:
    """Returns the cheapest solution by recursive best-first search (Korf 1993).

    A line is followed while it is the best. When another becomes better, the line is forgotten
    except for the least f below it. Memory holds one line of play with its siblings.
    """
    count = Count(problem, position, **options)
    root = heuristic(count.root.position)
    goal, _ = _best_below(count, heuristic, count.root, root, math.inf, {count.root.position})
    if goal is not None:
        return count.solution(goal, *proof(heuristic))
    return count.cut_short() if count.spent else count.exhausted()


def _best_below(
    count: Count,
    heuristic: Heuristic,
    node: Node,
    value: float,
    limit: float,
    line: set[Position],
) -> tuple[Node | None, float]:
    """Returns the goal below a node if one has f within `limit`, and the best f below the node."""
    count.show_line(node, lambda one: one.cost + heuristic(one.position))
    if count.problem.solved(node.position):
        return node, value
    if count.spent:
        return None, value
    children = [child for child in count.children(node) if child.position not in line]
    values = [max(child.cost + heuristic(child.position), value) for child in children]
    while children:
        order = sorted(range(len(children)), key=values.__getitem__)
        best = order[0]
        if values[best] > limit or values[best] == math.inf:
            return None, values[best]
        second = values[order[1]] if len(order) > 1 else math.inf
        line.add(children[best].position)
        count.frontier(len(line) + len(children))
        goal, values[best] = _best_below(
            count, heuristic, children[best], values[best], min(limit, second), line
        )
        line.remove(children[best].position)
        if goal is not None or count.spent:
            return goal, values[best]
    return None, math.inf


class _Held:
    """A position in the memory of SMA*, with the values of its children that were dropped."""

    def __init__(self, node: Node, parent: _Held | None, value: float, number: int) -> None:
        self.node = node
        self.parent = parent
        #: The least known f of its descendants.
        self.value = value
        self.number = number
        self.expanded = False
        self.children: dict[Position, _Held] = {}
        #: The f of the children that were dropped to make room.
        self.forgotten: dict[Position, float] = {}

    @property
    def open_value(self) -> float:
        """The least f to be gained by expanding this position, or expanding it again."""
        if not self.expanded:
            return self.value
        return min(self.forgotten.values(), default=math.inf)


def sma_star(
    problem: Problem,
    heuristic: Heuristic,
    position: Position | None = None,
    *,
    memory: int,
    **options: Unpack[StrategyOptions],
) -> Solution:
    """Returns the cheapest solution within `memory` positions, by simplified memory-bounded A*.

    When the memory is full, the worst position without children (of equals the shallowest, then the
    oldest) is dropped, and its parent remembers its f. A line of more than `memory` positions does
    not fit, so its end counts as infinitely far; the solution is proved to be the cheapest only if
    no line that was cut off so could be cheaper. Raises ValueError if `memory` is below 2.
    Source: Russell 1992.
    """
    if memory < 2:
        raise ValueError(f"memory: expected at least 2 positions, found {memory}")
    left_aside = f"lines of more than {memory:,} positions were left aside"
    count = Count(problem, position, **options)
    held = {_Held(count.root, None, heuristic(count.root.position), 0)}
    number, too_long = 1, math.inf  # the least f of the lines that do not fit
    while True:
        best = min(held, key=lambda one: (one.open_value, -one.node.depth, one.number))
        if best.open_value == math.inf:
            break
        if count.trace is not None:
            leaves = sorted(held, key=lambda one: (one.open_value, -one.node.depth, one.number))
            count.trace(
                [Waiting(one.node.position, one.node.cost, one.open_value)
                 for one in leaves if one.open_value < math.inf]
            )  # fmt: skip
        if not best.expanded and problem.solved(best.node.position):
            if too_long < best.node.cost:
                return count.solution(best.node, math.inf, left_aside)
            return count.solution(best.node, *proof(heuristic))
        if count.spent:
            return count.cut_short()
        for child in _missing_children(count, best):
            value = best.forgotten.get(child.position, math.nan)
            if math.isnan(value):
                value = max(best.value, child.cost + heuristic(child.position))
            if child.depth + 1 >= memory and not problem.solved(child.position):
                too_long = min(too_long, child.cost + heuristic(child.position))
                value = math.inf
            best.children[child.position] = _Held(child, best, value, number)
            held.add(best.children[child.position])
            number += 1
        best.expanded = True
        best.forgotten.clear()
        _back_up(best)
        while len(held) > memory:
            _forget_worst(held)
        count.frontier(len(held))
    if too_long < math.inf:
        return count.solution(None, math.inf, f"no solution was met: {left_aside}")
    return count.exhausted()


def _missing_children(count: Count, parent: _Held) -> list[Node]:
    """Returns the children to generate (again): not in memory, and not on the line to `parent`."""
    line = set()
    above: _Held | None = parent
    while above is not None:
        line.add(above.node.position)
        above = above.parent
    wanted = parent.forgotten if parent.expanded else None
    dearest_first = sorted(count.children(parent.node), key=lambda child: -child.cost)
    return [
        child
        for child in {child.position: child for child in dearest_first}.values()
        if child.position not in line and (wanted is None or child.position in wanted)
    ]


def _back_up(held: _Held | None) -> None:
    """Give every position of a line the least f of its descendants."""
    while held is not None:
        below = [child.value for child in held.children.values()]
        below += held.forgotten.values()
        value = min(below, default=math.inf)
        if value == held.value:
            return
        held.value = value
        held = held.parent


def _forget_worst(held: set[_Held]) -> None:
    """Drop the worst position without children; its parent remembers its f."""
    worst = max(
        (one for one in held if one.parent is not None and not one.children),
        key=lambda one: (one.value, -one.node.depth, -one.number),
    )
    held.remove(worst)
    assert worst.parent is not None
    del worst.parent.children[worst.node.position]
    worst.parent.forgotten[worst.node.position] = worst.value

"""Textbook search with a heuristic: the most promising position first, for any problem.

A heuristic is a function of a position that estimates the least cost to a goal. It is *admissible*
if it never overestimates, and *consistent* if no move lowers it by more than the move's cost. Of a
plain function nothing is known; a `games.problem.Heuristic` or an evaluator says what is known of
it (`games.problem.Known`), and only with an admissible one is anything proved about a solution.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable
from typing import Any, Unpack

from games.contract import Position
from games.problem import Known, Problem
from programs.phrases import counted
from search.textbook.solution import Count, Node, Solution, StrategyOptions, worth

__all__ = ["Heuristic", "astar", "beam", "best_first", "greedy", "proof"]

Heuristic = Callable[[Any], float]


def proof(heuristic: Heuristic, factor: float = 1.0) -> tuple[float, str]:
    """Returns the factor that a search with a heuristic proves, and the reason.

    factor: what the search proves if the heuristic is admissible.

    Raises TypeError if the heuristic is not a function, such as a name.
    """
    if not callable(heuristic):
        raise TypeError(f"heuristic: expected a function, found {heuristic!r}")
    proved = getattr(heuristic, "known", Known.NOTHING)
    return worth(proved, factor, getattr(heuristic, "name", ""))


def best_first(
    problem: Problem,
    position: Position | None,
    order: Callable[[Node], tuple[float, ...]],
    factor: float,
    proved: str,
    **options: Unpack[StrategyOptions],
) -> Solution:
    """Returns the first goal met when nodes are expanded in rising `order`, equals oldest first.

    A position is expanded again if a cheaper path to it is found later.
    """
    count = Count(problem, position, **options)
    numbers = itertools.count()
    queue = [(order(count.root), next(numbers), count.root)]
    cheapest = {count.root.position: 0.0}
    while queue:
        _, _, node = heapq.heappop(queue)
        if node.cost > cheapest[node.position]:
            continue  # a cheaper path to it was found after it had been queued
        if count.trace is not None:
            rest = (one for *_, one in sorted(queue) if one.cost <= cheapest[one.position])
            count.show([node, *rest], lambda one: order(one)[0])
        if problem.solved(node.position):
            return count.solution(node, factor, proved)
        if count.spent:
            return count.cut_short()
        for child in count.children(node):
            if child.cost < cheapest.get(child.position, math.inf):
                cheapest[child.position] = child.cost
                heapq.heappush(queue, (order(child), next(numbers), child))
        count.frontier(len(queue))
    return count.exhausted(len(cheapest))


def greedy(
    problem: Problem,
    heuristic: Heuristic,
    position: Position | None = None,
    **options: Unpack[StrategyOptions],
) -> Solution:
    """Returns a solution, expanding first the position that seems nearest to a goal."""
    return best_first(
        problem,
        position,
        lambda node: (heuristic(node.position),),
        math.inf,
        "costs so far were left aside",
        **options,
    )


def astar(
    problem: Problem,
    heuristic: Heuristic,
    position: Position | None = None,
    *,
    weight: float = 1.0,
    **options: Unpack[StrategyOptions],
) -> Solution:
    """Returns the cheapest solution by A*: least f = g + weight * h first.

    Of positions with equal f the one that was costlier to reach comes first. With an admissible
    heuristic the solution costs at most `weight` times the least cost. Raises ValueError if
    `weight` is below 1. Sources: Hart, Nilsson and Raphael 1968; Pohl 1970 (weights).
    """
    if not weight >= 1.0:
        raise ValueError(f"weight: expected at least 1, found {weight}")
    return best_first(
        problem,
        position,
        lambda node: (node.cost + weight * heuristic(node.position), -node.cost),
        *proof(heuristic, weight),
        **options,
    )


def beam(
    problem: Problem,
    heuristic: Heuristic,
    position: Position | None = None,
    *,
    width: int,
    **options: Unpack[StrategyOptions],
) -> Solution:
    """Returns a solution, breadth first, keeping only the `width` best positions of each depth."""
    count = Count(problem, position, **options)
    layer, seen = [count.root], {count.root.position}
    while layer:
        count.show(layer, lambda node: node.cost + heuristic(node.position))
        for node in layer:
            if problem.solved(node.position):
                return count.solution(node, math.inf, "positions outside the beam were left aside")
        if count.spent:
            return count.cut_short()
        best = {}
        for node in layer:
            for child in count.children(node):
                if child.position not in seen and child.position not in best:
                    best[child.position] = child
        layer = sorted(best.values(), key=lambda node: node.cost + heuristic(node.position))
        layer = layer[:width]
        seen.update(node.position for node in layer)
        count.frontier(len(layer))
    return count.solution(None, math.inf, f"no goal within a beam of {counted(width, 'position')}")

"""Exact costs from all or some positions of a problem to the goal."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from itertools import count

from games.contract import Position
from games.problem import KernelProblem, Problem
from search import solve
from search.single_agent.patterns import build_patterns

__all__ = ["MOST_POSITIONS", "exact_costs", "least_costs"]

MOST_POSITIONS = 500_000
#: Maximum abstract positions of a pattern database built for exact costs, and maximum expansions
#: of a search with it.
MOST_ABSTRACT, MOST_EXPANDED = 20_000_000, 50_000_000


def least_costs(problem: Problem, *, most: int = MOST_POSITIONS) -> dict[Position, float] | None:
    """Returns the least cost of every position from which the goal can be reached.

    Dijkstra's search (1959), backwards from the goal by taking moves back.

    problem: a problem that names its goal and whose moves can be taken back.
    most: greatest number of positions.

    Returns None for a problem with more positions, at once if it tells its number of positions, or
    of any other kind.
    """
    if problem.reachable is not None and problem.reachable > most:
        return None
    try:
        goal = problem.goal()
    except TypeError:
        return None
    order = count()
    least: dict[Position, float] = {}
    waiting: list[tuple[float, int, Position]] = [(0.0, next(order), goal)]
    while waiting:
        cost, _, position = heapq.heappop(waiting)
        if position in least:
            continue
        if len(least) >= most:
            return None
        least[position] = cost
        for move in problem.legal_moves(position):
            before = problem.play(position, move)
            if before in least:
                continue
            try:
                back = problem.undo(position, move)
            except TypeError:
                return None
            heapq.heappush(waiting, (cost + problem.cost(before, back), next(order), before))
    return least


def exact_costs(
    problem: KernelProblem, positions: Iterable[Position]
) -> tuple[dict[Position, float], str] | None:
    """Returns the least costs of positions, and the method in words.

    By IDA* with the smallest of the problem's usual pattern databases. Returns None for a problem
    without one of at most `MOST_ABSTRACT` abstract positions, or if a search does not end within
    `MOST_EXPANDED` expansions.
    """
    sizes = {
        name: sum(problem.pattern(part, additive=len(parts) > 1).size for part in parts)
        for name, parts in problem.patterns.items()
    }
    name = min(sizes, key=sizes.__getitem__, default="")
    if not name or sizes[name] > MOST_ABSTRACT:
        return None
    database = build_patterns(problem, name)
    costs = {}
    for position in positions:
        solution = solve(problem, position, database, method="ida", nodes=MOST_EXPANDED).whole()
        if not solution.optimal:
            return None
        costs[position] = solution.cost
    return costs, f"IDA* with the pattern database {name}"

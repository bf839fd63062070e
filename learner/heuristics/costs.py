"""The least cost from every position of a problem to the goal, where there are few enough."""

from __future__ import annotations

import heapq
from itertools import count

from games.contract import Position
from games.problem import Problem

__all__ = ["MOST_POSITIONS", "least_costs"]

MOST_POSITIONS = 500_000


def least_costs(problem: Problem, *, most: int = MOST_POSITIONS) -> dict[Position, float] | None:
    """Returns the least cost of every position from which the goal can be reached.

    Dijkstra's search (1959) back from the goal over the moves that take moves back.

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

"""Textbook local search: one position at a time, and little or no memory of the path.

Hill climbing and simulated annealing look for a position of least heuristic value; LRTA* walks to a
goal and learns the heuristic on the way.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Unpack

from games.contract import Position
from games.problem import Problem
from programs.phrases import counted
from search.textbook.best_first import Heuristic
from search.textbook.solution import Count, Node, Solution, StrategyOptions, Trace

__all__ = ["hill_climbing", "lrta_star", "simulated_annealing"]

LOCAL = "the search sees no further than one move"


def hill_climbing(
    problem: Problem,
    heuristic: Heuristic,
    position: Position | None = None,
    *,
    restarts: int = 0,
    restart: Callable[[random.Random], Position] | None = None,
    seed: int = 0,
    **options: Unpack[StrategyOptions],
) -> Solution:
    """Steepest descent of the heuristic: the best move while it improves, else a restart.

    The moves returned are those of the last descent. If that ends in a local minimum, there is no
    solution.

    restarts: greatest number of restarts.
    restart: `restart(random)` returns the position to restart from; required with `restarts`.
    """
    if restarts and restart is None:
        raise ValueError("restart: expected a function that gives new positions, found None")
    chance = random.Random(seed)
    count = Count(problem, position, **options)
    node = count.root
    for climb in range(restarts + 1):
        if climb and restart is not None:
            node = Node(restart(chance))
        value = heuristic(node.position)
        count.show([node], lambda one: heuristic(one.position))
        while not problem.solved(node.position) and not count.spent:
            best = min(
                count.children(node), key=lambda child: heuristic(child.position), default=node
            )
            if heuristic(best.position) >= value:
                break
            node, value = best, heuristic(best.position)
            count.show([node], lambda one: heuristic(one.position))
        if problem.solved(node.position):
            return count.solution(node, math.inf, LOCAL)
    if count.spent:
        return count.cut_short()
    return count.solution(None, math.inf, f"a local minimum, where the heuristic says {value:g}")


def simulated_annealing(
    problem: Problem,
    heuristic: Heuristic,
    position: Position | None = None,
    *,
    temperature: Callable[[int], float],
    seed: int = 0,
    trace: Trace | None = None,
) -> Solution:
    """A random walk that takes a worse position with probability exp(-difference / temperature).

    Source: Kirkpatrick, Gelatt, Vecchi 1983.

    temperature: the temperature as a function of the step's number, from 0 on; the walk ends when
        it is 0 or less.
    """
    chance = random.Random(seed)
    count = Count(problem, position, trace=trace)
    node, step = count.root, 0
    while not problem.solved(node.position):
        count.show([node], lambda one: heuristic(one.position))
        heat = temperature(step)
        if heat <= 0:
            return count.solution(
                None, math.inf, f"the temperature fell to 0 after {counted(step, 'step')}"
            )
        moves = problem.legal_moves(node.position)
        move = chance.choice(moves)
        after = problem.play(node.position, move)
        count.generated += 1
        worse = heuristic(after) - heuristic(node.position)
        if worse <= 0 or chance.random() < math.exp(-worse / heat):
            cost = node.cost + problem.cost(node.position, move)
            node = Node(after, node, move, cost, node.depth + 1)
        step += 1
    return count.solution(node, math.inf, LOCAL)


def lrta_star(
    problem: Problem,
    heuristic: Heuristic,
    position: Position | None = None,
    *,
    learned: dict[Position, float] | None = None,
    **options: Unpack[StrategyOptions],
) -> Solution:
    """A walk to a goal that learns: Learning Real-Time A* (Korf 1990).

    In each position the move with the least cost + estimate is played, and the position's estimate
    is raised to that sum. With an admissible heuristic and repeated trials the estimates along the
    way become exact, so that the walk becomes a cheapest solution.

    learned: estimates from earlier trials; this trial updates them.
    """
    count = Count(problem, position, **options)
    table = {} if learned is None else learned

    def estimate(place: Position) -> float:
        return table[place] if place in table else heuristic(place)

    node = count.root
    while not problem.solved(node.position):
        count.show([node], lambda one: estimate(one.position))
        if count.spent:
            return count.cut_short()
        children = count.children(node)
        if not children:
            return count.solution(None, math.inf, "a position without moves")
        best = min(children, key=lambda c: c.cost - node.cost + estimate(c.position))
        table[node.position] = max(
            estimate(node.position), best.cost - node.cost + estimate(best.position)
        )
        node = best
        count.frontier(len(table))
    return count.solution(node, math.inf, LOCAL)

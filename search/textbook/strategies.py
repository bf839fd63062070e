"""The textbook's strategies by name, as the command line and the browser call them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from games.contract import Position
from games.problem import Problem
from search.textbook.best_first import Heuristic, astar, beam, greedy
from search.textbook.local import hill_climbing, lrta_star, simulated_annealing
from search.textbook.memory_bounded import ida_star, recursive_best_first, sma_star
from search.textbook.solution import Solution, Trace
from search.textbook.uninformed import (
    bidirectional,
    breadth_first,
    depth_first,
    depth_limited,
    iterative_deepening,
    uniform_cost,
)

__all__ = ["STRATEGIES", "Strategy", "run_strategy"]

#: Steps of simulated annealing, and its first temperature; it falls to 1/1000 of that.
STEPS, HOT = 20_000, 2.0


@dataclass(frozen=True)
class Strategy:
    """A strategy of `search.textbook`.

    title: its name, and which position it takes first.
    search: the function.
    informed: whether it reads a heuristic.
    options: its further numbers, with their defaults.
    """

    title: str
    search: Callable[..., Solution]
    informed: bool = True
    options: tuple[tuple[str, float], ...] = ()


def _climb(problem: Problem, heuristic: Heuristic, position: Any, **options: Any) -> Solution:
    """Hill climbing with 100 restarts at the problem's random positions."""

    def restart(chance: random.Random) -> Any:
        return problem.random_position(chance.randrange(1 << 30))

    return hill_climbing(problem, heuristic, position, restarts=100, restart=restart, **options)


def _bounded(
    problem: Problem, heuristic: Heuristic, position: Any, positions: float, **options: Any
) -> Solution:
    return sma_star(problem, heuristic, position, memory=int(positions), **options)


def _anneal(
    problem: Problem, heuristic: Heuristic, position: Any, nodes: float, trace: Trace | None
) -> Solution:
    steps = min(nodes, STEPS)

    def temperature(step: int) -> float:
        return HOT * 0.001 ** (step / STEPS) if step < steps else 0.0

    return simulated_annealing(problem, heuristic, position, temperature=temperature, trace=trace)


#: All strategies by name; those of `search.solve` have the same names there.
STRATEGIES = {
    "breadth_first": Strategy("Breadth first: the shallowest", breadth_first, False),
    "depth_first": Strategy("Depth first: the newest", depth_first, False),
    "uniform_cost": Strategy("Uniform cost: least cost so far", uniform_cost, False),
    "depth_limited": Strategy("Depth limited", depth_limited, False, (("depth", 10),)),
    "iterative_deepening": Strategy("Iterative deepening", iterative_deepening, False),
    "bidirectional": Strategy("Bidirectional: from both ends", bidirectional, False),
    "greedy": Strategy("Greedy: least estimate", greedy),
    "astar": Strategy("A*: least cost so far plus estimate", astar, True, (("weight", 1),)),
    "ida": Strategy("IDA*: A* without memory", ida_star),
    "rbfs": Strategy("Recursive best first", recursive_best_first),
    "sma": Strategy("SMA*: A* in little memory", _bounded, True, (("positions", 100),)),
    "beam": Strategy("Beam: the best of each depth", beam, True, (("width", 1000),)),
    "hill_climbing": Strategy("Hill climbing, with restarts", _climb),
    "annealing": Strategy("Simulated annealing", _anneal),
    "lrta": Strategy("LRTA*: a walk that learns", lrta_star),
}


def run_strategy(
    name: str,
    problem: Problem,
    position: Position | None,
    heuristic: Heuristic,
    *,
    nodes: float = math.inf,
    trace: Trace | None = None,
    **options: float | None,
) -> Solution:
    """Returns the solution by a strategy of `STRATEGIES`.

    heuristic: read by informed strategies only.
    options: the strategy's further numbers. Default: the usual ones.

    Raises ValueError for a strategy that does not exist, or an option that it does not have.
    """
    if name not in STRATEGIES:
        raise ValueError(f"method: expected one of {', '.join(STRATEGIES)}, found {name!r}")
    strategy = STRATEGIES[name]
    given = {option: value for option, value in options.items() if value is not None}
    for option, value in given.items():
        if option not in dict(strategy.options):
            raise ValueError(f"{option}: not for the method {name}, found {value:g}")
    guide = (heuristic,) if strategy.informed else ()
    chosen = dict(strategy.options) | given
    return strategy.search(problem, *guide, position, nodes=nodes, trace=trace, **chosen)

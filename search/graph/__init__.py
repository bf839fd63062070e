"""Search without an opponent: the textbook strategies, a few lines each, for any problem."""

from __future__ import annotations

from search.graph.best_first import astar, beam, greedy
from search.graph.local import hill_climbing, lrta_star, simulated_annealing
from search.graph.memory_bounded import ida_star, recursive_best_first, sma_star
from search.graph.solution import Solution
from search.graph.uninformed import (
    bidirectional,
    breadth_first,
    depth_first,
    depth_limited,
    iterative_deepening,
    uniform_cost,
)

__all__ = [
    "Solution",
    "astar",
    "beam",
    "bidirectional",
    "breadth_first",
    "depth_first",
    "depth_limited",
    "greedy",
    "hill_climbing",
    "ida_star",
    "iterative_deepening",
    "lrta_star",
    "recursive_best_first",
    "simulated_annealing",
    "sma_star",
    "uniform_cost",
]

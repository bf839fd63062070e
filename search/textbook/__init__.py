"""Textbook searches, a few lines each, to read and to test against.

The strategies for any problem with one agent are here by name; those of games are in
`search.textbook.minimax` (two players, dice, a model of the opponent) and `search.textbook.max_n`
(more than two).
"""

from __future__ import annotations

from search.textbook.best_first import astar, beam, greedy
from search.textbook.local import hill_climbing, lrta_star, simulated_annealing
from search.textbook.memory_bounded import ida_star, recursive_best_first, sma_star
from search.textbook.solution import Solution, Waiting
from search.textbook.strategies import STRATEGIES, run_strategy
from search.textbook.uninformed import (
    bidirectional,
    breadth_first,
    depth_first,
    depth_limited,
    iterative_deepening,
    uniform_cost,
)

__all__ = [
    "STRATEGIES",
    "Solution",
    "Waiting",
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
    "run_strategy",
    "simulated_annealing",
    "sma_star",
    "uniform_cost",
]

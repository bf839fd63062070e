"""The state of a search for a goal: a native record, or Python objects with the same names.

The positions being visited are in *blocks*: a block holds the children of one position, with the
move that led to each, the move that leads back, the cost and the heuristic's value. Block 0 holds
the first position.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from games.kernels.record import NativeRecord, PlainRecord
from games.problem import Problem

__all__ = ["MOST_PLIES", "NONE", "RECORD", "NativeSearch", "PlainSearch"]

#: The longest line of play of a depth-first search.
MOST_PLIES = 1000
#: Stands for the move that leads back if it does not exist.
NONE = -(1 << 62)

_NUMBERS = (
    # addresses: the problem, the heuristic, what changes it, blocks, stored positions
    "children_at promising_at solved_at key_at evaluate_at evaluator"
    " positions moves backs costs values counted report stored"
    # sizes
    " width most_moves room mask begun buckets heaped"
    # options, counters and flags
    " node_limit stop expanded generated largest nodes waiting rest full too_deep goal slot"
).split()

RECORD = np.dtype(
    [(name, np.int64) for name in _NUMBERS]
    + [
        (name, np.float64)
        for name in ("bound", "beyond", "least", "cost_weight", "heuristic_weight")
    ]
)


class NativeSearch(NativeRecord):
    """A record of type `RECORD` with the blocks that it points to.

    blocks: number of blocks in memory.
    """

    def __init__(self, width: int, most_moves: int, blocks: int) -> None:
        super().__init__(RECORD)
        rows = most_moves * blocks
        self.put(width=width, most_moves=most_moves)
        self.pin(
            positions=np.zeros((rows, width), dtype=np.int64),
            moves=np.zeros(rows, dtype=np.int64),
            backs=np.full(rows, NONE, dtype=np.int64),
            costs=np.zeros(rows, dtype=np.float64),
            values=np.zeros(rows, dtype=np.float64),
            counted=np.zeros(rows, dtype=np.int64),
            report=np.zeros(2, dtype=np.int64),
        )

    def begin(self, position: Any) -> None:
        """Put a position into block 0."""
        self.pinned["positions"][0] = position


class PlainSearch(PlainRecord):
    """The same fields for positions and moves that are any Python objects."""

    def __init__(self, problem: Problem, evaluate: Any, blocks: int) -> None:
        self.problem = problem
        self.evaluate = evaluate
        for name in _NUMBERS:
            setattr(self, name, 0)
        self.bound = self.beyond = self.least = 0.0
        self.cost_weight = self.heuristic_weight = 1.0
        self.positions: list[list[Any]] = [[] for _ in range(blocks)]
        self.moves: list[list[Any]] = [[] for _ in range(blocks)]
        self.backs: list[list[Any]] = [[] for _ in range(blocks)]
        self.costs: list[list[float]] = [[] for _ in range(blocks)]
        self.values: list[list[float]] = [[] for _ in range(blocks)]
        self.counted: list[list[int]] = [[] for _ in range(blocks)]
        self.stored: list[Any] = []
        self.table: dict[Any, int] = {}

    def begin(self, position: Any) -> None:
        """Put a position into block 0."""
        self.positions[0], self.backs[0] = [position], [NONE]

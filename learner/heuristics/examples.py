"""The newest positions with their costs to the goal, from which a heuristic is learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.features import Encoding
from games.problem import KernelProblem
from learner.heuristics.fit import packed_rows
from learner.positions.packing import packed, unpacked

__all__ = ["Examples"]


class Examples:
    """The positions of solutions, and their mirror images where the problem has them.

    problem: the problem that they belong to; positions are tuples of integers.
    encoding: the inputs that are stored for each position.
    room: greatest number of positions.

    `len` is the number of positions kept. `seen` [inputs] is whether any position to learn from has
    had the input, even one no longer kept.
    """

    def __init__(self, problem: KernelProblem, encoding: Encoding, room: int) -> None:
        self.problem, self.encoding, self.room = problem, encoding, room
        self._positions = np.zeros((room, len(problem.start())), dtype=np.int64)
        self._rows = packed_rows(np.zeros((room, encoding.most), dtype=np.int64), encoding.size)
        self._costs = np.zeros(room)
        self._aside = np.zeros(room, dtype=bool)
        self.seen = np.zeros(encoding.size, dtype=bool)
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, self.room)

    def add(self, position: Any, moves: tuple[Any, ...], cost: float, *, aside: bool) -> None:
        """Add the positions of a solution before the goal.

        position: the first one.
        moves: the moves that solve it.
        cost: their cost.
        aside: whether these positions only test the fit.
        """
        problem, mirror = self.problem, self.problem.problem.mirror
        positions, costs = [], []
        for move in moves:
            positions.append(position)
            costs.append(cost)
            if mirror is not None:
                positions.append(tuple(map(int, mirror(position))))
                costs.append(cost)
            cost -= problem.cost(position, move)
            position = problem.play(position, move)
        if not positions:
            return
        places = (self._added + np.arange(len(positions))) % self.room
        self._positions[places], self._costs[places] = positions, costs
        rows = self._inputs(positions)
        self._rows[places], self._aside[places] = rows, aside
        if not aside:
            self.seen[rows[rows < self.encoding.size]] = True
        self._added += len(positions)

    def _inputs(self, positions: Any) -> NDArray[Any]:
        return packed_rows(self.encoding.active_rows(positions), self.encoding.size)

    def known(self) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]:
        """Returns inputs [positions, most], costs and whether each position is only for judging."""
        count = len(self)
        return self._rows[:count], self._costs[:count], self._aside[:count]

    def get_state(self) -> dict[str, Any]:
        """Returns the examples as plain values; costs are kept as 64-bit floating-point numbers."""
        count = len(self)
        return {
            "added": self._added,
            "positions": packed(self._positions[:count].T, level=6),
            "costs": packed(self._costs[:count], level=6),
            "aside": packed(self._aside[:count].astype(np.int64), level=6),
            "seen": packed(self.seen.astype(np.int64), level=6),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Take the examples that `get_state` returned; raises ValueError for damaged ones."""
        added = int(state["added"])
        if added < 0:
            raise ValueError(f"added: expected at least 0, found {added}")
        count, width = min(added, self.room), self._positions.shape[1]
        positions = unpacked(state["positions"], np.int64, size=count * width, compressed=True)
        costs = unpacked(state["costs"], np.float64, size=count, compressed=True)
        aside = unpacked(state["aside"], np.int64, size=count, compressed=True)
        seen = unpacked(state["seen"], np.int64, size=len(self.seen), compressed=True)
        self._positions[:count] = positions.reshape(width, count).T
        self._costs[:count], self._aside[:count] = costs, aside != 0
        self._added, self.seen = added, seen != 0
        if count:
            self._rows[:count] = self._inputs([tuple(map(int, p)) for p in self._positions[:count]])

"""Positions with their cost to the goal, to learn a heuristic from; the newest are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.features import Encoding
from games.problem import KernelProblem
from learner.heuristics.fit import packed_rows

__all__ = ["Examples"]


class Examples:
    """The positions of solutions, and their mirror images where the problem has them.

    problem: the problem that they belong to.
    encoding: the inputs that are kept of each.
    room: greatest number of positions.

    `len` is the number of positions kept.
    """

    def __init__(self, problem: KernelProblem, encoding: Encoding, room: int) -> None:
        self.problem, self.encoding, self.room = problem, encoding, room
        self._rows = packed_rows(np.zeros((room, encoding.most), dtype=np.int64), encoding.size)
        self._costs = np.zeros(room)
        self._aside = np.zeros(room, dtype=bool)
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, self.room)

    def add(self, position: Any, moves: tuple[Any, ...], cost: float, *, aside: bool) -> None:
        """Add the positions of a solution before the goal.

        position: the first one.
        moves: the moves that solve it.
        cost: their cost.
        aside: whether these positions are only for judging.
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
        rows = packed_rows(self.encoding.active_rows(positions), self.encoding.size)
        places = (self._added + np.arange(len(rows))) % self.room
        self._rows[places], self._costs[places], self._aside[places] = rows, costs, aside
        self._added += len(rows)

    def known(self) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]:
        """Returns inputs [positions, most], costs and whether each position is only for judging."""
        count = len(self)
        return self._rows[:count], self._costs[:count], self._aside[:count]

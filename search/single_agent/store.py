"""A store, which grows, for the positions that a search has met and the facts about each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from search.single_agent.record import NONE

__all__ = ["Store"]

#: Initial number of positions that fit, and the factor by which it grows.
FIRST, GROWTH = 1 << 12, 4
#: Positions that a plain search of a problem in Python may store for each MiB.
PLAIN_PER_MIB = 2000


class Store:
    """The stored positions of a search, numbered from 0.

    record: the record of the search; its `stored` and `room` are kept up to date.
    run: turns a kernel into a function that runs on the record.
    native: whether positions are integers in memory.
    memory_mib: greatest memory to use, in MiB; the children of one position always fit.

    Attributes:
        nodes: (parent, next in its bucket) of each position.
        moves: (the move that led to it, the move that leads back) of each position.
        costs: the cost so far of each position.
        values: the heuristic's value of each position.
        slots: the hash table of a native search.
    """

    def __init__(
        self, record: Any, run: Callable[[Any], Any], *, native: bool, memory_mib: float
    ) -> None:
        from search.single_agent.best_first import store_root

        self.record, self.run, self.native = record, run, native
        each = 8 * (record.width + 6) + 16  # with two slots of the table
        room = memory_mib * 2**20 / each if native else memory_mib * PLAIN_PER_MIB
        self.most = max(int(room), record.most_moves + 1)
        self._make(min(FIRST + record.most_moves, self.most), 0)
        run(store_root)(self.slots)
        self.nodes[0], self.moves[0], self.costs[0] = -1, NONE, 0.0

    def _make(self, room: int, known: int) -> None:
        """Make arrays with room for `room` positions, the first `known` of them copied."""
        self.nodes = self._more("nodes", (room, 2), np.int64, known)
        self.moves = self._more("moves", (room, 2), np.int64 if self.native else object, known)
        self.costs = self._more("costs", (room,), np.float64, known)
        self.values = self._more("values", (room,), np.float64, known)
        self.slots = np.zeros(1 << room.bit_length() if self.native else 1, dtype=np.int64)
        if self.native:
            stored = np.empty((room, self.record.width), dtype=np.int64)
            if known:
                stored[:known] = self.record.pinned["stored"][:known]
            self.record.pin(stored=stored)
        self.record.put(room=room, mask=len(self.slots) - 1, full=0)

    def _more(self, name: str, shape: tuple[int, ...], kind: Any, known: int) -> Any:
        array: Any = np.empty(shape, dtype=kind)
        if known:
            array[:known] = getattr(self, name)[:known]
        return array

    def grow(self) -> bool:
        """Make more room if the search ran out of it. Returns whether there is room."""
        from search.single_agent.best_first import fill_table

        if not self.record.full or len(self.costs) >= self.most:
            return False
        self._make(min(GROWTH * len(self.costs), self.most), self.record.nodes)
        if self.native:
            self.run(fill_table)(self.slots, self.costs)
        return True

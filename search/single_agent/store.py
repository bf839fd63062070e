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
#: Bytes of a bucket, and the buckets for each position unless positions turn out to need more.
BUCKET, SHARE = 48, 1 / 8


class Store:
    """The stored positions of a search, numbered from 0.

    record: the record of the search; its `stored` and `room` are kept up to date.
    run: turns a kernel into a function that runs on the record.
    native: whether positions are integers in memory.
    ordered: whether positions wait in buckets.
    memory_mib: greatest memory to use, in MiB; the children of one position always fit. For
        positions that are Python objects it is an estimate, 2,000 of them in a MiB.

    Attributes:
        nodes: (parent, next in its bucket) of each position.
        moves: (the move that led to it, the move that leads back) of each position.
        costs: the cost so far of each position.
        values: the heuristic's value of each position.
        slots: the hash table of a native search.
        keys, heads, heap, places: the buckets, as `best_first` has them.
    """

    def __init__(
        self,
        record: Any,
        run: Callable[[Any], Any],
        *,
        native: bool,
        ordered: bool,
        memory_mib: float,
    ) -> None:
        from search.single_agent.best_first import store_root

        self.record, self.run, self.native = record, run, native
        self.bytes = memory_mib * 2**20
        #: Buckets for each position.
        self._share = SHARE if ordered else 0.0
        self._make(min(FIRST + record.most_moves, self._most()))
        run(store_root)(self.slots)
        self.nodes[0], self.moves[0], self.costs[0] = -1, NONE, 0.0

    def _most(self) -> int:
        """Returns how many positions fit into the memory, with their buckets."""
        each = 8 * (self.record.width + 8) if self.native else 2**20 / PLAIN_PER_MIB
        fits = int(self.bytes / (each + BUCKET * self._share))
        return max(fits, int(self.record.most_moves) + 1)

    def _make(self, room: int) -> None:
        """Make arrays with room for `room` positions, and copy what is known into them."""
        record = self.record
        nodes, buckets = record.nodes, record.buckets
        self.nodes = self._more("nodes", (room, 2), np.int64, nodes)
        self.moves = self._more("moves", (room, 2), np.int64 if self.native else object, nodes)
        self.costs = self._more("costs", (room,), np.float64, nodes)
        self.values = self._more("values", (room,), np.float64, nodes)
        self.slots = np.zeros(1 << room.bit_length() if self.native else 1, dtype=np.int64)
        if self.native:
            stored = np.empty((room, record.width), dtype=np.int64)
            if nodes:
                stored[:nodes] = record.pinned["stored"][:nodes]
            record.pin(stored=stored)
        most = self._buckets(room)
        self.keys = self._more("keys", (most, 2), np.float64, buckets)
        self.heads = self._more("heads", (most,), np.int64, buckets)
        self.heap = self._more("heap", (most,), np.int64, record.heaped)
        self.places = np.zeros(1 << most.bit_length(), dtype=np.int64)
        record.put(room=room, mask=len(self.slots) - 1, full=0)

    def _buckets(self, room: int) -> int:
        return int(room * self._share) + int(self.record.most_moves) + 1

    def _more(self, name: str, shape: tuple[int, ...], kind: Any, known: int) -> Any:
        array: Any = np.empty(shape, dtype=kind)
        if known:
            array[:known] = getattr(self, name)[:known]
        return array

    def grow(self) -> bool:
        """Make more room if the search ran out of it. Returns whether there is room."""
        from search.single_agent.best_first import fill_places, fill_table

        record = self.record
        if not record.full:
            return False
        if self._share and record.buckets > SHARE * record.nodes:
            self._share = 1.0
        room, most = min(GROWTH * len(self.costs), self._most()), record.most_moves
        if record.nodes + most > room or record.buckets + most > self._buckets(room):
            return False
        self._make(room)
        if self.native:
            self.run(fill_table)(self.slots, self.costs)
        self.run(fill_places)(self.keys, self.places)
        return True

"""The line of play that a search is on, and everything that it keeps while it looks ahead.

Native searches keep it in one structured record and a few arrays that the record points to; plain
ones in a Python object with the same field names. `search.native` reads and writes both.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from games.contract import Game
from search.sizes import BUSY, CHECKS, DEPTHS, ENTRY, MOST_PLAIN, PHASES, STACK, WIDTH

__all__ = ["MOST_PLIES", "NativeLine", "PlainLine", "key_function"]

#: Longest line of play, quiescence included.
MOST_PLIES = 128
#: Earlier positions of the game that repetition looks back to.
MOST_EARLIER = 256
#: Root moves.
MOST_ROOT_MOVES = 1024

_NUMBERS = (
    # addresses: the game, the evaluator, lookups, memory
    "legal_at play_at status_at outcome_at key_at evaluate_at evaluator lookup_at tables"
    " phase_at positions moves order table table_mask busy"
    # options
    " width most_moves wins repeats equal_depth order_depth exact_root minimax depth_limit"
    " node_limit null_window aspiration"
    # what makes it selective, see `search.alphabeta.techniques`
    " selective deepen_from deepen_less singular_from beam malus"
    # counters and flags
    " generation earlier nodes stop lookups found probes hits root_count completed best"
    # what the last table or lookup probe found, and where a lookup writes
    " hit_depth hit_bound hit_move scratch"
    # positions searched, kept with their values: memory (0 for none), and how many of room
    " trace_at trace_room trace_first traced"
).split()

LINE = np.dtype(
    [(name, np.int64) for name in _NUMBERS]
    + [
        ("hit_value", np.float64),
        ("value", np.float64),
        ("singular_margin", np.float64),
        ("cut_width", np.float64),
        ("reductions", np.int64, (DEPTHS, DEPTHS)),
        ("cuts", np.float64, (PHASES, DEPTHS, CHECKS, 4)),
        ("left_out", np.int64, (MOST_PLIES + 1,)),
        ("first", np.int64, (MOST_PLIES + 1,)),
        ("keys", np.int64, (MOST_EARLIER + MOST_PLIES + 1,)),
        ("quiet_plies", np.int64, (MOST_PLIES + 1,)),
        ("killers", np.int64, (MOST_PLIES + 1, 2)),
        ("history", np.float64, (4096,)),
        ("pv", np.int64, (MOST_PLIES + 1, MOST_PLIES + 1)),
        ("pv_length", np.int64, (MOST_PLIES + 1,)),
        ("root_moves", np.int64, (MOST_ROOT_MOVES,)),
        ("root_values", np.float64, (MOST_ROOT_MOVES,)),
        ("settled_values", np.float64, (MOST_ROOT_MOVES,)),
        ("depth_value", np.float64, (MOST_PLIES + 1,)),
        ("depth_move", np.int64, (MOST_PLIES + 1,)),
        ("depth_nodes", np.int64, (MOST_PLIES + 1,)),
    ],
    align=True,
)

#: Integers of a traced position: the position, its value, and depth with bound.
TRACE = WIDTH + 2


@functools.cache
def key_function(address: int) -> Callable[[int], int]:
    """The native key function at an address as a Python function of the position's address."""
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)


class NativeLine:
    """A record of type `LINE` with the arrays that it points to.

    The transposition table is that of another line where one is given.
    """

    def __init__(self, table_mib: float, trace: int = 0, shared: NativeLine | None = None) -> None:
        self.record = np.zeros(1, dtype=LINE)
        self._positions = np.zeros((MOST_PLIES + 1, WIDTH), dtype=np.int64)
        self._moves = np.zeros(STACK, dtype=np.int64)
        self._order = np.zeros(STACK, dtype=np.float64)
        self._scratch = np.zeros(8, dtype=np.int64)
        buckets = 1
        if shared is not None:
            table_mib = 0.0
        while buckets * 2 * 2 * ENTRY * 8 <= table_mib * 2**20:
            buckets *= 2
        # A bucket must not lie across two cache lines, so the table begins with one. NumPy asks for
        # huge pages for what is not zeroed; `clear` does that.
        self._table = np.empty(buckets * 2 * ENTRY + 8, dtype=np.int64)
        start = self._table.ctypes.data
        self._views = {name: self.record[name] for name in LINE.names or ()}
        line = self.record[0]
        line["positions"] = self._positions.ctypes.data
        line["moves"] = self._moves.ctypes.data
        line["order"] = self._order.ctypes.data
        line["scratch"] = self._scratch.ctypes.data
        self._trace = np.zeros((trace, TRACE), dtype=np.int64)
        line["trace_at"] = self._trace.ctypes.data if trace else 0
        line["trace_room"] = trace
        line["table"] = start + (-start) % 64
        line["table_mask"] = buckets - 1
        self._shared = shared
        self._busy = np.zeros(BUSY, dtype=np.int64)
        if shared is not None:
            self._table, self._busy = shared._table, shared._busy
            line["table"], line["table_mask"] = shared.table, shared.table_mask

    def __getattr__(self, name: str) -> Any:
        view = self._views[name]
        return view[0] if view.ndim > 1 else view.item()

    def put(self, **values: Any) -> None:
        """Set fields of the record."""
        for name, value in values.items():
            self._views[name][0] = value

    def start(self, position: Any, moves: list[Any], earlier: list[Any]) -> None:
        """Make a position the root, with its moves and the positions before it."""
        self.root_moves[: len(moves)] = moves
        self.quiet_plies[0] = len(earlier)
        self.pv_length[0] = 0
        self.killers[:] = -1
        self.history[:] *= 0.25
        if self.repeats:
            key = key_function(self.key_at)
            place, keys = self.positions, self.keys
            for i, before in enumerate([*earlier, position]):
                self._positions[0, : len(before)] = before
                keys[i] = key(place)
        self._positions[0, : len(position)] = position

    def trace(self, width: int) -> tuple[Any, Any, Any, Any]:
        """Positions of the trace, their values, depths and bounds, as arrays."""
        rows = self._trace[: self.traced]
        values = rows[:, WIDTH].copy().view(np.float64)
        return rows[:, :width].copy(), values, rows[:, WIDTH + 1] >> 2, rows[:, WIDTH + 1] & 3

    def share(self, others: bool) -> None:
        """Say whether other threads search too; what they were at before is forgotten."""
        if others:
            self._busy[:] = 0
        self.put(busy=self._busy.ctypes.data if others else 0)

    def fill(self) -> float:
        """The share of some thousand table entries that are of this generation."""
        skip = (self.table - self._table.ctypes.data) // 8
        entries = self._table[skip : skip + (self.table_mask + 1) * 2 * ENTRY].reshape(-1, ENTRY)
        sample = entries[:: max(1, len(entries) // 1000)]
        facts = sample[:, 0] ^ sample[:, 1]
        used = (facts & 3 != 0) & (facts >> 19 & 0x1F == self.generation & 0x1F)
        return float(used.mean())

    def clear(self) -> None:
        """Forget what earlier searches left."""
        if self._shared is None:
            self._table[:] = 0
        self.record["history"] = 0
        self.record["killers"] = -1


class PlainLine:
    """The same fields for positions and moves that are any Python objects."""

    history: Any

    def __init__(self, game: Game, evaluate: Any, probe: Any = None, trace: int = 0) -> None:
        self.game = game
        self.evaluate = evaluate
        self.probe = probe
        for name in _NUMBERS:
            setattr(self, name, 0)
        for name in LINE.names or ():
            shape = LINE[name].shape
            if shape:
                number = LINE[name].base == np.float64
                setattr(self, name, np.zeros(shape, dtype=np.float64 if number else object))
        self.hit_value = self.value = 0.0
        self.phase = game.phases.phase if game.phases is not None else lambda position: 0
        self.positions: list[Any] = [None] * (MOST_PLIES + 1)
        self.moves: list[Any] = []
        self.order: list[float] = []
        self.table: dict[Any, tuple[float, int, int, int]] = {}
        self.most_moves = 0
        self.trace_room = self.trace_at = trace
        self.trace_entries: list[tuple[Any, float, int, int]] = []
        self.clear()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def put(self, **values: Any) -> None:
        """Set fields."""
        for name, value in values.items():
            setattr(self, name, value)

    def start(self, position: Any, moves: list[Any], earlier: list[Any]) -> None:
        """Make a position the root, with its moves and the positions before it."""
        self.positions[0] = position
        for i, move in enumerate(moves):
            self.root_moves[i] = move
        for i, before in enumerate([*earlier, position]):
            self.keys[i] = before
        self.quiet_plies[0] = len(earlier)
        self.pv_length[0] = 0
        self.left_out[:] = 0  # an evaluator that raised has ended the search before it did so
        self.killers[:] = None
        self.history *= 0.25

    def trace(self, width: int) -> tuple[Any, Any, Any, Any]:
        """Positions of the trace, their values, depths and bounds, as lists."""
        entries = self.trace_entries[: self.traced]
        positions, values, depths, bounds = zip(*entries, strict=True) if entries else ((),) * 4
        return list(positions), np.array(values), np.array(depths, int), np.array(bounds, int)

    def share(self, others: bool) -> None:
        """Nothing: a plain search has one thread."""

    def fill(self) -> float:
        """The share of the table's room that is taken."""
        return len(self.table) / MOST_PLAIN

    def clear(self) -> None:
        """Forget what earlier searches left."""
        self.table.clear()
        self.history[:] = 0.0
        self.killers[:] = None

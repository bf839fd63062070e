"""The line of play that a search without dice follows: its options, counters and memory.

A native search keeps them in one structured record and a few arrays that the record points to, a
plain search in a Python object with the same field names. `search.native` reads and writes both.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.kernels import NativeRecord, PlainRecord
from search.native import rules_addresses
from search.sizes import BUSY, DEPTHS, STACK, WIDTH
from search.table import new_table, table_mask

__all__ = ["LINE", "MOST_PLAYERS", "MOST_PLIES", "NONE", "NativeLine", "PlainLine", "key_function"]

#: Longest line of play, quiescence included.
MOST_PLIES = 128
#: Greatest number of earlier positions of the game in which repetitions are detected.
MOST_EARLIER = 256
#: A game in which positions can repeat is drawn after this many plies without an irreversible move.
QUIET_PLIES = 80
#: Stands for "no move" in place of the index of a move.
NONE = -1
#: Greatest number of root moves.
MOST_ROOT_MOVES = 1024
#: Greatest number of players.
MOST_PLAYERS = 8

_NUMBERS = (
    # addresses: the search of the root to one depth, the game, the evaluator, lookups, memory
    "root_at legal_at play_at status_at outcome_at key_at left_at evaluate_at evaluator lookup_at"
    " tables positions moves order table table_mask busy"
    # options
    " width most_moves wins repeats equal_depth exact_root depth_limit"
    " node_limit null_window aspiration"
    # options of selective search, see `search.alphabeta.techniques`
    " selective singular_from"
    # more than two players, see `search.multiplayer.kernels`; addresses first
    " vector_at turn_at players method centred"
    # counters and flags; plies without an irreversible move after which the game is drawn, and the
    # number of values so far that a deeper search may change
    " quiet_limit generation earlier nodes horizon stop lookups lookup_hits probes hits root_count"
    " completed following best"
    # whether root moves keep their order, whether deeper searches change nothing, and whether the
    # iteration under way has failed low
    " keep_order final failed_low"
    # the result of the last probe of the table or the lookup, and where a lookup writes
    " hit_depth hit_bound hit_move hit_ended scratch"
    # the trace, positions searched with their values: its memory (0 for none), its room, the first
    # entry of this search, and the number of entries
    " trace_at trace_room trace_first traced"
).split()

LINE = np.dtype(
    [(name, np.int64) for name in _NUMBERS]
    + [
        ("hit_value", np.float64),
        ("value", np.float64),
        ("spread", np.float64),
        ("singular_margin", np.float64),
        # the worth of a lookup's win that is not known to come in time
        ("sure", np.float64),
        ("reductions", np.int64, (DEPTHS, DEPTHS)),
        ("excluded", np.int64, (MOST_PLIES + 1,)),
        ("first", np.int64, (MOST_PLIES + 1,)),
        ("keys", np.int64, (MOST_EARLIER + MOST_PLIES + 1,)),
        ("quiet_plies", np.int64, (MOST_PLIES + 1,)),
        ("killers", np.int64, (MOST_PLIES + 1, 2)),
        ("history", np.float64, (4096,)),
        ("own", np.float64, (MOST_PLIES + 1,)),
        ("vectors", np.float64, (MOST_PLIES + 1, MOST_PLAYERS)),
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

#: Integers of an entry of the trace: the position, its value, and depth with bound.
TRACE = WIDTH + 2


@functools.cache
def key_function(address: int) -> Callable[[int], int]:
    """Returns the native key function at `address`, as a function of a position's address."""
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)


class NativeLine(NativeRecord):
    """A record of type `LINE` with the arrays that it points to.

    table_mib: the size of the transposition table.
    trace: the number of entries that the trace has room for.
    shared: the line whose transposition table this one uses. Default: one of its own.
    """

    def __init__(self, table_mib: float, trace: int = 0, shared: NativeLine | None = None) -> None:
        super().__init__(LINE)
        self._shared = shared
        self._trace = np.zeros((trace, TRACE), dtype=np.int64)
        self._busy: NDArray[np.int64]
        self._busy = np.zeros(BUSY, dtype=np.int64) if shared is None else shared._busy
        table = new_table(table_mib) if shared is None else shared.pinned["table"]
        self.pin(
            positions=np.zeros((MOST_PLIES + 1, WIDTH), dtype=np.int64),
            moves=np.zeros(STACK, dtype=np.int64),
            order=np.zeros(STACK, dtype=np.float64),
            scratch=np.zeros(8, dtype=np.int64),
            table=table,
        )
        self.put(table_mask=table_mask(table), trace_room=trace)
        if trace:
            self.pin(trace_at=self._trace)

    def enter(self, game: Game, evaluator: tuple[int, int, Any]) -> None:
        """Search a game with an evaluator.

        evaluator: as `Evaluator.native` returns it.
        """
        most_moves = getattr(game, "most_moves", 256)
        self.put(**rules_addresses(game), width=len(game.start()), most_moves=most_moves)
        self.bind("evaluate_at", "evaluator", evaluator)

    def set_root(self, position: Any, moves: list[Any], earlier: list[Any]) -> None:
        """Make a position the root, with its moves and the `earlier` positions of the game."""
        self.root_moves[: len(moves)] = moves
        root = self.pinned["positions"][0]
        if self.repeats:
            key = key_function(self.key_at)
            for i, occurred in enumerate([*earlier, position]):
                root[: len(occurred)] = occurred
                self.keys[i] = key(self.positions)
        root[: len(position)] = position

    def trace(self, width: int) -> tuple[Any, Any, Any, Any]:
        """Returns the positions of the trace, their values, depths and bounds, as arrays.

        width: number of integers in a position.
        """
        rows = self._trace[: self.traced]
        values = rows[:, WIDTH].copy().view(np.float64)
        return rows[:, :width].copy(), values, rows[:, WIDTH + 1] >> 2, rows[:, WIDTH + 1] & 3

    def share(self, others: bool) -> None:
        """Set whether other threads search too, and forget which positions they searched before."""
        if others:
            self._busy[:] = 0
            self.pin(busy=self._busy)
        else:
            self.put(busy=0)

    def clear(self) -> None:
        """Forget earlier searches."""
        if self._shared is None:
            self.pinned["table"][:] = 0
        self.record["history"] = 0
        self.record["killers"] = NONE


class PlainLine(PlainRecord):
    """The same fields for positions and moves that are any Python objects."""

    history: Any

    def __init__(self, game: Game, evaluate: Any, probe: Any = None, trace: int = 0) -> None:
        super().__init__(LINE)
        self.game = game
        self.evaluate = evaluate
        self.probe = probe
        self.positions: list[Any] = [None] * (MOST_PLIES + 1)
        self.moves: list[Any] = []
        self.order: list[float] = []
        self.table: dict[Any, tuple[float, int, int, int, int]] = {}
        self.most_moves = 0
        self.trace_room = self.trace_at = trace
        self.trace_entries: list[tuple[Any, float, int, int]] = []
        self.clear()

    def set_root(self, position: Any, moves: list[Any], earlier: list[Any]) -> None:
        """Make a position the root, with its moves and the `earlier` positions of the game."""
        self.positions[0] = position
        self.root_moves[: len(moves)] = moves
        self.keys[: len(earlier) + 1] = [*earlier, position]

    def trace(self, width: int) -> tuple[Any, Any, Any, Any]:
        """Returns the positions of the trace, their values, depths and bounds, as lists."""
        entries = self.trace_entries[: self.traced]
        positions, values, depths, bounds = zip(*entries, strict=True) if entries else ((),) * 4
        return list(positions), np.array(values), np.array(depths, int), np.array(bounds, int)

    def share(self, others: bool) -> None:
        """Does nothing: a plain search has one thread."""

    def clear(self) -> None:
        """Forget earlier searches."""
        self.table.clear()
        self.history[:] = 0.0
        self.killers[:] = None

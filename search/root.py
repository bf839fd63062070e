"""The root of a search: iterative deepening, the same for all kinds of search.

A kind of search has a kernel `search_depth(line, depth)`, which searches the root's moves to that
depth and returns the root's value. `deepen` calls it, by the address in the line's record, for
one depth after another; games without dice begin at depth 1 (`iterate`), those with dice at 0. As
everywhere in the search, one source serves native and plain searches.

Sources: Slate and Atkin 1977 (iterative deepening).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import void

from games.kernels import kernel
from games.kernels.bits import native
from games.kernels.memory import native_function
from games.kernels.record import address_of, record_reader
from search.limits import UNLIMITED
from search.line import LINE, NONE, QUIET_PLIES
from search.native import call_float, fade

__all__ = ["begin", "best_to_front", "deepen", "iterate", "record", "root_address", "settle"]

RECORD = numba.from_dtype(LINE)


def root_value(line, depth):
    """Returns the value of the root, searched `depth` plies deep by the kind of search."""
    return line.search_depth(line, depth)


@native(root_value)
def _root_value(line, depth):
    return call_float(line.root_at, (address_of(line), depth))


def root_address(search_depth: Any, dtype: np.dtype[Any]) -> int:
    """Returns the address of the kernel `search_depth` of lines of a dtype, for `line.root_at`."""
    text = "def root_at(line, depth):\n    return search_depth(record_at(line), depth)\n"
    scope = {"search_depth": search_depth, "record_at": record_reader(dtype)}
    return native_function("root_at", text, scope, "float64(int64, int64)")


@kernel
def record(line, depth, value):
    """Record the result of an iteration, unless it was stopped."""
    if line.stop == 0:
        line.depth_value[depth] = value
        line.depth_nodes[depth] = line.nodes
        line.completed = depth  # last, because `search.time_control` looks on


@kernel
def deepen(line, first):
    """Search the root `first` plies deep and deeper, until a limit is reached or `line.stop` set.

    It also ends once `search_depth` has set `line.final`, because deeper searches change nothing.
    `search_depth` may leave depths out: it then sets `line.following`.

    On return `completed` is the depth searched in full; `depth_value`, `depth_move` and
    `depth_nodes` hold the value, best move and nodes of each depth.
    """
    line.final = 0
    line.following = first
    while line.following <= line.depth_limit and line.stop == 0 and line.final == 0:
        depth = line.following
        line.following = depth + 1
        record(line, depth, root_value(line, depth))


# --- games without dice --------------------------------------------------------------------------


@kernel
def begin(line, generation, earlier, count):
    """Start a search of the root position: reset all counters, results and the stop flag.

    generation: number that distinguishes this search's table entries from earlier ones.
    earlier: number of positions before the root in which repetitions are detected; their keys and
        that of the root are in `line.keys`, if the game can repeat positions.
    count: number of root moves, which are in `line.root_moves`.

    Killers are forgotten, and history is multiplied by a quarter.
    """
    line.generation = generation & 0xFF
    line.earlier = earlier
    line.quiet_plies[0] = earlier
    # a game that continued after this draw was due is searched without the rule
    line.quiet_limit = QUIET_PLIES if line.repeats and earlier < QUIET_PLIES else UNLIMITED
    line.root_count = count
    line.nodes = 0
    line.horizon = 0
    line.stop = 0
    line.lookups = 0
    line.lookup_hits = 0
    line.probes = 0
    line.hits = 0
    line.completed = 0
    line.depth_nodes[:] = 0
    line.best = 0
    line.value = float("nan")
    line.pv_length[0] = 0
    line.excluded[:] = NONE  # a plain search that an evaluator ended may have left a move there
    fade(line)


@kernel
def best_to_front(line):
    """Move the best root move to the front; the others keep their order."""
    best = line.best
    move = line.root_moves[best]
    value = line.root_values[best]
    for i in range(best, 0, -1):
        line.root_moves[i] = line.root_moves[i - 1]
        line.root_values[i] = line.root_values[i - 1]
    line.root_moves[0] = move
    line.root_values[0] = value
    line.best = 0


@kernel
def settle(line, depth):
    """End an iteration: the best move so far comes first, `settled_values` has all values.

    A stopped iteration changes the result only if it found a better move, and with `exact_root` not
    at all. With `keep_order` the best move stays where it is, at `line.best`.
    """
    if line.stop != 0 and line.exact_root and line.completed > 0:
        return
    if not line.keep_order:
        best_to_front(line)
    if line.stop == 0:
        for i in range(line.root_count):
            line.settled_values[i] = line.root_values[i]
        line.depth_move[depth] = line.root_moves[line.best]


@kernel(signature=void(RECORD))
def iterate(line):
    """Search the root until a limit is reached, as `deepen` does.

    On return `root_moves[best]` is the best move, `value` its value and `pv[0]` the principal
    variation; `settled_values` are the values of the root moves at depth `completed`.
    """
    line.traced = line.trace_first
    deepen(line, 1)

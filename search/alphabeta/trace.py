"""The trace: every position that a search visited, with its value, depth and bound.

As in `search.native`, the Python body of each function serves the plain search, and compiled code
gets the native function below it.
"""

from __future__ import annotations

from games.kernels import float_bits
from games.kernels.bits import native
from games.kernels.memory import load_int, store_int
from search.line import TRACE
from search.sizes import WIDTH


def trace(line, ply, value, depth, bound):
    """Add the position at `ply` and the result of its search, as long as the trace has room."""
    if line.traced < line.trace_room:
        del line.trace_entries[line.traced :]
        line.trace_entries.append((line.positions[ply], value, depth, bound))
        line.traced += 1


@native(trace)
def _trace(line, ply, value, depth, bound):
    if line.traced < line.trace_room:  # without a trace the room is 0
        place = line.trace_at + 8 * TRACE * line.traced
        source = line.positions + 8 * WIDTH * ply
        for i in range(line.width):
            store_int(place, i, load_int(source, i))
        store_int(place, WIDTH, float_bits(value))
        store_int(place, WIDTH + 1, depth << 2 | bound)
        line.traced += 1


def keep_trace(line, begun):
    """Replace the entries of the previous iteration by those of this one.

    begun: number of entries when this iteration began.

    The entries of a stopped iteration are dropped instead, unless it was the first.
    """
    if line.stop != 0 and line.completed > 0:
        line.traced = begun
        return
    del line.trace_entries[line.trace_first : begun]
    line.traced -= begun - line.trace_first


@native(keep_trace)
def _keep_trace(line, begun):
    if line.stop != 0 and line.completed > 0:
        line.traced = begun
    elif begun > line.trace_first:
        source = line.trace_at + 8 * TRACE * begun
        target = line.trace_at + 8 * TRACE * line.trace_first
        count = line.traced - begun
        for i in range(count * TRACE):
            store_int(target, i, load_int(source, i))
        line.traced = line.trace_first + count

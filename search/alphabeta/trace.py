"""The trace: every position that a search looked into, with what it found of it.

As in `search.native`, the Python body of each function serves the plain search and compiled code
gets the overload below it.
"""

from __future__ import annotations

from numba.extending import overload

from games.kernels import float_bits
from games.kernels.memory import load_int, store_int
from search.alphabeta.line import TRACE
from search.sizes import WIDTH


def trace(line, ply, value, depth, bound):
    """Keep the position at `ply` with what its search found, where that was asked for."""
    if line.traced < line.trace_room:
        del line.trace_entries[line.traced :]
        line.trace_entries.append((line.positions[ply], value, depth, bound))
        line.traced += 1


@overload(trace)
def _trace(line, ply, value, depth, bound):
    def native(line, ply, value, depth, bound):
        if line.traced < line.trace_room:  # no room at all is what keeps it off
            place = line.trace_at + 8 * TRACE * line.traced
            source = line.positions + 8 * WIDTH * ply
            for i in range(line.width):
                store_int(place, i, load_int(source, i))
            store_int(place, WIDTH, float_bits(value))
            store_int(place, WIDTH + 1, depth << 2 | bound)
            line.traced += 1

    return native


def keep_trace(line, kept):
    """Put what an iteration traced in the place of what the one before it had, up to `kept`.

    An iteration that was stopped is forgotten, unless it was the first.
    """
    if line.stop != 0 and line.completed > 0:
        line.traced = kept
        return
    del line.trace_entries[line.trace_first : kept]
    line.traced -= kept - line.trace_first


@overload(keep_trace)
def _keep_trace(line, kept):
    def native(line, kept):
        if line.stop != 0 and line.completed > 0:
            line.traced = kept
        elif kept > line.trace_first:
            source = line.trace_at + 8 * TRACE * kept
            target = line.trace_at + 8 * TRACE * line.trace_first
            count = line.traced - kept
            for i in range(count * TRACE):
                store_int(target, i, load_int(source, i))
            line.traced = line.trace_first + count

    return native

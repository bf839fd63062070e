"""The transposition table: what a search found of positions, for when they are met again.

Several threads may write it at once. An entry is two words, each stored in one piece, and the first
is mixed with the second: what is half of one search and half of another is taken for empty (Hyatt
and Mann 2002). Beside the table stands which positions threads are at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from games.kernels import bits_float, float_bits, kernel
from games.kernels.memory import load_int, prefetch, store_int
from search.sizes import BUSY, ENTRY, MOST_PLAIN


def new_table(table_mib: float) -> NDArray[np.int64]:
    """Memory for a table of at most `table_mib` MiB and at least one bucket, not cleared."""
    buckets = 1
    while buckets * 2 * 2 * ENTRY * 8 <= table_mib * 2**20:
        buckets *= 2
    # No bucket may lie across two cache lines, so the table begins with one. NumPy asks for huge
    # pages only for memory that it does not zero itself.
    memory = np.empty(buckets * 2 * ENTRY + 8, dtype=np.int64)
    skip = -memory.ctypes.data % 64 // 8
    return memory[skip : skip + buckets * 2 * ENTRY]


def table_mask(table: NDArray[np.int64]) -> int:
    """The number of buckets less one, for `line.table_mask`."""
    return len(table) // (2 * ENTRY) - 1


def fill_of(table: NDArray[Any], generation: int) -> float:
    """The share of a table's entries, from 0 to 1, that are of a generation, by a sample."""
    entries = table.reshape(-1, ENTRY)
    sample = entries[:: max(1, len(entries) // 1000)]
    facts = sample[:, 0] ^ sample[:, 1]
    used = (facts & 3 != 0) & (facts >> 19 & 0x1F == generation & 0x1F)
    return float(used.mean())


def expect_probe(line, key):
    """Say that a position will soon be looked up, so that its bucket is there by then."""


@overload(expect_probe)
def _expect_probe(line, key):
    return lambda line, key: prefetch(line.table, (key & line.table_mask) * (2 * ENTRY))


def probe_table(line, key):
    """Look a position up; fills `hit_value`, `hit_depth`, `hit_bound` and `hit_move`."""
    entry = line.table.get(key)
    if entry is None:
        return False
    line.hit_value, line.hit_depth, line.hit_bound, line.hit_move = entry
    return True


@overload(probe_table)
def _probe_table(line, key):
    def native(line, key):
        place = (key & line.table_mask) * (2 * ENTRY)
        for _ in range(2):
            value = load_int(line.table, place + 1)
            facts = load_int(line.table, place) ^ _spread(value) ^ _key_part(key)
            if facts >> 24 == 0 and facts & 3 != 0:
                line.hit_value = bits_float(value)
                line.hit_bound = (facts & 3) - 1
                line.hit_depth = (facts >> 2) & 0x7F
                line.hit_move = (facts >> 9) & 0x3FF
                return True
            place += ENTRY
        return False

    return native


@kernel
def _key_part(key):
    """The part of a key that a table entry holds, in the upper 40 bits.

    Below it are 2 bits of bound + 1, 7 of depth, 10 of the move and 5 of the generation.
    """
    return key >> 23 << 24


@kernel
def _spread(bits):
    """A value's bits with the lowest 24, in which alone two wins differ, in the upper ones too.

    The lowest stay as they are. So an entry half of one search, half of another fits no key.
    """
    return bits ^ bits << 24


def store_table(line, key, value, depth, bound, move):
    """Remember what a search of `depth` plies found; `move` is an index among the legal moves.

    A bucket has two places: the first keeps the deeper search as long as it is of this
    generation, the second takes what the first refuses. Of the same position the last search is
    kept, not the deeper: what is there has just failed to settle the window.
    """
    if len(line.table) >= MOST_PLAIN:
        line.table.clear()
    line.table[key] = (value, depth, bound, move)


@overload(store_table)
def _store_table(line, key, value, depth, bound, move):
    def native(line, key, value, depth, bound, move):
        place = (key & line.table_mask) * (2 * ENTRY)
        generation = line.generation & 0x1F
        first, its_value = load_int(line.table, place), load_int(line.table, place + 1)
        facts = first ^ _spread(its_value)
        same = (facts ^ _key_part(key)) >> 24 == 0
        if not same and (facts >> 19) & 0x1F == generation and (facts >> 2) & 0x7F > depth:
            place += ENTRY
        elif not same:
            # what is moved out of the first place is still better than what the second holds
            store_int(line.table, place + ENTRY, first)
            store_int(line.table, place + ENTRY + 1, its_value)
        bits = float_bits(value)
        facts = (bound + 1) | depth << 2 | min(move, 0x3FF) << 9 | generation << 19
        store_int(line.table, place, _key_part(key) ^ facts ^ _spread(bits))
        store_int(line.table, place + 1, bits)

    return native


# --- what the threads of a search are at ------------------------------------------------------
# Two positions that share a place hide each other for a while, which costs time and nothing else.


def begin(line, key):
    """Say that this thread is about to search a position."""


@overload(begin)
def _begin(line, key):
    return lambda line, key: store_int(line.busy, key & (BUSY - 1), key)


def end(line, key):
    """Say that it has."""


@overload(end)
def _end(line, key):
    return lambda line, key: store_int(line.busy, key & (BUSY - 1), 0)


def is_busy(line, key):
    """Whether another thread is searching a position."""
    return False


@overload(is_busy)
def _is_busy(line, key):
    return lambda line, key: load_int(line.busy, key & (BUSY - 1)) == key

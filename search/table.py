"""The transposition table: values of positions that a search may meet again.

Several threads may write it at once. An entry is two words, each stored in one piece, and the first
is mixed with the second: an entry whose words come from two different stores counts as empty (Hyatt
and Mann 2002). Beside the table, a list holds the positions that threads are searching.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from games.kernels import bits_float, float_bits, kernel
from games.kernels.bits import native
from games.kernels.memory import load_int, prefetch, store_int
from search.sizes import BUSY, ENTRY, MOST_PLAIN


def new_table(table_mib: float) -> NDArray[np.int64]:
    """Returns memory for a table of at most `table_mib` MiB, at least one bucket, uncleared."""
    buckets = 1
    while buckets * 2 * 2 * ENTRY * 8 <= table_mib * 2**20:
        buckets *= 2
    # No bucket may lie across two cache lines, so the table begins with one. NumPy asks for huge
    # pages only for memory that it does not zero itself.
    memory = np.empty(buckets * 2 * ENTRY + 8, dtype=np.int64)
    skip = -memory.ctypes.data % 64 // 8
    return memory[skip : skip + buckets * 2 * ENTRY]


def table_mask(table: NDArray[np.int64]) -> int:
    """Returns the number of buckets minus one, for `line.table_mask`."""
    return len(table) // (2 * ENTRY) - 1


def expect_probe(line, key):
    """Prefetch the bucket of a position that will soon be looked up."""


@native(expect_probe)
def _expect_probe(line, key):
    return prefetch(line.table, (key & line.table_mask) * (2 * ENTRY))


def probe_table(line, key):
    """Returns whether the table holds a position.

    If so, `hit_value`, `hit_depth`, `hit_bound`, `hit_move` and `hit_ended` are set.
    """
    entry = line.table.get(key)
    if entry is None:
        return False
    line.hit_value, line.hit_depth, line.hit_bound, line.hit_move, line.hit_ended = entry
    return True


@native(probe_table)
def _probe_table(line, key):
    place = (key & line.table_mask) * (2 * ENTRY)
    for _ in range(2):
        value = load_int(line.table, place + 1)
        facts = load_int(line.table, place) ^ _spread(value) ^ _key_part(key)
        if facts >> 24 == 0 and facts & 3 != 0:
            line.hit_value = bits_float(value)
            line.hit_bound = (facts & 3) - 1
            line.hit_depth = (facts >> 2) & 0x7F
            line.hit_move = (facts >> 9) & 0x3FF
            line.hit_ended = (facts >> 19) & 1
            return True
        place += ENTRY
    return False


@kernel
def _key_part(key):
    """Returns the part of a key that a table entry holds, in the upper 40 bits.

    The lower 24 bits are, from the lowest: 2 of bound + 1, 7 of depth, 10 of the move, 1 that is
    set if the value has ended and 4 of the generation.
    """
    return key >> 23 << 24


@kernel
def _spread(bits):
    """Returns a value's bits with the lowest 24 mixed into the upper 40 as well.

    Two wins differ only in the lowest bits. With these in the upper bits too, an entry whose words
    come from two different stores matches no key.
    """
    return bits ^ bits << 24


def store_table(line, key, value, depth, bound, move, ended):
    """Store the result of a search of `depth` plies; `move` is an index among the legal moves.

    ended: 1 if the value rests on ends of games alone, so that no deeper search changes it, else 0.

    A bucket has two places. The first keeps the deeper of two searches of this generation; the
    second takes the others. Of two searches of the same position the later is kept, even if it is
    shallower, because the stored one has just failed to settle the window.
    """
    if len(line.table) >= MOST_PLAIN:
        line.table.clear()
    line.table[key] = (value, depth, bound, move, ended)


@native(store_table)
def _store_table(line, key, value, depth, bound, move, ended):
    place = (key & line.table_mask) * (2 * ENTRY)
    generation = line.generation & 0xF
    first, its_value = load_int(line.table, place), load_int(line.table, place + 1)
    facts = first ^ _spread(its_value)
    same = (facts ^ _key_part(key)) >> 24 == 0
    if not same and (facts >> 20) & 0xF == generation and (facts >> 2) & 0x7F > depth:
        place += ENTRY
    elif not same:
        # the entry that leaves the first place is still better than that in the second
        store_int(line.table, place + ENTRY, first)
        store_int(line.table, place + ENTRY + 1, its_value)
    bits = float_bits(value)
    facts = (bound + 1) | depth << 2 | min(move, 0x3FF) << 9 | ended << 19 | generation << 20
    store_int(line.table, place, _key_part(key) ^ facts ^ _spread(bits))
    store_int(line.table, place + 1, bits)


# --- positions that threads are searching -----------------------------------------------------
# Two positions that share a place hide each other for a while, which costs only time.


def begin(line, key):
    """Mark a position as being searched by this thread."""


@native(begin)
def _begin(line, key):
    return store_int(line.busy, key & (BUSY - 1), key)


def end(line, key):
    """Remove the mark that `begin` set."""


@native(end)
def _end(line, key):
    return store_int(line.busy, key & (BUSY - 1), 0)


def is_busy(line, key):
    """Returns whether another thread is searching a position."""
    return False


@native(is_busy)
def _is_busy(line, key):
    return load_int(line.busy, key & (BUSY - 1)) == key

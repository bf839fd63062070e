"""Sizes of a search's memory, on which native code and the arrays that it reads must agree."""

from __future__ import annotations

__all__ = [
    "BUSY",
    "DEPTHS",
    "ENTRY",
    "MOST_MIB",
    "MOST_PLAIN",
    "MOST_THREADS",
    "STACK",
    "WIDTH",
]

#: Room for the integers of one position.
WIDTH = 16
#: Room for moves on the stack of an alpha-beta search.
STACK = 1 << 14
#: Depths, and numbers of moves tried, that techniques distinguish; greater ones count as the last.
DEPTHS = 32
#: Integers of a table entry; two entries make a bucket, and two buckets a cache line.
ENTRY = 2
#: Greatest number of entries in the transposition table of a plain search.
MOST_PLAIN = 1 << 20
#: Greatest size of a transposition table in MiB.
MOST_MIB = 65536
#: Greatest number of threads that share a search.
MOST_THREADS = 64
#: Places for the positions that threads are searching at this moment; a power of 2.
BUSY = 1 << 12

"""The sizes of what searches keep, where native code and the arrays it reads have to agree."""

from __future__ import annotations

__all__ = [
    "BUSY",
    "CHECKS",
    "DEPTHS",
    "ENTRY",
    "MOST_PLAIN",
    "MOST_THREADS",
    "PHASES",
    "STACK",
    "WIDTH",
]

#: Integers kept for each position.
WIDTH = 16
#: Moves on the stack of an alpha-beta search.
STACK = 1 << 14
#: Depths, and numbers of moves tried, that techniques tell apart.
DEPTHS = 32
#: Phases of the game, and shallow searches at each depth, that ProbCut tells apart.
PHASES, CHECKS = 8, 2
#: Integers of a table entry; two entries make a bucket, and two buckets a cache line.
ENTRY = 2
#: Entries of the table of a plain search.
MOST_PLAIN = 1 << 20
#: Threads that can share a search.
MOST_THREADS = 64
#: Positions that the threads of a search can be at, at most; a power of 2.
BUSY = 1 << 12

"""Builds pattern databases by native breadth-first search backwards from the goal.

Each abstract position has one byte: its cost to the goal, plus 128 once the moves to it have been
tried. Costs are taken in rising order, and the bytes themselves are the queue: all positions of one
cost are found by reading the table. Moves that cost nothing are followed at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.problem import KernelProblem, Pattern
from search.evaluators.pattern_database import PatternDatabase, Sums, checked_sums

__all__ = ["build_patterns", "build_table"]

#: The cost of positions not reached; greater ones cannot be stored.
UNKNOWN = 127
DONE = 128
#: Bytes of the table read between two calls of `progress`.
CHUNK = 1 << 22
STACK = 1 << 10

#: Kernels of the problem and the pattern; placeholders, as each family has its own.
RANK = UNRANK = COST = LEGAL_MOVES = PLAY = UNDO = None


def spread(table, cost, begin, end, moves, stack, again):  # type: ignore[no-untyped-def]
    """Try all moves that lead to the positions of one cost; returns the number of positions.

    table: [size] the bytes, of which those from `begin` to `end` are read.
    moves, stack: scratch.
    again: [1] set to 1 if positions of this cost were met that must be read once more.
    """
    done = 0
    for number in range(begin, end):
        if table[number] != cost:
            continue
        table[number] = cost + DONE
        stack[0] = number
        waiting = 1
        while waiting:
            waiting -= 1
            done += 1
            position = UNRANK(stack[waiting])  # type: ignore[misc]
            for i in range(LEGAL_MOVES(position, moves)):  # type: ignore[misc]
                before = PLAY(position, moves[i])  # type: ignore[misc]
                step = COST(before, UNDO(position, moves[i]))  # type: ignore[misc]
                there = RANK(before)  # type: ignore[misc]
                known = int(table[there])
                if known >= DONE or known <= cost + step:
                    continue
                if step == 0 and waiting < STACK:
                    table[there] = cost + DONE
                    stack[waiting] = there
                    waiting += 1
                else:
                    table[there] = min(cost + step, UNKNOWN)
                    if step == 0:
                        again[0] = 1
    return done


def build_table(
    problem: KernelProblem, pattern: Pattern, *, progress: Callable[[int], Any] | None = None
) -> NDArray[np.int8]:
    """Returns the least cost from each abstract position to the goal, [size / fold].

    Positions that cannot reach the goal have 127, and so would have any of a greater cost.

    progress: called with the number of abstract positions whose cost has just become known.

    Raises TypeError for a problem whose moves cannot be taken back.
    """
    rules = problem.problem
    if rules.undo is None:
        raise TypeError(f"{problem.name}: expected a problem whose moves can be taken back")
    made = _family(pattern, rules)
    table = np.full(pattern.size, UNKNOWN, dtype=np.uint8)
    table[int(pattern.rank(pattern.goal))] = 0
    moves = np.zeros(problem.most_moves, dtype=np.int64)
    stack, again = np.zeros(STACK, dtype=np.int64), np.zeros(1, dtype=np.int64)
    cost, empty = 0, 0
    most_empty = 0 if rules.cost is None else UNKNOWN  # costs without a position before others
    while cost < UNKNOWN and empty <= most_empty:
        again[0], found = 0, 0
        for begin in range(0, pattern.size, CHUNK):
            end = min(begin + CHUNK, pattern.size)
            done = int(made.spread(table, cost, begin, end, moves, stack, again))
            found += done
            if progress is not None:
                progress(done)
        if again[0]:
            continue
        empty = 0 if found else empty + 1
        cost += 1
    table[table >= DONE] -= DONE
    least: NDArray[np.int8] = table.reshape(-1, pattern.fold).min(axis=1).view(np.int8)
    return least


@functools.lru_cache(maxsize=64)
def _family(pattern: Pattern, rules: Any) -> Any:
    return kernels.family(
        spread,
        RANK=pattern.rank,
        UNRANK=pattern.unrank,
        COST=pattern.cost,
        LEGAL_MOVES=rules.legal_moves,
        PLAY=rules.play,
        UNDO=rules.undo,
        UNKNOWN=UNKNOWN,
        DONE=DONE,
        STACK=STACK,
    )


def build_patterns(
    problem: KernelProblem,
    sums: Sums | str | None = None,
    *,
    mirrored: bool | None = None,
    memory_mib: float = 4096.0,
    progress: Callable[[int, int], Any] | None = None,
    name: str = "",
) -> PatternDatabase:
    """Returns a pattern database of a problem, built backwards from its goal.

    sums: patterns as `PatternDatabase` takes them, or the name of one of the problem's usual ones;
        default: the first of these.
    mirrored: whether to look up the mirror image too, and take the larger value; default: if the
        problem has one.
    memory_mib: greatest memory to use, in MiB.
    progress: called with the number of abstract positions whose cost is known, and that of all.

    Raises ValueError for patterns that the problem does not have, for a sum of patterns that share
    pieces, and if the memory does not suffice.
    """
    if sums is None or isinstance(sums, str):
        name = name or f"patterns {sums or next(iter(problem.patterns), '')}"
        sums = (_usual(problem, sums),)
    patterns = checked_sums(problem, sums)
    parts = [pattern for group in patterns for pattern in group]
    costs = sum(pattern.size // pattern.fold for pattern in parts)
    needed = costs + max(pattern.size for pattern in parts)
    if needed > memory_mib * 2**20:
        raise ValueError(
            f"memory: expected at least {needed / 2**20:,.0f} MiB for these patterns, found"
            f" {memory_mib:g}"
        )
    total, known = sum(pattern.size for pattern in parts), 0

    def tell(count: int) -> None:
        nonlocal known
        known += count
        if progress is not None:
            progress(known, total)

    tables = [build_table(problem, pattern, progress=tell) for pattern in parts]
    if mirrored is None:
        mirrored = problem.problem.mirror is not None
    return PatternDatabase(problem, sums, tables, mirrored=mirrored, name=name or "patterns")


def _usual(problem: KernelProblem, name: str | None) -> Sequence[Sequence[int]]:
    patterns = problem.patterns
    if not patterns:
        raise ValueError(f"{problem.name}: expected a problem with patterns, found none")
    if name is None:
        return next(iter(patterns.values()))
    if name not in patterns:
        raise ValueError(f"patterns: expected one of {', '.join(patterns)}, found {name!r}")
    return patterns[name]

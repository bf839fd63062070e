"""Counts the leaves of the game tree of checkers: `python -m benchmarks.leaves [--depth N]`.

Every depth from 1 on is compared with the published count; the exit status is 1 if one differs.
`perft` counts those of any game.
"""

from __future__ import annotations

import argparse
import copy
import operator
import sys
import time
from dataclasses import replace
from typing import Any

import numba
from numba import boolean, int64

import games
from games import kernels
from games.contract import Game
from games.kernels import kernel
from search.line import LINE, MOST_PLIES, NativeLine
from search.native import has_room, legal_moves, move_at, play, rules_addresses

__all__ = ["perft"]

#: Depths 1 to 13; a multi-jump is one ply, and different paths over the same pieces all count.
LEAVES = (
    7, 49, 302, 1469, 7361, 36768, 179740, 845931, 3963680, 18391564, 85242128, 388623673,
    1766623630,
)  # fmt: skip


@kernel(signature=int64(numba.from_dtype(LINE), int64, int64, boolean))
def count_leaves(line, depth, ply, bulk):
    """Returns the number of leaves `depth` plies below `ply`; sets `line.stop` if room runs out."""
    if depth == 0:
        return 1
    if line.stop != 0 or not has_room(line, ply):
        line.stop = 1
        return 0
    count = legal_moves(line, ply)
    if bulk and depth == 1:
        return count
    first = line.first[ply]
    leaves = 0
    for i in range(count):
        play(line, ply, move_at(line, first + i))
        leaves += count_leaves(line, depth - 1, ply + 1, bulk)
    return leaves


def perft(game: Game, position: Any, depth: int, *, bulk: bool = True) -> int:
    """Returns the number of ways to play exactly `depth` plies from a position.

    game: the game; games written as kernels are counted by the same native code that searches use.
    position: the root.
    depth: plies to play.
    bulk: count the moves of the last ply without playing them.

    Raises ValueError if the depth is negative or exceeds the longest line of a search.
    """
    if operator.index(depth) < 0:
        raise ValueError(f"depth: expected at least 0 plies, found {depth}")
    if game.rules is None or not kernels.compiled:
        return _count(game, position, depth, bulk)
    if depth > MOST_PLIES:
        raise ValueError(f"depth: expected at most {MOST_PLIES} plies, found {depth}")
    line = NativeLine(table_mib=0.001)
    bare = copy.copy(game)  # without kernels that serve only move ordering and repetition
    bare.rules = replace(game.rules, gain=None, irreversible=None)
    line.put(**rules_addresses(bare), most_moves=getattr(game, "most_moves", 256))
    line.set_root(position, [], [])
    leaves = int(count_leaves(line.row, depth, 0, bulk))
    if line.stop:
        raise ValueError(f"depth: expected fewer plies with so many moves, found {depth}")
    return leaves


def _count(game: Game, position: Any, depth: int, bulk: bool) -> int:
    if depth == 0:
        return 1
    moves = game.legal_moves(position)
    if bulk and depth == 1:
        return len(moves)
    return sum(_count(game, game.play(position, move), depth - 1, bulk) for move in moves)


def main(arguments: list[str] | None = None) -> int:
    """Count and compare; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leaves", description=__doc__)
    parser.add_argument("--depth", type=int, default=12, choices=range(1, 14), metavar="1-13")
    options = parser.parse_args(arguments)
    game = games.load("checkers")
    perft(game, game.start(), 1)  # compiled, or read from the cache, before the clock starts
    counts = []
    for depth in range(1, options.depth + 1):
        began = time.process_time()
        counts.append(perft(game, game.start(), depth))
        seconds = time.process_time() - began
        right = counts[-1] == LEAVES[depth - 1]
        print(
            f"{depth:2} {counts[-1]:13,} {'as published' if right else 'WRONG':12}"
            f" {seconds:7.2f} s {counts[-1] / max(seconds, 1e-9) / 1e6:6.0f} M leaves/s"
        )
    return 0 if counts == list(LEAVES[: options.depth]) else 1


if __name__ == "__main__":
    sys.exit(main())

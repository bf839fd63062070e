"""Counting the ways to play from a position, by the code that searches use: a test of rules."""

from __future__ import annotations

import copy
import operator
from dataclasses import replace
from typing import Any

import numba
from numba import boolean, int64

from games import kernels
from games.contract import Game
from games.kernels import kernel
from search.line import LINE, MOST_PLIES, NativeLine
from search.native import has_room, legal_moves, move_at, play, rules_addresses

__all__ = ["perft"]


@kernel(signature=int64(numba.from_dtype(LINE), int64, int64, boolean, boolean))
def count_leaves(line, depth, ply, bulk, ends):
    """Returns the number of leaves `depth` plies below `ply`; sets `line.stop` if room runs out."""
    if depth == 0:
        return 1
    if line.stop != 0 or not has_room(line, ply):
        line.stop = 1
        return 0
    count = legal_moves(line, ply)
    if count == 0:
        return 1 if ends else 0
    if bulk and depth == 1:
        return count
    first = line.first[ply]
    leaves = 0
    for i in range(count):
        play(line, ply, move_at(line, first + i))
        leaves += count_leaves(line, depth - 1, ply + 1, bulk, ends)
    return leaves


def perft(game: Game, position: Any, depth: int, *, bulk: bool = True, ends: bool = False) -> int:
    """Returns the number of ways to play exactly `depth` plies from a position.

    game: the game; games written as kernels are counted by the same native code that searches use.
    position: the root.
    depth: plies to play.
    bulk: count the moves of the last ply without playing them.
    ends: whether a game that ends sooner counts as one more way. Default: it does not count.

    Raises ValueError if the depth is negative or exceeds the longest line of a search.
    """
    if operator.index(depth) < 0:
        raise ValueError(f"depth: expected at least 0 plies, found {depth}")
    if game.rules is None or not kernels.compiled:
        return _count(game, position, depth, bulk, ends)
    if depth > MOST_PLIES:
        raise ValueError(f"depth: expected at most {MOST_PLIES} plies, found {depth}")
    line = NativeLine(table_mib=0.001)
    bare = copy.copy(game)  # without kernels that serve only move ordering and repetition
    bare.rules = replace(game.rules, gain=None, irreversible=None)
    line.put(**rules_addresses(bare), most_moves=getattr(game, "most_moves", 256))
    line.set_root(position, [], [])
    leaves = int(count_leaves(line.row, depth, 0, bulk, ends))
    if line.stop:
        raise ValueError(f"depth: expected fewer plies with so many moves, found {depth}")
    return leaves


def _count(game: Game, position: Any, depth: int, bulk: bool, ends: bool) -> int:
    if depth == 0:
        return 1
    moves = game.legal_moves(position)
    if not moves:
        return int(ends)
    if bulk and depth == 1:
        return len(moves)
    return sum(_count(game, game.play(position, m), depth - 1, bulk, ends) for m in moves)

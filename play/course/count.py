"""Counts the games and positions of a small game."""

from __future__ import annotations

from collections import Counter
from typing import Any

import games
from games.kinds import WITHOUT_DICE

__all__ = ["count"]

#: The largest game whose tree is counted, in positions; a few seconds.
MOST = 100_000


def count(game: games.Game) -> tuple[int, int, int]:
    """Returns the number of games that can be played from the start, of positions, and of plies.

    Plies are those of the longest game.

    A position counts once for each ply at which it occurs. Raises ValueError for a game with dice,
    and for more than `MOST` positions, as in a game without an end.
    """
    WITHOUT_DICE.expect(game)
    level, seen = Counter({game.start(): 1}), {game.start()}
    ended = visited = 0
    plies = -1
    while level:
        plies, visited = plies + 1, visited + len(level)
        if visited > MOST:
            raise ValueError(
                f"{game.name}: expected a game of at most {MOST:,} positions, found more"
            )
        below = Counter[Any]()
        for position, ways in level.items():
            moves = game.legal_moves(position)
            ended += 0 if moves else ways
            for move in moves:
                below[game.play(position, move)] += ways
        seen.update(below)
        level = below
    return ended, len(seen), plies

"""Error marks of moves and the accuracy of players, from the expected results that moves lose."""

from __future__ import annotations

import math
from collections.abc import Sequence

from games.contract import Game

__all__ = ["POINTS", "RESULTS", "SIGNS", "accuracy", "mark", "mark_of"]

SIGNS = ("?!", "?", "??")
#: Lost shares of the expected result (0 for a loss, 1 for a win) from which a move is dubious, an
#: error or a blunder, where values are searched chances of winning; those of Lichess.
RESULTS = (0.05, 0.10, 0.15)
#: Lost shares if values are points, two of which make a result: GNU Backgammon's limits of 0.04,
#: 0.08 and 0.16 points.
POINTS = (0.02, 0.04, 0.08)
#: The fall of accuracy, as in Lichess's accuracy of a move: to half at a loss of 0.16.
FALL = 4.354


def mark(lost: float, limits: Sequence[float] = RESULTS) -> str:
    """Returns "?!", "?" or "??" for a move that lost this share of the result, or ""."""
    reached = sum(lost >= limit for limit in limits)
    return SIGNS[reached - 1] if reached else ""


def mark_of(game: Game, lost: float | None) -> str:
    """Returns the mark in a game; empty if the lost share is None (unknown)."""
    return "" if lost is None else mark(lost, RESULTS if game.wins else POINTS)


def accuracy(lost: Sequence[float | None]) -> float | None:
    """Returns a player's accuracy in per cent, 100 if no move lost anything.

    lost: the share of the expected result that each move with a choice lost. The result is None
        without moves, or if a share is None (unknown).
    """
    shares = [max(one, 0.0) for one in lost if one is not None]
    if not shares or len(shares) < len(lost):
        return None
    return 100.0 * sum(math.exp(-FALL * one) for one in shares) / len(shares)

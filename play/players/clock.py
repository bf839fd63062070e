"""Clocks of games: a time for all moves, and an increment for each."""

from __future__ import annotations

import re
from dataclasses import dataclass

from search.time_control import Allowance

__all__ = ["TIME", "Clock", "parse_clock"]

#: Seconds of each move's time that are reserved for everything but the search.
MARGIN = 0.03
#: Why a game is over whose player has no time left.
TIME = "time"
#: Moves for which a clock without a number of moves is shared out.
MOVES = 30
#: A move may take this many times its share, and this part of the clock.
MOST_TIMES, MOST_PART = 4.0, 0.4


@dataclass(frozen=True)
class Clock:
    """A player's clock.

    left: seconds on the clock before the increment is added.
    increment: seconds that are added before each move.
    moves: moves to make in that time; None stands for the rest of the game.
    """

    left: float
    increment: float = 0.0
    moves: int | None = None

    def __str__(self) -> str:
        return f"{self.left:g}+{self.increment:g} s"

    def after(self, seconds: float) -> Clock:
        """Returns the clock after a move of that time; `left` is below 0 if the time was over."""
        moves = None if self.moves is None else self.moves - 1
        return Clock(self.left + self.increment - seconds, self.increment, moves)

    def allowance(self) -> Allowance:
        """Returns the time of the next move; moves that keep to it never let the clock run out."""
        have = max(0.0, self.left + self.increment)
        moves = max(1, min(self.moves or MOVES, MOVES))
        share = have / moves if self.moves else self.left / MOVES + self.increment
        whole = have if self.moves == 1 else 0.5 * have
        usual = max(0.001, min(share, whole) - MARGIN)
        most = min(MOST_TIMES * share, MOST_PART * have if self.moves != 1 else have) - MARGIN
        return Allowance(usual, max(usual, most))


def parse_clock(text: str) -> Clock:
    """Returns the clock that a text such as "60+0.6" names, in seconds; ValueError for others."""
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)(?:\+([0-9]{1,6}(?:\.[0-9]{1,6})?))?", text)
    if match is None or not float(match[1]) + float(match[2] or 0) > 0:
        raise ValueError(f"time: expected SECONDS+INCREMENT such as 60+0.6, found {text[:40]!r}")
    return Clock(float(match[1]), float(match[2] or 0))

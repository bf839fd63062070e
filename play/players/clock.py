"""Clocks of games: a time for all moves, and an increment for each."""

from __future__ import annotations

import re
from dataclasses import dataclass

from search.time_control import Allowance

__all__ = ["TIME", "Clock", "parse_clock"]

#: The reserve on the clock: these seconds, or this multiple of the greatest recent delay if that is
#: more, because a busy machine may end a search late.
RESERVE, RESERVE_TIMES = 0.03, 1.5
#: The expected delay of an answer in seconds before any was measured, and the shares of the mean
#: and greatest delay that remain after a move.
LATE, MEAN_REMEMBERED, REMEMBERED = 0.003, 0.9, 0.98
#: The least time of a move.
LEAST_SECONDS = 0.001
#: The reason of a game's end when a player has no time left.
TIME = "time"
#: Moves for which a clock without a number of moves is shared out.
MOVES = 20
#: Most searches end early, after the last depth that they expect to finish: the assumed share of
#: time used before any was measured, and the least share assumed later.
USED, LEAST_USED = 0.8, 0.5
#: A move may take this many times its share, and this part of the clock.
MOST_TIMES, MOST_PART = 4.0, 0.4


@dataclass(frozen=True)
class Clock:
    """A player's clock.

    left: seconds on the clock before the increment is added.
    increment: seconds that are added before each move.
    moves: moves to make in that time; None stands for the rest of the game.
    late: seconds by which answers come late, the mean of the last moves. latest: the greatest
        delay, which fades from move to move.
    used: the share of the usual time that moves took, the mean of the last moves.
    """

    left: float
    increment: float = 0.0
    moves: int | None = None
    late: float = LATE
    latest: float = LATE
    used: float = USED

    def __str__(self) -> str:
        return f"{self.left:g}+{self.increment:g} s"

    def after(self, seconds: float, late: float | None = None) -> Clock:
        """Returns the clock after a move of that time; `left` is below 0 if the time was over.

        late: the part of these seconds after the search's time limit, or None if the search ended
            earlier.
        """
        moves = None if self.moves is None else self.moves - 1
        left, mean, latest = self.left + self.increment - seconds, self.late, self.latest
        used = min(1.0, seconds / self.allowance().usual)
        used = self.used + (1.0 - MEAN_REMEMBERED) * (used - self.used)
        if late is not None:
            mean += (1.0 - MEAN_REMEMBERED) * (late - mean)
            latest = max(late, REMEMBERED * latest)
        return Clock(left, self.increment, moves, mean, latest, used)

    def allowance(self) -> Allowance:
        """Returns the time of the next move, which keeps a reserve and allows for late answers."""
        have = max(0.0, self.left + self.increment)
        free = (have if self.moves else self.left) - RESERVE - RESERVE_TIMES * self.latest
        moves = max(1, min(self.moves or MOVES, MOVES))
        used = max(self.used, LEAST_USED) if moves > 1 else 1.0
        share = free / (used * moves) if free > 0.0 else free
        if not self.moves:
            share += self.increment
        most = min(MOST_TIMES * share, max(share, MOST_PART * free)) if moves > 1 else share
        usual = max(LEAST_SECONDS, min(share, 0.5 * have if moves > 1 else have) - self.late)
        return Allowance(usual, max(usual, most - self.late))


def parse_clock(text: str) -> Clock:
    """Returns the clock that a text such as "60+0.6" names, in seconds; ValueError for others."""
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)(?:\+([0-9]{1,6}(?:\.[0-9]{1,6})?))?", text)
    if match is None or not float(match[1]) + float(match[2] or 0) > 0:
        raise ValueError(f"time: expected SECONDS+INCREMENT such as 60+0.6, found {text[:40]!r}")
    return Clock(float(match[1]), float(match[2] or 0))

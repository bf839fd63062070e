"""Our own match equity table, by recursion from the shortest scores up.

After Zadeh, "On doubling in tournament backgammon", Management Science 23, 1977: before a game of
equal players each side wins it with probability 1/2, a given share of wins are gammons, and the
cube is worth what `cubeful` says of a position with these outcomes at this score.
"""

from __future__ import annotations

import functools

import numpy as np

from games.backgammon.doubling.cubeful import CubefulStakes
from games.backgammon.doubling.match_equity import LONGEST, MatchEquities

__all__ = ["match_equities"]

#: Shares of wins that are at least gammons, and backgammons. Our rollouts of the start for money
#: without a cube give 0.264 gammons. If gammons count for the trailing side alone, in the Crawford
#: game and after it, that side plays for them.
GAMMONS, WANTED_GAMMONS, BACKGAMMONS = 0.26, 0.28, 0.012
#: The value of the leader's free drop after the Crawford game if the trailing side needs 2 or 4
#: points; otherwise it is ignored. Zadeh estimates that a drop after a bad first exchange gains
#: about 1.5 per cent.
FREE_DROPS = {2: 0.015, 4: 0.004}
#: The share of a fully live cube's value that the recursion counts. With these shares the table is
#: within 0.50 per cent (root mean square 0.21) of the one that N. Kazaross found by rollouts of
#: whole games to 9 points (2011), and within 0.59 (0.34) of its projection to 25. With a gammon
#: share of 0.26 everywhere the leader's chance is 0.8 per cent too high, 2-away in the Crawford
#: game; with a cube share of 0.7 it is 1.2 too high.
EFFICIENCY = 0.84


@functools.cache
def match_equities(points: int = 25) -> MatchEquities:
    """Returns our own table, for matches of up to `points` points.

    Raises ValueError if `points` is not from 1 to `LONGEST`.
    """
    if not 1 <= points <= LONGEST:
        raise ValueError(f"points: expected 1 to {LONGEST}, found {points}")
    table = MatchEquities(np.full((points, points), 0.5), np.full(points, 0.5))
    for own in range(2, points + 1):
        # The trailing side doubles at once; the leader may drop.
        wins = [table.chance(own - n, 1, crawford_over=True) for n in (2, 4, 6)]
        taken = 0.5 * _expected(wins) - FREE_DROPS.get(own, 0.0)
        table.after[own - 1] = taken
    even = [0.5, 0.5 * GAMMONS, 0.5 * BACKGAMMONS] + [0.5 * GAMMONS, 0.5 * BACKGAMMONS]
    outcomes = np.array([even])
    for own in range(1, points + 1):
        for theirs in range(1, own):
            if theirs == 1:  # the Crawford game has no cube
                wins = [table.chance(own - n, 1, crawford_over=True) for n in (1, 2, 3)]
                chance = 0.5 * _expected(wins)
            else:
                stakes = CubefulStakes.of_match(own, theirs, table)
                chance = float(stakes.value(outcomes, 1, None, EFFICIENCY)[0])
            table.before[own - 1, theirs - 1] = chance
            table.before[theirs - 1, own - 1] = 1.0 - chance
    table.before.setflags(write=False)
    table.after.setflags(write=False)
    return table


def _expected(wins: list[float]) -> float:
    """Returns the trailing side's expected value of a win, given those of its three kinds."""
    single, gammon, backgammon = wins
    return (
        (1 - WANTED_GAMMONS) * single
        + (WANTED_GAMMONS - BACKGAMMONS) * gammon
        + BACKGAMMONS * backgammon
    )

"""The value of a position with the cube, from the chances of its outcomes.

It is interpolated (Janowski, "Take-points in money games", 1993) between a dead cube, which nobody
uses any more, and a live cube, which each side uses at exactly the right moment. With a live cube
the value consists of straight lines over the winning chance, from a loss to the side's take point,
to the other side's take point, and to a win. In a match the lines join chances to win the match.
The take points of a cube follow from those of the cube of twice its value, up to a cube that
neither side needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.backgammon.doubling.efficiency import efficiencies
from games.backgammon.doubling.match_equity import LONGEST, MatchEquities
from games.backgammon.situation import Situation

__all__ = ["Shares", "CubefulStakes"]

Values = NDArray[np.float64]
_LEAST = 1e-9  # keeps divisions by chances of 0 finite


@dataclass(frozen=True)
class Shares:
    """Chances to win, and how many of the wins and losses are single games, gammons, backgammons.

    chance: [n], of the side to move.
    kinds: for the side to move and the other one, the shares [n] of their wins by kind; the shares
        of a side add up to 1.
    """

    chance: Values
    kinds: tuple[tuple[Values, Values, Values], tuple[Values, Values, Values]]

    @classmethod
    def of(cls, outcomes: Any) -> Shares:
        """Returns the shares of outcomes [n, 5], as an evaluator of backgammon gives them."""
        win, gammon, backgammon, lost_gammon, lost_backgammon = np.asarray(outcomes, float).T
        kinds = []
        for total, two, three in (
            (win, gammon, backgammon),
            (1.0 - win, lost_gammon, lost_backgammon),
        ):
            total = np.maximum(total, _LEAST)
            two, three = np.minimum(two / total, 1.0), np.minimum(three / total, 1.0)
            kinds.append((1.0 - two, two - three, three))
        return cls(win, (kinds[0], kinds[1]))


@dataclass(frozen=True)
class CubefulStakes:
    """The value of a game's points to the side to move.

    lacking: points that the side to move and the other one lack in a match, or None in games for
    money.
    equities: chances to win the match, or None in games for money.
    crawford: whether this is the Crawford game.
    crawford_over: whether the Crawford game has been played before.
    jacoby: whether, for money, gammons count as single games while the cube is in the middle.
    highest_cube: the largest value of the cube.

    Values are points for money, and chances to win a match. It is what `games.cube.Stakes` asks
    for.
    """

    lacking: tuple[int, int] | None = None
    equities: MatchEquities | None = None
    crawford: bool = False
    crawford_over: bool = False
    jacoby: bool = False
    highest_cube: int = 1 << 15

    @classmethod
    def of_match(cls, own: int, theirs: int, equities: MatchEquities) -> CubefulStakes:
        """Returns the stakes of a game before the Crawford game, by the points that sides lack."""
        return cls((own, theirs), equities)

    @classmethod
    def of_situation(
        cls, situation: Situation, equities: Callable[[int], MatchEquities]
    ) -> CubefulStakes:
        """Returns the stakes of a situation; `equities(N)` is a table for at least N points."""
        length, side = situation.match_length, situation.position[4]
        if not length:
            return cls(jacoby=situation.jacoby, highest_cube=situation.highest_cube)
        # A side that lacks more than the tables hold lacks as much as they do.
        own = min(length - situation.score[side], LONGEST)
        theirs = min(length - situation.score[1 - side], LONGEST)
        table = equities(25 if max(own, theirs) <= 25 else LONGEST)
        over = min(own, theirs) == 1 and not situation.crawford
        return cls(
            (own, theirs), table, situation.crawford, over, highest_cube=situation.highest_cube
        )

    def turned(self) -> CubefulStakes:
        """Returns the stakes for the other side."""
        return self if self.lacking is None else replace(self, lacking=self.lacking[::-1])

    def turned_values(self, values: Values) -> Values:
        """Returns values to the other side as values to the side to move."""
        return -values if self.lacking is None else 1.0 - values

    def points(self, side: int, points: int) -> float:
        """Returns the value to a side (0: the one to move) of winning points; lost if negative.

        With 0 points it is the value of the score before the game.
        """
        if self.lacking is None or self.equities is None:
            return float(points)
        own, theirs = self.lacking[side], self.lacking[1 - side]
        won, lost = max(points, 0), max(-points, 0)
        over = self.crawford_over or (self.crawford and points != 0)
        return self.equities.chance(own - won, theirs - lost, crawford_over=over)

    def can_double(self, side: int, cube: int, owner: int | None) -> bool:
        """Whether a side may double and could gain from it.

        owner: the side that has the cube, 0 for the one to move, or None in the middle.
        """
        if owner == 1 - side or self.crawford or 2 * cube > self.highest_cube:
            return False
        return self.lacking is None or self.lacking[side] > cube

    def average(self, shares: Shares, side: int, cube: int, *, won: bool) -> Values:
        """Returns the average value [n] to a side of a game that it won or lost at a cube."""
        kinds = shares.kinds[side if won else 1 - side]
        sign = 1 if won else -1
        single, gammon, backgammon = (self.points(side, sign * n * cube) for n in (1, 2, 3))
        return kinds[0] * single + kinds[1] * gammon + kinds[2] * backgammon

    def take_point(self, shares: Shares, side: int, cube: int) -> Values:
        """Returns the least winning chance [n] at which a side takes a double, with a live cube.

        cube: the value of the cube before the double.
        """
        if self.lacking is None:
            win = self.average(shares, side, 1, won=True)
            loss = -self.average(shares, side, 1, won=False)
            if 4 * cube > self.highest_cube:
                return (loss - 0.5) / (win + loss)
            return (loss - 0.5) / (win + loss + 0.5)
        losing = self.average(shares, side, 2 * cube, won=False)
        if self.can_double(side, 2 * cube, side):
            most: Values = 1.0 - self.take_point(shares, 1 - side, 2 * cube)
            top: Any = self.points(side, 2 * cube)
        else:
            most = np.ones_like(losing)
            top = self.average(shares, side, 2 * cube, won=True)
        step = np.maximum(top - losing, _LEAST)
        point: Values = most * (self.points(side, -cube) - losing) / step
        return np.minimum(np.maximum(point, 0.0), 1.0)

    def values(self, positions: Any, outcomes: Any, cube: int, owner: int | None) -> Values:
        """Returns `value` of positions [n], with the efficiency of the cube in each."""
        return self.value(outcomes, cube, owner, efficiencies(positions))

    def value(
        self, outcomes: Any, cube: int, owner: int | None, efficiency: float | Values
    ) -> Values:
        """Returns the values [n] of positions before their rolls, to the side to move.

        outcomes: [n, 5], the chances of the outcomes without a cube.
        cube, owner: the cube's value, and the side that has it (0 for the one to move).
        efficiency: the share of a live cube's value that counts, from 0 for a dead cube to 1.
        """
        shares = Shares.of(outcomes)
        chance = np.clip(shares.chance, 0.0, 1.0)
        win, loss = (self.average(shares, 0, cube, won=won) for won in (True, False))
        if self.jacoby and self.lacking is None and owner is None:
            win, loss = np.full_like(chance, cube), np.full_like(chance, -cube)
        dead = loss + chance * (win - loss)
        one, zero = np.ones_like(chance), np.zeros_like(chance)
        low, low_value = zero, loss
        high, high_value = one, win
        mine, theirs = (self.can_double(side, cube, owner) for side in (0, 1))
        if not mine and not theirs:
            return dead
        if theirs:
            low, low_value = self.take_point(shares, 0, cube), self.points(0, -cube) + zero
        if mine:
            high, high_value = 1.0 - self.take_point(shares, 1, cube), self.points(0, cube) + zero
        high = np.maximum(high, low + _LEAST)
        below = loss + (low_value - loss) * chance / np.maximum(low, _LEAST)
        between = low_value + (high_value - low_value) * (chance - low) / (high - low)
        above = high_value + (win - high_value) * (chance - high) / np.maximum(1.0 - high, _LEAST)
        live = np.where(chance < low, below, np.where(chance > high, above, between))
        return efficiency * live + (1.0 - efficiency) * dead

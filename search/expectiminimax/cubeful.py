"""Search with a cube: values in which both sides double, take and move as is best for the stakes.

As GNU Backgammon does it: after every roll the side to move plays the move whose static value with
the cube is best; before its roll it may double; and at the horizon the game estimates what the
outcomes are worth with the cube. One tree of positions serves every value and owner of the cube
that doubles in it lead to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.cube import Stakes, cube_of
from search.expectiminimax.search import Expectiminimax

__all__ = ["CubeTree", "best_afters", "roll_values", "searched_values"]

Values = NDArray[np.float64]
#: The owner of a cube, for the side to move.
OWN, THEIRS = 0, 1


@dataclass(frozen=True)
class _Level:
    """Positions of a ply, with their static outcomes, and the places of those that go on."""

    positions: Any
    outcomes: Values
    live: NDArray[np.int64]


def best_afters(
    search: Expectiminimax, positions: Any, stakes: Stakes, cube: int, owner: int | None
) -> tuple[Any, Values, Values]:
    """Returns the positions after the best moves, their outcomes and values, one for each roll.

    positions: positions before their rolls, of games that go on.
    stakes, cube, owner: of the side to move.

    The values [positions * rolls] and outcomes are for the side to move afterwards.
    """
    afters, counts = search.afters(positions)
    outcomes = search.outcomes(afters)
    values = stakes.turned().values(afters, outcomes, cube, _turned(owner))
    sizes = counts.ravel()
    begins = np.cumsum(sizes) - sizes
    least = np.minimum.reduceat(values, begins)
    best = np.flatnonzero(values == np.repeat(least, sizes))
    which = np.repeat(np.arange(len(sizes)), sizes)[best]
    first = best[np.unique(which, return_index=True)[1]]
    chosen = afters[first] if search.native else [afters[n] for n in first]
    return chosen, outcomes[first], values[first]


class CubeTree:
    """The positions that best moves lead to from a root within `depth` plies, roll by roll.

    position: the root, of a game that goes on.
    stakes, cube, owner: of the side to move; moves are chosen for this cube.
    """

    def __init__(
        self,
        search: Expectiminimax,
        position: Any,
        stakes: Stakes,
        cube: int,
        owner: int | None,
        depth: int,
    ) -> None:
        self._chances = np.array(search.game.rolls, dtype=np.float64)
        self._levels = [_level(search, [position], None)]
        self.stakes = stakes
        for _ in range(depth):
            last = self._levels[-1]
            if not len(last.live):
                break
            live = last.positions[last.live] if search.native else [
                last.positions[n] for n in last.live
            ]  # fmt: skip
            positions, outcomes, _ = best_afters(search, live, stakes, cube, owner)
            self._levels.append(_level(search, positions, outcomes))
            stakes, owner = stakes.turned(), _turned(owner)

    def value(self, cube: int, owner: int | None) -> float:
        """Returns the value of rolling at the root with this cube, to the side to move."""
        return float(self._rolling(0, self.stakes, cube, owner)[0])

    def _rolling(self, ply: int, stakes: Stakes, cube: int, owner: int | None) -> Values:
        level = self._levels[ply]
        values = stakes.values(level.positions, level.outcomes, cube, owner)
        if ply + 1 < len(self._levels):
            later = self._offered(ply + 1, stakes.turned(), cube, _turned(owner))
            theirs = later.reshape(-1, len(self._chances)) @ self._chances
            values[level.live] = stakes.turned_values(theirs)
        return values

    def _offered(self, ply: int, stakes: Stakes, cube: int, owner: int | None) -> Values:
        """Returns the values [positions] to the side to move before it may double."""
        values = self._rolling(ply, stakes, cube, owner)
        if not stakes.can_double(OWN, cube, owner):
            return values
        taken = self._rolling(ply, stakes, 2 * cube, THEIRS)
        return np.maximum(values, np.minimum(taken, stakes.points(OWN, cube)))


def searched_values(search: Expectiminimax, situation: Any, depth: int) -> tuple[float, float]:
    """Returns the values of rolling without a double, and after a double that was taken.

    situation: a situation before the roll, of a game that goes on.
    depth: plies to search.
    """
    stakes, owner = cube_of(search.game).stakes(situation)
    waiting, taken = (
        CubeTree(search, situation.position, stakes, cube, whose, depth).value(cube, whose)
        for cube, whose in ((situation.cube, owner), (2 * situation.cube, THEIRS))
    )
    return waiting, taken


def roll_values(search: Expectiminimax, situation: Any) -> Values:
    """Returns the values [rolls] of the best move with each roll, by static values with the cube.

    situation: a situation of a game that goes on; its roll does not count.

    The values are by the stakes of the side to move.
    """
    stakes, owner = cube_of(search.game).stakes(situation)
    _, _, values = best_afters(search, [situation.position], stakes, situation.cube, owner)
    return stakes.turned_values(values)


def _level(search: Expectiminimax, positions: Any, outcomes: Values | None) -> _Level:
    rows = np.array(positions, dtype=np.int64) if search.native else positions
    over = [search.game.outcome(tuple(one)) is not None for one in rows]
    rated = search.outcomes(rows) if outcomes is None else outcomes
    return _Level(rows, rated, np.flatnonzero(~np.array(over)))


def _turned(owner: int | None) -> int | None:
    return None if owner is None else 1 - owner

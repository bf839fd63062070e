"""Search with a cube: values in which both sides double, take and move as is best for the stakes.

As GNU Backgammon does it: after every roll the side to move plays the move whose static value with
the cube is best; before its roll it may double; and at the horizon the game estimates what the
outcomes are worth with the cube. One tree of positions serves every value and owner of the cube
that doubles in it lead to.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """Positions of a ply with their static outcomes, and the replies in unfinished games.

    live: places of the positions of games that go on; empty at the horizon.
    replies: for each cube, the places of the best replies [live * rolls] in the next level.
    """

    positions: Any
    outcomes: Values
    live: NDArray[np.int64]
    replies: tuple[NDArray[np.int64], ...] = ()


def best_afters(
    search: Expectiminimax,
    positions: Any,
    stakes: Stakes,
    cube: int,
    owner: int | None,
    *,
    every: bool = False,
) -> tuple[Any, Values, Values]:
    """Returns the positions after the best moves, their outcomes and values, one for each roll.

    positions: positions before their rolls, of unfinished games.
    stakes, cube, owner: of the side to move.

    every: whether to value the moves too that the evaluator's prefilter excludes.

    The values [positions * rolls] and outcomes are for the side to move afterwards.
    """
    afters, counts = search.afters(positions, every=every)
    outcomes = search.outcomes(afters)
    first, values = _best(afters, outcomes, counts, stakes.turned(), cube, _turned(owner))
    return _chosen(search, afters, first), outcomes[first], values[first]


def _best(
    afters: Any, outcomes: Values, counts: Any, stakes: Stakes, cube: int, owner: int | None
) -> tuple[NDArray[np.int64], Values]:
    """Returns the place of the best reply to each roll, and the values of all replies.

    stakes, cube, owner: of the side to move after the reply.
    """
    values = stakes.values(afters, outcomes, cube, owner)
    sizes = counts.ravel()
    begins = np.cumsum(sizes) - sizes
    least = np.minimum.reduceat(values, begins)
    best = np.flatnonzero(values == np.repeat(least, sizes))
    which = np.repeat(np.arange(len(sizes)), sizes)[best]
    return best[np.unique(which, return_index=True)[1]], values


def _chosen(search: Expectiminimax, positions: Any, places: NDArray[np.int64]) -> Any:
    return positions[places] if search.native else [positions[n] for n in places]


class CubeTree:
    """The positions that best moves lead to from a root within `depth` plies, roll by roll.

    position: the root, of an unfinished game.
    stakes: of the side to move.
    cubes: value and owner of each cube that moves are chosen for; the same evaluations serve all.
    """

    def __init__(
        self,
        search: Expectiminimax,
        position: Any,
        stakes: Stakes,
        cubes: Sequence[tuple[int, int | None]],
        depth: int,
    ) -> None:
        self._chances = np.array(search.game.rolls, dtype=np.float64)
        self._levels: list[_Level] = []
        self.stakes, self._cubes = stakes, tuple(cubes)
        positions = np.array([position], dtype=np.int64) if search.native else [position]
        outcomes = search.outcomes(positions)
        for _ in range(depth):
            over = [search.game.outcome(tuple(one)) is not None for one in positions]
            live = np.flatnonzero(~np.array(over))
            if not len(live):
                break
            afters, counts = search.afters(_chosen(search, positions, live), inner=True)
            chances, stakes = search.outcomes(afters), stakes.turned()
            cubes = [(cube, _turned(owner)) for cube, owner in cubes]
            best = [_best(afters, chances, counts, stakes, *one)[0] for one in cubes]
            chosen = np.unique(np.concatenate(best))
            replies = tuple(np.searchsorted(chosen, one) for one in best)
            self._levels.append(_Level(positions, outcomes, live, replies))
            positions, outcomes = _chosen(search, afters, chosen), chances[chosen]
        self._levels.append(_Level(positions, outcomes, np.zeros(0, dtype=np.int64)))

    def values(self) -> list[float]:
        """Returns the value of rolling at the root with each cube, to the side to move."""
        return [
            float(self._rolling(which, 0, self.stakes, *one)[0])
            for which, one in enumerate(self._cubes)
        ]

    def _rolling(
        self, which: int, ply: int, stakes: Stakes, cube: int, owner: int | None
    ) -> Values:
        level = self._levels[ply]
        values = stakes.values(level.positions, level.outcomes, cube, owner)
        if level.replies:
            later = self._offered(which, ply + 1, stakes.turned(), cube, _turned(owner))
            theirs = later[level.replies[which]].reshape(-1, len(self._chances)) @ self._chances
            values[level.live] = stakes.turned_values(theirs)
        return values

    def _offered(
        self, which: int, ply: int, stakes: Stakes, cube: int, owner: int | None
    ) -> Values:
        """Returns the values [positions] to the side to move before it may double."""
        values = self._rolling(which, ply, stakes, cube, owner)
        if not stakes.can_double(OWN, cube, owner):
            return values
        taken = self._rolling(which, ply, stakes, 2 * cube, THEIRS)
        return np.maximum(values, np.minimum(taken, stakes.points(OWN, cube)))


def searched_values(search: Expectiminimax, situation: Any, depth: int) -> tuple[float, float]:
    """Returns the values of rolling without a double, and after a double that was taken.

    situation: a situation before the roll, of an unfinished game.
    depth: plies to search.
    """
    stakes, owner = cube_of(search.game).stakes(situation)
    cubes = [(situation.cube, owner), (2 * situation.cube, THEIRS)]
    waiting, taken = CubeTree(search, situation.position, stakes, cubes, depth).values()
    return waiting, taken


def roll_values(search: Expectiminimax, situation: Any) -> Values:
    """Returns the values [rolls] of the best move with each roll, by static values with the cube.

    situation: a situation of an unfinished game; its roll does not count.

    The values are by the stakes of the side to move.
    """
    stakes, owner = cube_of(search.game).stakes(situation)
    place, cube = [situation.position], situation.cube
    _, _, values = best_afters(search, place, stakes, cube, owner, every=True)
    return stakes.turned_values(values)


def _turned(owner: int | None) -> int | None:
    return None if owner is None else 1 - owner

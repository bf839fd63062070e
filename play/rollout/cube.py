"""Rollouts with the cube: the value of a position without a double now, and after a take.

Both sides play the moves, doubles and answers that are best by static values with the cube; a game
ends with its points, with a drop, or after some plies with its static value. Results are
luck-adjusted by static values with the cube, as in `play.rollout.native`. Both branches have the
same dice. Source: D. Montgomery, "Variance reduction", 2000; GNU Backgammon rolls out in this way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.cube import Stakes, cube_of
from games.kernels.chance import next_state
from play.rollout.dice import BLOCK, RolloutDice, half_widths, mean_and_error
from search import Engine
from search.expectiminimax.cubeful import OWN, THEIRS, best_afters
from search.expectiminimax.search import Expectiminimax

__all__ = ["CubeRollout", "rollout_cube"]

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CubeRollout:
    """A decision about the cube by rollout.

    decision: the game's decision, such as `games.backgammon.doubling.decision.CubeDecision`.
    waiting, taken: values by the game's stakes of rolling without a double, and after a double
        that was taken: points, or chances to win the match.
    intervals: half widths of their 95 % intervals, and of that of the difference taken - waiting.
    games: games of each branch.
    """

    decision: Any
    waiting: float
    taken: float
    intervals: tuple[float, float, float]
    games: int


def rollout_cube(
    engine: Engine,
    situation: Any,
    *,
    games: int = 324,
    truncate: int | None = 11,
    seed: int = 0,
) -> CubeRollout:
    """Play a position out with the cube as it stands, and after a double that is taken.

    engine: of a game with dice and a cube; its evaluator, which gives outcomes, plays both sides.
    situation: a position with its match and cube before the roll, whose side to move may double.
    games: games of each branch; best a multiple of 36.
    truncate: plies after which a game counts its static value with the cube; None plays to the end.
    seed: decides the dice.

    Raises ValueError for options out of range and an evaluator without outcomes, and PositionError
    if nobody may double.
    """
    game, cube = engine.game, cube_of(engine.game)
    for name, number in (("games", games), ("truncate", 1 if truncate is None else truncate)):
        if number < 1:
            raise ValueError(f"{name}: expected at least 1, found {number}")
    search = engine.dice_search
    outcomes = search.outcomes([situation.position])[0]
    cube.decision(situation, outcomes)  # refuses situations in which nobody may double
    stakes, owner = cube.stakes(situation)
    dice = RolloutDice(game, seed)
    waiting, taken = (
        _Games(search, dice, situation.position, stakes, value, whose, games).played(truncate)
        for value, whose in ((situation.cube, owner), (2 * situation.cube, THEIRS))
    )
    samples = np.stack([waiting, taken, taken - waiting], axis=1)
    means, errors = mean_and_error(samples, dice.rolls(games))
    decision = cube.decision(situation, outcomes, (float(means[0]), float(means[1])))
    first, second, third = half_widths(errors, games).tolist()
    return CubeRollout(decision, float(means[0]), float(means[1]), (first, second, third), games)


class _Games:
    """Games of one branch, in step; all values are turned to the side to move at the root.

    A cube and its owner are of the side to move, and stand for groups of games.
    """

    def __init__(
        self,
        search: Expectiminimax,
        dice: RolloutDice,
        position: Any,
        stakes: Stakes,
        cube: int,
        owner: int | None,
        games: int,
    ) -> None:
        self._search, self._dice, self._stakes = search, dice, stakes
        self._chances = np.array(search.game.rolls, dtype=np.float64)
        self._positions = np.array([position] * games, dtype=np.int64)
        self._outcomes: Values = np.repeat(search.outcomes([position]), games, axis=0)
        self._cubes = np.full(games, cube)
        self._owners = np.full(games, -1 if owner is None else owner)
        self._values, self._luck = np.zeros(games), np.zeros(games)
        self._going = np.ones(games, dtype=bool)
        blocks = [dice.block(number) for number in range(-(-games // BLOCK))]
        self._states = np.concatenate([streams for streams, _ in blocks])[:games].tolist()
        self._first = dice.rolls(games)

    def played(self, truncate: int | None) -> Values:
        """Returns the results [games], the luck taken off."""
        ply = 0
        while self._going.any():
            if ply == truncate:
                for rows, cube, owner in self._groups():
                    worth = self._worth(rows, cube, owner)
                    self._finish(rows, worth, ply)
                break
            if ply:
                self._double(ply)
            for rows, cube, owner in self._groups():
                self._roll(rows, cube, owner, ply)
            ply += 1
            self._stakes = self._stakes.turned()
            self._owners = np.where(self._owners < 0, -1, 1 - self._owners)
            self._end(ply)
        return self._values - self._luck

    def _groups(self) -> list[tuple[NDArray[np.int64], int, int | None]]:
        """Returns the unfinished games by cube and owner."""
        going = self._going
        keys = {*zip(self._cubes[going].tolist(), self._owners[going].tolist(), strict=True)}
        return [
            (
                np.flatnonzero(self._going & (self._cubes == cube) & (self._owners == owner)),
                cube,
                None if owner < 0 else owner,
            )
            for cube, owner in sorted(keys)
        ]

    def _turned(self, values: Any, ply: int) -> Any:
        return self._stakes.turned_values(values) if ply % 2 else values

    def _finish(self, rows: Any, values: Any, ply: int) -> None:
        self._values[rows] = self._turned(values, ply)
        self._going[rows] = False

    def _static(self, rows: Any, cube: int, owner: int | None) -> Values:
        return self._stakes.values(self._positions[rows], self._outcomes[rows], cube, owner)

    def _worth(self, rows: Any, cube: int, owner: int | None) -> Values:
        """Returns static values with the cube to the side to move before it may double."""
        values = self._static(rows, cube, owner)
        if not self._stakes.can_double(OWN, cube, owner):
            return values
        taken = self._static(rows, 2 * cube, THEIRS)
        return np.maximum(values, np.minimum(taken, self._stakes.points(OWN, cube)))

    def _double(self, ply: int) -> None:
        """Double where that is best by static values; a dropped game ends."""
        for rows, cube, owner in self._groups():
            if not self._stakes.can_double(OWN, cube, owner):
                continue
            waiting = self._static(rows, cube, owner)
            taken = self._static(rows, 2 * cube, THEIRS)
            drop = self._stakes.points(OWN, cube)
            doubled = np.minimum(taken, drop) > waiting
            self._finish(rows[doubled & (taken > drop)], drop, ply)
            accepted = rows[doubled & (taken <= drop)]
            self._cubes[accepted], self._owners[accepted] = 2 * cube, THEIRS

    def _roll(self, rows: Any, cube: int, owner: int | None, ply: int) -> None:
        """Roll and move, and note how lucky that was."""
        afters, outcomes, values = best_afters(
            self._search, self._positions[rows], self._stakes, cube, owner
        )
        count = len(self._chances)
        rolls = np.array([self._next_roll(game, ply) for game in rows.tolist()])
        chosen = np.arange(len(rows)) * count + rolls
        luck = values[chosen] - values.reshape(-1, count) @ self._chances
        # values are for the other side, so a good roll makes them small
        self._luck[rows] += luck if ply % 2 else -luck
        self._positions[rows], self._outcomes[rows] = afters[chosen], outcomes[chosen]

    def _next_roll(self, game: int, ply: int) -> int:
        self._states[game] = int(next_state(self._states[game]))
        if ply < self._first.shape[1] and self._first[game, ply] >= 0:
            return int(self._first[game, ply])
        return self._dice.roll(self._states[game])

    def _end(self, ply: int) -> None:
        """End the games that are over, by the values of their outcomes."""
        over = [
            game
            for game in np.flatnonzero(self._going).tolist()
            if self._search.game.outcome(tuple(self._positions[game].tolist())) is not None
        ]
        for game in over:
            owner = None if self._owners[game] < 0 else int(self._owners[game])
            self._finish([game], self._static([game], int(self._cubes[game]), owner), ply)

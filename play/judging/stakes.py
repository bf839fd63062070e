"""The values of moves, rolls and results at a score and with a cube."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import starts
from play.players.seats import Seat

__all__ = ["Scale", "move_values", "result", "roll_luck", "scale_of"]

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """The conversion of values by the stakes of a game to points for the cube as it stands.

    A loss of those points is -1 and a win 1, as in `games.backgammon.doubling.decision`; GNU
    Backgammon calls such equities normalised.

    lost, won: values of losing and of winning a single game at the cube.
    """

    lost: float
    won: float

    @property
    def stake(self) -> float:
        """The unit of a point: points for money, in a match chances to win it."""
        return (self.won - self.lost) / 2

    def points(self, values: Any) -> Any:
        """Returns values by the stakes as points for the cube as it stands."""
        return (values - self.lost) / self.stake - 1.0


def scale_of(game: Any, situation: Any) -> Scale:
    """Returns the scale for the side to move of a situation with its match and cube."""
    stakes, _ = game.cube.stakes(situation)
    return Scale(stakes.points(0, -situation.cube), stakes.points(0, situation.cube))


def move_values(game: Any, situation: Any, moves: Any, outcomes: Any) -> dict[Any, float]:
    """Returns the values of moves with the cube, in points for the cube as it stands.

    outcomes: [moves, outcomes], the chances of the game's outcomes after each of `moves`, for the
        side that moves.
    """
    values = game.cube.values(situation, np.array(outcomes))
    points = scale_of(game, situation).points(values).tolist()
    return dict(zip(moves, points, strict=True))


def roll_luck(thinker: Seat, record: Any) -> tuple[Values, float]:
    """Returns the luck [rolls] of each roll that the side to move can have, and the stake.

    The luck is the value of the roll's best move, by static values with the cube, less the average
    over all rolls, in points for the cube as it stands. Before the first roll of a game chance also
    decides who begins, so the average is over the first rolls of both sides (as in GNU Backgammon).
    """
    game: Any = thinker.game
    situation = record.situation()
    scale = scale_of(game, situation)
    values = scale.points(thinker.engine.roll_values(situation))
    if record.ply or record.start != starts(game)[record.to_move]:
        return values - values @ np.array(game.rolls), scale.stake
    chances = np.array(game.dice.first)
    other = replace(situation, position=starts(game)[1 - record.to_move])
    theirs = scale_of(game, other).points(thinker.engine.roll_values(other))
    return values - (values @ chances - theirs @ chances) / 2, scale.stake


def result(game: Any, record: Any) -> float | None:
    """Returns the result of a game for side 0: points for money, in a match the chances gained.

    None if the game has no result.
    """
    outcome = record.outcome()
    if outcome is None:
        return None
    before = record.beginning()
    stakes, _ = game.cube.stakes(before.situation())
    side = before.to_move
    return float(stakes.points(side, int(outcome)) - stakes.points(side, 0))

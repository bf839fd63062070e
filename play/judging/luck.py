"""The luck of each roll in games that were played, by an evaluator.

The luck of a roll is the value of its best move, by static values, less the average over all rolls.
GNU Backgammon does the same and calls rolls lucky by the same limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from games.contract import DiceGame, first_rolls
from games.record import GameRecord
from play.judging.stakes import repeat_actions, roll_luck
from play.players.thinker import Thinker
from search.expectiminimax.static import StaticChoice

__all__ = ["JudgedRoll", "judge_rolls"]

#: Luck in points from which a roll is lucky, and very lucky; below their negatives it is unlucky.
LUCKY, VERY_LUCKY = 0.3, 0.6


@dataclass(frozen=True)
class JudgedRoll:
    """The luck of a roll.

    ply: plies played before it.
    side: the side that rolled.
    roll: the roll.
    luck: in the game's unit; with a cube in points for the cube as it stands.
    stake: what such a point is worth: points for money, in a match chances to win it.
    """

    ply: int
    side: int
    roll: int
    luck: float
    stake: float = 1.0

    @property
    def word(self) -> str:
        """Returns `lucky` or `unlucky`, perhaps after `very`; empty for usual rolls."""
        if abs(self.luck) < LUCKY:
            return ""
        word = "lucky" if self.luck > 0 else "unlucky"
        return f"very {word}" if abs(self.luck) >= VERY_LUCKY else word


def judge_rolls(
    record: GameRecord, thinker: Thinker, *, cube: bool = False
) -> Iterator[JudgedRoll]:
    """Yields the luck of every roll of a game with dice.

    cube: whether values are those with the cube at the score, as `play.judging.stakes` has them.
    """
    replay: Any = record.beginning()
    static = _Static(thinker)
    for ply, roll in enumerate(record.rolls):
        assert roll is not None
        if cube:
            repeat_actions(replay, record)
            luck, stake = roll_luck(thinker, replay)
        else:
            first = not ply and replay.position == record.game.start()
            luck, stake = static.luck(replay.position, first), 1.0
        yield JudgedRoll(ply, replay.to_move, roll, float(luck[roll]), stake)
        replay.play(record.moves[ply], roll=roll)


class _Static:
    """Luck by static values, without a cube."""

    def __init__(self, thinker: Thinker) -> None:
        assert isinstance(thinker.game, DiceGame)
        self._game = thinker.game
        self._in_units = thinker.evaluator.in_units
        self._choice = StaticChoice(thinker.game, thinker.evaluator, thinker.lookup)

    def luck(self, position: Any, first: bool) -> Any:
        """Returns the luck [rolls] of each roll, of the first roll of a game if `first`."""
        chances = np.array(first_rolls(self._game) if first else self._game.rolls)
        values = np.zeros(len(chances))
        for roll in np.flatnonzero(chances).tolist():
            self._choice.choose(position, roll)
            values[roll] = self._in_units(self._choice.value)
        return values - values @ chances

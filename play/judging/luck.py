"""The luck of each roll in games that were played, by an evaluator.

The luck of a roll is the value of its best move, by static values, less the average over all rolls.
GNU Backgammon does the same and calls rolls lucky by the same limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from games.record import GameRecord
from play.judging.stakes import roll_luck
from play.matches.luck import StaticLuck
from play.players.seats import Seat

__all__ = ["JudgedRoll", "judge_rolls", "luck_word"]

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
        """The word of `luck_word` for it."""
        return luck_word(self.luck)


def luck_word(luck: float) -> str:
    """Returns `lucky`, `unlucky`, `very lucky` or `very unlucky`; empty for usual rolls."""
    if abs(luck) < LUCKY:
        return ""
    word = "lucky" if luck > 0 else "unlucky"
    return f"very {word}" if abs(luck) >= VERY_LUCKY else word


def judge_rolls(record: GameRecord, thinker: Seat, *, cube: bool = False) -> Iterator[JudgedRoll]:
    """Yields the luck of every roll of a game with dice.

    cube: whether values are those with the cube at the score, as `play.judging.stakes` has them.
    """
    replay: Any = record.beginning()
    game: Any = thinker.game
    static = StaticLuck(game, thinker.evaluator, thinker.lookup)
    for ply, roll in enumerate(record.rolls):
        assert roll is not None
        if cube:
            replay.repeat(record)
            luck, stake = roll_luck(thinker, replay)
        else:
            luck, stake = static(replay.position), 1.0
        yield JudgedRoll(ply, replay.to_move, roll, float(luck[roll]), stake)
        replay.follow(record)

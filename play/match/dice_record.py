"""Games with dice as they were played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from games.contract import DiceGame
from games.record import Annotation, GameRecord

__all__ = ["DiceRecord"]


@dataclass(frozen=True)
class DiceRecord:
    """A game as played: `rolls` and `moves` turn by turn, from the game's start position on.

    outcome: for the side that begins, 0.0 where the game was broken off. reason: `end of the
    game`, `most turns` or `stopped`.
    """

    game: DiceGame
    rolls: tuple[int, ...]
    moves: tuple[Any, ...]
    outcome: float
    reason: str

    def positions(self) -> list[Any]:
        """The position before each roll, and the last one: one more than moves."""
        found = [self.game.start()]
        for move in self.moves:
            found.append(self.game.play(found[-1], move))
        return found

    def record(self) -> GameRecord:
        """The same as a game record."""
        record = GameRecord.of_legal(
            self.game,
            self.positions(),
            list(self.moves),
            [Annotation()] * len(self.moves),
            rolls=list(self.rolls),
        )
        if not record.over:
            record.declare(self.outcome, self.reason)
        return record

"""The dice of a match, and games with dice as they were played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from games.contract import DiceGame, first_rolls
from games.kernels.chance import cumulative, drawn, next_state, stream, uniform
from games.record import Annotation, GameRecord

__all__ = ["Dice", "DiceRecord", "choice"]

_STEP = int(next_state(0))
_MASK = (1 << 62) - 1


class Dice:
    """The dice of a match: a stream for each pair, and in it two numbers for each turn.

    The first decides the roll, the second what is left to chance in the choice of a move, so that
    a player who plays at random does the same in both games of a pair.
    """

    def __init__(self, game: DiceGame, seed: int = 0) -> None:
        if seed < 0:
            raise ValueError(f"seed: expected at least 0, found {seed}")
        self.seed = seed
        self._limits = cumulative(game.rolls)
        self._first_limits = cumulative(first_rolls(game))

    def stream(self, pair: int) -> int:
        """The stream of a pair, by its number from 0 on."""
        return stream(self.seed, pair)

    def roll(self, stream: int, turn: int) -> int:
        """The roll of a turn, counted from 0; that of turn 0 follows the game's `first_rolls`."""
        chance = uniform((stream + (2 * turn + 1) * _STEP) & _MASK)
        return int(drawn(chance, self._limits if turn else self._first_limits))


def choice(stream: int, turn: int) -> float:
    """What a choice of chance in a turn goes by: a number from 0 to below 1."""
    return float(uniform((stream + (2 * turn + 2) * _STEP) & _MASK))


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

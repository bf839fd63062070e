"""The dice of matches: a stream of chance for each pair of games."""

from __future__ import annotations

from games.contract import DiceGame
from games.kernels import uncompiled
from games.kernels.chance import cumulative, drawn, next_state, stream, uniform

__all__ = ["OTHER", "Dice", "choice"]

#: Uncompiled, because compiled code takes half a second to begin with.
_STEP = int(uncompiled(next_state)(0))
_MASK = (1 << 62) - 1
#: Changes the random choices of moves, but not the dice.
OTHER = 0x2545F4914F6CDD1D


class Dice:
    """The dice of a match: a stream for each pair, and in it two numbers for each turn.

    The first number decides the roll, the second any random choice of a move, so that a random
    player chooses by the same numbers in both games of a pair. Two random players would play the
    same game twice, so in the second they choose by `OTHER` numbers.
    """

    def __init__(self, game: DiceGame, seed: int = 0) -> None:
        if seed < 0:
            raise ValueError(f"seed: expected at least 0, found {seed}")
        self.seed = seed
        self._limits = cumulative(game.rolls)
        self._first_limits = cumulative(game.dice.first)

    def stream(self, pair: int) -> int:
        """Returns the stream of a pair, by its number from 0 on."""
        return stream(self.seed, pair)

    def roll(self, stream: int, turn: int, *, opening: bool = False) -> int:
        """Returns the roll of a turn, counted from 0.

        Turn 0 draws from the game's `dice.first`, unless an `opening` was played before it.
        """
        chance = uniform((stream + (2 * turn + 1) * _STEP) & _MASK)
        return int(drawn(chance, self._limits if turn or opening else self._first_limits))


def choice(stream: int, turn: int, other: int = 0) -> float:
    """Returns the random number for choosing a move in a turn, 0 <= number < 1.

    other: 0, or `OTHER` for another number.
    """
    return float(uniform((stream + (2 * turn + 2) * _STEP) & _MASK ^ other))

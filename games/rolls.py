"""The dice of a game: how likely each roll is, how a game begins, and how rolls are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from games.errors import MoveError

__all__ = ["Rolls", "Roll", "dice_of"]

#: The number of a roll in `Rolls.rolls`.
Roll = int


@dataclass(frozen=True)
class Rolls:
    """The dice that each turn of a game begins with.

    rolls: the probability of each roll.
    first_rolls: the probabilities of the first roll of a game. Default: `rolls`.
    starts: the start positions in which side 0, side 1 and so on move, if chance decides
        who begins. Default: the one start position of the game.
    text: `text(roll)` returns a roll as people write it. Default: its number.
    read: `read(text)` returns the roll that a text names; raises MoveError if it names none.
        Default: texts are those of `text`.
    """

    rolls: Sequence[float]
    first_rolls: Sequence[float] = ()
    starts: tuple[Any, ...] = ()
    text: Callable[[Roll], str] = str
    read: Callable[[str], Roll] | None = None

    @property
    def first(self) -> Sequence[float]:
        """The probabilities of the first roll of a game."""
        return self.first_rolls if len(self.first_rolls) else self.rolls

    def parse(self, text: str) -> Roll:
        """Returns the roll that a text names; raises MoveError if it names none."""
        if self.read is not None:
            return self.read(text)
        texts = [self.text(roll) for roll in range(len(self.rolls))]
        if text.strip() not in texts:
            raise MoveError(f"expected a roll such as {texts[0]}, found {text.strip()[:40]!r}")
        return texts.index(text.strip())


def dice_of(game: Any) -> Rolls:
    """Returns the dice of a game; raises ValueError if it has none."""
    dice: Rolls | None = game.dice
    if dice is None:
        raise ValueError(f"expected a game with dice, found {game.name}")
    return dice

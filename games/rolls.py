"""The dice of a game: how likely each roll is, how a game begins, and how rolls are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from games.errors import MoveError
from games.kinds import WITH_DICE

__all__ = ["NoRolls", "Roll", "Rolls", "dice_of", "rolls_of"]

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
    def every(self) -> Sequence[Roll]:
        """The numbers of all rolls."""
        return range(len(self.rolls))

    @property
    def first(self) -> Sequence[float]:
        """The probabilities of the first roll of a game."""
        return self.first_rolls if len(self.first_rolls) else self.rolls

    def split(self, line: str) -> tuple[Roll | None, str]:
        """Returns the roll before the ":" in a line, and the move behind it."""
        roll, _, move = line.partition(":")
        return self.parse(roll), move

    def parse(self, text: str) -> Roll:
        """Returns the roll that a text names; raises MoveError if it names none."""
        if self.read is not None:
            return self.read(text)
        texts = [self.text(roll) for roll in self.every]
        if text.strip() not in texts:
            raise MoveError(f"expected a roll such as {texts[0]}, found {text.strip()[:40]!r}")
        return texts.index(text.strip())

    def awaits(self, roll: Roll | None) -> bool:
        """Returns whether a roll has to come before the move."""
        return roll is None

    def check(self, roll: Any) -> None:
        """Raise MoveError unless a move may be made with the roll."""
        if not (isinstance(roll, int) and 0 <= roll < len(self.rolls)):
            raise MoveError(f"roll: expected 0 to {len(self.rolls) - 1}, found {roll!r}")

    def named(self, roll: Roll | None) -> str | None:
        """Returns the text of a roll; None without one."""
        return None if roll is None else self.text(roll)

    def draw(self, random: Random, *, first: bool = False) -> Roll:
        """Returns a random roll by its probability; `first` of a game, or another."""
        chances = self.first if first else self.rolls
        return random.choices(range(len(chances)), chances)[0]


class NoRolls:
    """Stands for the dice of a game that has none."""

    every: Sequence[None] = (None,)

    def split(self, line: str) -> tuple[Roll | None, str]:
        """Returns None, and the line: a move."""
        return None, line

    def parse(self, text: str) -> Roll | None:
        """Returns None."""
        return None

    def awaits(self, roll: Any) -> bool:
        """Returns False: the move comes at once."""
        return False

    def check(self, roll: Any) -> None:
        """Raise MoveError if there is a roll."""
        if roll is not None:
            raise MoveError(f"expected no roll in a game without dice, found {roll!r}")

    def named(self, roll: Any) -> None:
        """Returns None."""

    def draw(self, random: Random, *, first: bool = False) -> None:
        """Returns None."""


def rolls_of(game: Any) -> Rolls | NoRolls:
    """Returns the dice of a game, or what stands for them."""
    dice: Rolls | None = game.dice
    return dice or NO_ROLLS


def dice_of(game: Any) -> Rolls:
    """Returns the dice of a game; raises ValueError if it has none."""
    WITH_DICE.expect(game)
    dice: Rolls = game.dice
    return dice


NO_ROLLS = NoRolls()

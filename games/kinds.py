"""Kinds of games, and the refusal of those that something is not for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["FOR_TWO_WITHOUT_DICE", "WITHOUT_CHANCE", "WITHOUT_DICE", "WITH_CUBE", "WITH_DICE"]


@dataclass(frozen=True)
class Kind:
    """A kind of game.

    words: the kind in an error, behind "expected".
    holds: returns whether a game is of the kind.
    """

    words: str
    holds: Callable[[Any], bool]

    def expect(self, game: Any, *, where: str = "") -> None:
        """Raise ValueError for a game of another kind; `where` begins the error."""
        if not self.holds(game):
            place = f"{where}: " if where else ""
            raise ValueError(f"{place}expected {self.words}, found {game.name}")


WITH_DICE = Kind("a game with dice", lambda game: game.dice is not None)
WITHOUT_DICE = Kind("a game without dice", lambda game: game.dice is None)
WITHOUT_CHANCE = Kind("a game without chance nodes", lambda game: game.chances is None)
WITH_CUBE = Kind("a game with a cube", lambda game: game.cube is not None)
FOR_TWO_WITHOUT_DICE = Kind(
    "a game for two without dice", lambda game: game.dice is None and game.players == 2
)

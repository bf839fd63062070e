"""Kinds of games, and the error for a game of the wrong kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "FOR_TWO",
    "FOR_TWO_AT_MOST",
    "FOR_TWO_WITHOUT_DICE",
    "WITHOUT_CHANCE",
    "WITHOUT_DICE",
    "WITH_CUBE",
    "WITH_DICE",
    "WITH_SIDES",
    "Kind",
]


@dataclass(frozen=True)
class Kind:
    """A kind of game.

    words: the kind in an error, behind "expected".
    holds: returns whether a game is of the kind.
    """

    words: str
    holds: Callable[[Any], bool]

    def expect(self, game: Any, *, where: str = "", instead: str = "") -> None:
        """Raise ValueError for a game of another kind.

        where: the beginning of the error.
        instead: the end of the error, what serves a game of the other kind.
        """
        if not self.holds(game):
            place, other = f"{where}: " if where else "", f": {instead}" if instead else ""
            name = getattr(game, "name", repr(game))
            raise ValueError(f"{place}expected {self.words}, found {name}{other}")


WITH_DICE = Kind("a game with dice", lambda game: game.dice is not None)
WITHOUT_DICE = Kind("a game without dice", lambda game: game.dice is None)
WITHOUT_CHANCE = Kind("a game without chance nodes", lambda game: game.chances is None)
FOR_TWO = Kind("a game for two players", lambda game: game.players == 2)
FOR_TWO_AT_MOST = Kind("a game for at most two sides", lambda game: game.players <= 2)
WITH_SIDES = Kind("a game of two sides or more", lambda game: game.players > 1)
WITH_CUBE = Kind("a game with a cube", lambda game: game.cube is not None)
FOR_TWO_WITHOUT_DICE = Kind(
    "a game for two without dice", lambda game: game.dice is None and game.players == 2
)

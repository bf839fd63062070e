"""A database that a game names as a lookup: the end of the game without searching it."""

from __future__ import annotations

from typing import Any

from games.contract import Game
from search.lookups.lookup import Lookup

__all__ = ["DatabaseLookup"]


class DatabaseLookup(Lookup):
    """The lookup of a name in `game.lookups`, such as "endgame" of checkers.

    Making it reads or builds the tables; another process does so itself instead of being sent them.
    Raises ValueError if the game names no such database, else what making the tables raises.
    """

    def __init__(self, game: Game, name: str) -> None:
        if name not in game.lookups:
            names = ", ".join(game.lookups) or "no name, for it has no databases"
            raise ValueError(f"lookup of {game.name}: expected {names}; found {name!r:.60}")
        self.game = game
        self.name = name
        known = game.lookups[name]
        super().__init__(known.probe, known.tables(), outcomes=known.outcomes)

    def __reduce__(self) -> tuple[Any, ...]:
        return DatabaseLookup, (self.game, self.name)

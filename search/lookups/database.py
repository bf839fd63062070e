"""Databases of endings that a game declares, as lookups."""

from __future__ import annotations

from typing import Any

from games.contract import Game
from search.lookups.lookup import Lookup

__all__ = ["DatabaseLookup"]


class DatabaseLookup(Lookup):
    """The database with a name in `game.lookups`, such as "endgame" of checkers.

    The constructor reads or builds the tables. A copy in another process does so again, because the
    tables are not sent to it. Raises ValueError if the game declares no such database, and any
    error of building the tables.
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

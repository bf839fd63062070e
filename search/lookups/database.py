"""Databases of endings that a game declares, as lookups."""

from __future__ import annotations

from typing import Any

from games.contract import Game
from search.evaluators.evaluator import Evaluator
from search.lookups.lookup import Lookup

__all__ = ["DatabaseLookup", "usual_lookup"]


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


def usual_lookup(game: Game, evaluator: Evaluator) -> DatabaseLookup | None:
    """Returns the database that an evaluator consults without being asked to, None for none.

    It is `Game.usual_lookup`, for evaluators that give chances of outcomes: their values are of the
    same kind as the database's. Raises any error of building the tables.
    """
    if not game.usual_lookup or not evaluator.gives_outcomes:
        return None
    return DatabaseLookup(game, game.usual_lookup)

"""Endgame databases of checkers as a lookup: the end of the game without searching it."""

from __future__ import annotations

from typing import Any

from games.checkers.endgame import endgame, probe
from games.contract import Game
from search.lookups.lookup import Lookup

__all__ = ["EndgameLookup", "endgame_lookup"]


class EndgameLookup(Lookup):
    """The database of `games.checkers.endgame` for so many pieces; all of it is exact for ever.

    Another process maps the file itself instead of being sent it.
    """

    def __init__(self, pieces: int, folder: Any = None) -> None:
        self.pieces = pieces
        self.folder = folder
        super().__init__(probe, endgame(pieces, folder).tables)

    def __reduce__(self) -> tuple[Any, ...]:
        return EndgameLookup, (self.pieces, self.folder)


def endgame_lookup(game: Game, *, pieces: int = 4, folder: Any = None) -> Lookup:
    """The endgame database of a game for at most so many pieces, from the user's cache directory.

    Of at most four pieces it is built in seconds where it is not there. ValueError where the game
    has none: every game but checkers; else what `games.checkers.endgame.endgame` raises.
    """
    if game.name != "checkers":
        raise ValueError(f"endgame: expected checkers, found {game.name}")
    return EndgameLookup(pieces, folder)

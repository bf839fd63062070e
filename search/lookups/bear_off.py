"""Bear-off databases of backgammon as a lookup: the end of the game without searching it."""

from __future__ import annotations

from typing import Any

from games.backgammon.bear_off import outcomes, probe
from games.backgammon.bear_off_tables import bear_off
from games.contract import Game
from search.lookups.lookup import Lookup

__all__ = ["BearOffLookup", "bear_off_lookup"]


class BearOffLookup(Lookup):
    """The databases of `games.backgammon.bear_off`; what is exact there stands for 99 plies.

    Another process reads or builds them itself instead of being sent them.
    """

    def __init__(self) -> None:
        super().__init__(probe, bear_off().tables, outcomes=outcomes)

    def __reduce__(self) -> tuple[Any, ...]:
        return BearOffLookup, ()


def bear_off_lookup(game: Game) -> Lookup:
    """The bear-off databases of a game, from the user's cache directory or built in seconds.

    ValueError where the game has none: every game but backgammon.
    """
    if game.name != "backgammon":
        raise ValueError(f"bear-off: expected backgammon, found {game.name}")
    return BearOffLookup()

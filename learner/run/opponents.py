"""The players that a run is measured against unless the user names others."""

from __future__ import annotations

from importlib.util import find_spec

from games.contract import Game

__all__ = ["pacemakers", "usual_opponents"]


def usual_opponents(game: Game) -> list[str]:
    """The players that the result of a run is measured against.

    External engines join those that the game names if their packages are installed.
    """
    return [*game.opponents, *_peers(game)]


def pacemakers(game: Game) -> list[str]:
    """The players that the snapshots of a run are measured against.

    The nearer a player is in strength, the more a game against it tells.
    """
    return [*(game.pacemakers or game.opponents), *_peers(game)[:1]]


def _peers(game: Game) -> list[str]:
    """External engines that are installed, which no run needs."""
    return [e.player for e in game.engines if e.peer and find_spec(e.package) is not None]

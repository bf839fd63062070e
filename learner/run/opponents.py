"""Default opponents of a run."""

from __future__ import annotations

from importlib.util import find_spec

from games.contract import Game
from play.players.external import ExternalEngines
from play.players.opponents import Opponents, reference

__all__ = ["pacemakers", "usual_opponents"]


def usual_opponents(game: Game) -> list[str]:
    """Returns the players that the result of a run is measured against.

    External engines join those that the game names if their packages are installed, and a
    hand-crafted evaluator if it names none.
    """
    usual = Opponents.of(game).usual
    named = any(name in game.evaluators for name in usual)
    return [*usual, *filter(None, [] if named else [reference(game)]), *_peers(game)]


def pacemakers(game: Game) -> list[str]:
    """Returns the players that the snapshots of a run are measured against.

    A game against an opponent of similar strength is the most informative.
    """
    declared = Opponents.of(game)
    if not declared.pacemakers:
        return usual_opponents(game)
    return [*declared.pacemakers, *_peers(game)[:1]]


def _peers(game: Game) -> list[str]:
    """Returns the external engines that are installed; no run needs them."""
    return [
        e.player
        for e in ExternalEngines.of(game).engines
        if e.peer and find_spec(e.package) is not None
    ]

"""Who a run is measured against where nobody says otherwise: names that players go by."""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ["pacemakers", "usual_opponents"]

OPPONENTS = {"checkers": ("material", "rote", "classic"), "backgammon": ("random", "hand")}
#: Those whom snapshots are measured against: the nearer in strength, the more a game tells.
PACEMAKERS = {"checkers": ("rote", "classic"), "backgammon": ("hand",)}
#: Who joins them where gnubg_nn is installed, a package of others that is never needed.
PEERS = {"backgammon": ("pubeval", "gnubg:0")}


def usual_opponents(game: str) -> list[str]:
    """Who the result of a run is measured against."""
    return [*OPPONENTS.get(game, ("random",)), *_peers(game)]


def pacemakers(game: str, opponents: list[str]) -> list[str]:
    """Who the snapshots of a run are measured against; `opponents` in games without others."""
    return [*PACEMAKERS.get(game, opponents), *_peers(game)[:1]]


def _peers(game: str) -> list[str]:
    """Programs of others that are there to play against."""
    return list(PEERS.get(game, ())) if find_spec("gnubg_nn") is not None else []

"""`RareKinds`: kinds of positions that learners look for, because games seldom bring them."""

from __future__ import annotations

from dataclasses import dataclass

from games.contract import Game
from games.extras import extra
from games.features import Phases

__all__ = ["RareKinds", "kinds_of"]


@dataclass(frozen=True)
class RareKinds:
    """The kinds of a game's positions, an extra: a learner trains on as many of each."""

    kinds: Phases


def kinds_of(game: Game) -> Phases | None:
    """Returns the kinds of positions that a game distinguishes; None for none."""
    known = extra(game, RareKinds)
    return None if known is None else known.kinds

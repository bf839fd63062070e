"""`RareKinds`: kinds of positions that learners look for, because games seldom bring them."""

from __future__ import annotations

from dataclasses import dataclass

from games.extras import Extra
from games.features import Phases

__all__ = ["RareKinds"]


@dataclass(frozen=True)
class RareKinds(Extra):
    """The kinds of a game's positions, an extra: a learner trains on as many of each."""

    kinds: Phases | None = None

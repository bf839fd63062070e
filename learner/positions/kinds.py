"""`RareKinds`: kinds of positions that learners look for, because games seldom bring them."""

from __future__ import annotations

from dataclasses import dataclass

from games.extras import Extra
from games.features import Phases

__all__ = ["RareKinds"]


@dataclass(frozen=True)
class RareKinds(Extra):
    """The kinds of a game's positions, an extra: a learner trains on as many of each.

    long: names of kinds whose values only show at the end of games.
    valued: names of the phases that the usual database values, whose nets need not learn.
    """

    kinds: Phases | None = None
    long: frozenset[str] = frozenset()
    valued: tuple[str, ...] = ()

"""`RareKinds`: kinds of positions that learners look for, because they are rare in games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.extras import Extra
from games.features import Phases

__all__ = ["RareKinds"]


@dataclass(frozen=True)
class RareKinds(Extra):
    """The kinds of a game's positions, an extra: a learner trains on equal numbers of each.

    long: names of kinds whose values only show at the end of games.
    valued: names of the phases that the usual database values, whose nets need not learn.
    """

    kinds: Phases | None = None
    long: frozenset[str] = frozenset()
    valued: tuple[str, ...] = ()

    def are_long(self, positions: Any) -> NDArray[np.bool_]:
        """Returns whether positions [positions, integers] are of such kinds, [positions]."""
        if self.kinds is None:
            return np.zeros(len(positions), dtype=bool)
        return np.isin(np.array(self.kinds.names)[self.kinds.of(positions)], list(self.long))

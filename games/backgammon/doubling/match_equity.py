"""Match equity tables: the chance to win a match from each score; `own_table` makes our own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["LONGEST", "MatchEquities"]

#: The longest match, in points.
LONGEST = 64


@dataclass(frozen=True, eq=False)
class MatchEquities:
    """Chances to win a match.

    before: [n, n], by the points that a side and its opponent lack, less one; where one of them
        lacks a single point, before the Crawford game.
    after: [n], the chance of the trailing side by the points that it lacks, less one, when the
        Crawford game is over and its opponent lacks one point.
    """

    before: NDArray[np.float64]
    after: NDArray[np.float64]

    def chance(self, own: int, theirs: int, *, crawford_over: bool) -> float:
        """Returns the chance of a side that needs `own` points against one that needs `theirs`.

        crawford_over: whether the Crawford game has been played.

        Raises ValueError if the table is too small.
        """
        if own <= 0 or theirs <= 0:
            return 1.0 if own <= 0 else 0.0
        if max(own, theirs) > len(self.after):
            raise ValueError(
                f"match equities: expected at most {len(self.after)} points, found"
                f" {max(own, theirs)}"
            )
        if crawford_over and theirs == 1:
            return float(self.after[own - 1])
        if crawford_over and own == 1:
            return 1.0 - float(self.after[theirs - 1])
        return float(self.before[own - 1, theirs - 1])

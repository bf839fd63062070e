"""The phases of checkers, by the number of pieces left; ProbCut has parameters for each."""

from __future__ import annotations

from games.features import Phases
from games.kernels import kernel, popcount

__all__ = ["PHASES", "phase"]


@kernel
def phase(position):
    """Returns 0 with at least 17 pieces (men or kings), 1 with 9 to 16, 2 with at most 8."""
    own, opponent, _, _ = position
    pieces = popcount(own | opponent)
    return 0 if pieces > 16 else 1 if pieces > 8 else 2


PHASES = Phases(("opening", "middle", "end"), phase)

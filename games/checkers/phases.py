"""The phases of checkers, by the number of pieces left; ProbCut has parameters for each."""

from __future__ import annotations

from games.features import Phases
from games.kernels import kernel, popcount

__all__ = ["PHASES", "phase"]


@kernel
def phase(position):
    """0 with 17 pieces and more, 1 with 9 to 16, 2 with at most 8, kings and men counted alike."""
    own, opponent, _, _ = position
    pieces = popcount(own | opponent)
    return 0 if pieces > 16 else 1 if pieces > 8 else 2


PHASES = Phases(("opening", "middle", "end"), phase)

"""The phases of checkers, by the number of pieces left."""

from __future__ import annotations

from games.features import Phases
from games.kernels import kernel, popcount

__all__ = ["PHASES", "phase", "pieces"]


@kernel
def pieces(position):
    """Returns the number of pieces (men or kings) of both sides."""
    own, opponent, _, _ = position
    return popcount(own | opponent)


@kernel
def phase(position):
    """Returns 0 with at least 17 pieces, 1 with 9 to 16, 2 with at most 8."""
    left = pieces(position)
    return 0 if left > 16 else 1 if left > 8 else 2


PHASES = Phases(("opening", "middle", "end"), phase, pieces)

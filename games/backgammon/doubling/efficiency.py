"""How well the cube can be used in a position: the efficiency that `Stakes.value` takes."""

from __future__ import annotations

import numpy as np

from games.backgammon.phases import in_contact
from games.backgammon.rules import Position
from games.backgammon.situation import checker_counts

__all__ = ["CONTACT", "efficiency"]

#: In contact; Janowski finds 0.6 to 0.7 by rollouts.
CONTACT = 0.68
#: In a race by the pips of the side to move. Up to 30 pips these are the efficiencies whose
#: decisions lose least in exact endings of six checkers a side (`benchmarks.cube`): in a short race
#: a roll is worth much, so that a side seldom doubles at exactly the right moment.
RACE_PIPS = (0.0, 8.0, 12.0, 20.0, 30.0, 60.0, 100.0)
RACE = (0.2, 0.35, 0.45, 0.5, 0.55, 0.65, 0.7)


def efficiency(position: Position) -> float:
    """Returns the efficiency of the cube in a position, from 0 (dead) to 1 (fully live)."""
    near, far, _, _, _ = position
    if in_contact(position):
        return CONTACT
    pips = sum(point * count for point, count in enumerate(checker_counts(near, far)))
    return float(np.interp(pips, RACE_PIPS, RACE))

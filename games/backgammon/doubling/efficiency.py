"""The efficiency of the cube in a position, which `Stakes.value` takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.backgammon.phases import in_contact
from games.kernels import kernel

__all__ = ["CONTACT", "efficiencies"]

#: The efficiency in contact. Janowski finds 0.6 to 0.7 by rollouts. Of 0.6, 0.68 and 0.75,
#: with this one decisions lose least, as GNU Backgammon judges them at 2 plies
#: (`benchmarks.cube_gnu`).
CONTACT = 0.75
#: The efficiency in a race, by the pips of the side to move. Up to 30 pips these are the
#: efficiencies whose decisions lose least in exact endings of six checkers a side
#: (`benchmarks.cube`): in a short race a single roll changes so much that a side seldom doubles at
#: exactly the right moment.
RACE_PIPS = (0.0, 8.0, 12.0, 20.0, 30.0, 60.0, 100.0)
RACE = (0.2, 0.35, 0.45, 0.5, 0.55, 0.65, 0.7)


@kernel
def _race_pips(positions, pips):
    """Write the pips of the side to move in each race; -1 where there is contact."""
    for n in range(len(positions)):
        near, far, their_near, their_far, side = positions[n]
        pips[n] = -1
        if not in_contact((near, far, their_near, their_far, side)):
            total = 0
            for point in range(13):
                total += point * (near >> 4 * point & 15) + (point + 13) * (far >> 4 * point & 15)
            pips[n] = total
    return 0


def efficiencies(positions: Any) -> NDArray[np.float64]:
    """Returns the efficiency of the cube in positions [n], each from 0 (dead) to 1 (fully live)."""
    rows = np.asarray(positions, dtype=np.int64)
    pips = np.zeros(len(rows), dtype=np.int64)
    _race_pips(rows, pips)
    return np.where(pips < 0, CONTACT, np.interp(pips, RACE_PIPS, RACE))

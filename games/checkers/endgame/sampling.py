"""Random positions with few pieces, as many of each kind of material."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from games.checkers.endgame.numbering import position_of, positions_of, slices
from games.kernels import kernel

__all__ = ["random_positions"]


@kernel
def _fill(numbers, own_men, own_kings, his_men, his_kings, rows):
    """Write the positions with some numbers of a slice to rows."""
    for i in range(len(numbers)):
        own, opponent, kings, side = position_of(numbers[i], own_men, own_kings, his_men, his_kings)
        rows[i, 0] = own
        rows[i, 1] = opponent
        rows[i, 2] = kings
        rows[i, 3] = side
    return 0


def random_positions(pieces: int, count: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Returns about `count` positions of at most `pieces` pieces, Black to move.

    Each material in which no side has two pieces more than the other has an equal part, less if it
    has fewer positions; in a part, all positions are equally likely.
    """
    materials = [one for one in slices(pieces) if abs(sum(one[:2]) - sum(one[2:])) <= 1]
    parts = []
    for material in materials:
        size = positions_of(material)
        numbers = random.integers(size, size=min(-(-count // len(materials)), size))
        rows = np.zeros((len(numbers), 4), dtype=np.int64)
        _fill(numbers, *material, rows)
        parts.append(rows)
    return np.concatenate(parts)

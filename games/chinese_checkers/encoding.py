"""The inputs of networks in Chinese Checkers: pieces on cells, as the side to move sees the star.

`cells` is a kernel for a number of players, by `games.kernels.family`, as the functions of
`games.chinese_checkers.rules`. It reads PLAYERS and TURNED.
"""

from __future__ import annotations

import numpy as np

from games.chinese_checkers.rules import PLAYERS, WORDS
from games.chinese_checkers.star import CELLS, DISTANCES, LOW
from games.kernels import lowest

__all__ = ["cells", "turned"]

#: A placeholder: [side, cell], the cell after the turn of the star that puts the side north.
TURNED = np.zeros((2, CELLS), dtype=np.int64)


def cells(position, places):
    """Write the cells of the own pieces, those of the next player's plus 121, and so on."""
    side = position[WORDS]
    count = 0
    for player in range(PLAYERS):
        for word in range(2):
            pieces = position[2 * player + word]
            while pieces:
                places[count] = CELLS * player + TURNED[side, lowest(pieces) + LOW * word]
                pieces &= pieces - 1
                count += 1
    return count


def turned(point: int) -> list[int]:
    """Returns where each cell comes to lie when the star is turned so that `point` is north."""
    # the steps to all six tips tell cells apart
    at = {tuple(DISTANCES[:, cell].tolist()): cell for cell in range(CELLS)}
    return [at[tuple(np.roll(DISTANCES[:, cell], -point).tolist())] for cell in range(CELLS)]

"""The inputs of networks in Connect Four: the squares of each side's stones."""

from __future__ import annotations

from games.connect_four.rules import COLUMNS, ROWS
from games.features import Encoding
from games.kernels import kernel

__all__ = ["STONES"]

SQUARES = COLUMNS * ROWS


@kernel
def stones(position, places):
    """Write the squares of own stones, 6 * column + row, and those of the other side plus 42."""
    count = 0
    for column in range(7):
        for row in range(6):
            bit = 1 << 7 * column + row
            if position[0] & bit:
                places[count] = 6 * column + row
                count += 1
            elif position[1] & bit:
                places[count] = 42 + 6 * column + row
                count += 1
    return count


STONES = Encoding("stones", 2 * SQUARES, SQUARES, stones)

"""Rules of Connect Four: seven columns, six rows; a move drops a stone into a column.

Four in a row, column or diagonal win. A position is (own stones, the opponent's stones, side to
move). A column takes seven bits:

    row 6   5 12 19 26 33 40 47        bit 7 * column + row, both counted from 0;
    ...            ...                 bits 6, 13, ... above the columns stay empty, so
    row 1   0  7 14 21 28 35 42        that no line of four wraps into the next column

A move is the number of a column, 0 to 6. The side that begins is 0.
"""

from __future__ import annotations

from games.grid import swap_sides
from games.kernels import kernel

__all__ = [
    "ALL",
    "BOTTOM",
    "CENTRE",
    "COLUMNS",
    "DIRECTIONS",
    "ROWS",
    "START",
    "Position",
    "has_four",
    "legal_moves",
    "outcome",
    "play",
    "swap_sides",
]

Position = tuple[int, int, int]

COLUMNS, ROWS = 7, 6
START: Position = (0, 0, 0)
BOTTOM = sum(1 << 7 * column for column in range(7))
ALL = BOTTOM * 0b111111
CENTRE = 0b111111 << 21
DIRECTIONS = (1, 6, 7, 8)  # from a square to the next: up, falling, across and rising
_NAN = float("nan")


@kernel
def has_four(stones):
    """Whether four of these stones are in line."""
    for step in DIRECTIONS:
        pairs = stones & stones >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


@kernel
def outcome(position):
    """Returns -1.0 if the side that just moved has four, 0.0 on a full board, else NaN."""
    own, opponent, _ = position
    if has_four(opponent):
        return -1.0
    return 0.0 if own | opponent == ALL else _NAN


@kernel
def legal_moves(position, moves):
    """Write the columns that are not full, from the centre outwards; no column after a four."""
    own, opponent, _ = position
    if has_four(opponent):
        return 0
    stones = own | opponent
    count = 0
    for column in (3, 2, 4, 1, 5, 0, 6):
        if stones & 32 << 7 * column == 0:
            moves[count] = column
            count += 1
    return count


@kernel
def play(position, move):
    """Returns the position after a stone is dropped, seen by the other side."""
    own, opponent, side = position
    stones = own | opponent
    # Adding 1 at the foot of a column carries up to its first empty square.
    return (opponent, own | ((stones + (1 << 7 * move)) & ~stones), 1 - side)

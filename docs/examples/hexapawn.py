"""Hexapawn as kernels: an example of a game of your own, played everywhere that checkers is.

Three pawns a side on a board of three by three. A pawn goes one square straight on, or captures
one square diagonally; who reaches the far row or leaves the other side without a move wins. Source:
M. Gardner, Mathematical Games, Scientific American 206 (1962).

A position is (own pawns, the opponent's pawns, side to move); bit 3 * row + column, both from the
side to move, which goes up. After a move the board is turned round.
"""

from __future__ import annotations

from typing import Any

from games import Rules
from games.features import FeatureSet
from games.grid import Grid, GridGame
from games.kernels import kernel, popcount

__all__ = ["Hexapawn"]

LEFT, RIGHT = 0b001001001, 0b100100100
NEAR, FAR = 0b000000111, 0b111000000
_NAN = float("nan")


@kernel
def turned(pawns):
    """The pawns as the other side sees them."""
    after = 0
    for square in range(9):
        after |= (pawns >> square & 1) << 8 - square
    return after


@kernel
def legal_moves(position, moves):
    """Write 16 * from + to for every pawn that can go on or capture; none once a side is home."""
    own, opponent, _ = position
    if opponent & NEAR:
        return 0
    count = 0
    for square in range(6):
        pawn = own & 1 << square
        targets = pawn << 3 & ~(own | opponent)
        targets |= ((pawn & ~LEFT) << 2 | (pawn & ~RIGHT) << 4) & opponent
        for target in range(square + 2, square + 5):
            if targets >> target & 1:
                moves[count] = 16 * square + target
                count += 1
    return count


@kernel
def outcome(position):
    """-1.0 where the other side is home or the side to move cannot go on, else NaN."""
    own, opponent, _ = position
    if opponent & NEAR:
        return -1.0
    steps = own << 3 & ~(own | opponent)
    captures = ((own & ~LEFT) << 2 | (own & ~RIGHT) << 4) & opponent
    return _NAN if steps | captures else -1.0


@kernel
def play(position, move):
    """The position after a move, seen by the other side."""
    own, opponent, side = position
    square, target = move >> 4, move & 15
    return (turned(opponent & ~(1 << target)), turned(own ^ 1 << square | 1 << target), 1 - side)


@kernel
def swap_sides(position):
    """The same board with the other side to move."""
    own, opponent, side = position
    return (turned(opponent), turned(own), 1 - side)


@kernel
def pawns(position):
    """Pawns left."""
    return popcount(position[0])


@kernel
def advance(position):
    """Rows that the pawns have gone."""
    own = position[0]
    return popcount(own & FAR >> 3) + 2 * popcount(own & FAR)


@kernel
def blocked(position):
    """Pawns with a pawn right before them."""
    return popcount(position[0] << 3 & (position[0] | position[1]))


#: White sees the rows from the first one on, Black from the third; words follow the side to move.
GRID = Grid(
    3,
    3,
    "wb",
    {3 * (2 - bit // 3) + bit % 3: bit for bit in range(9)},
    turned=True,
    row_names="321",
    column_names="abc",
    symmetry="mirror",
)
#: Which bits hold the pawns, for terms that the program invents.
CELLS = GRID.cells("pawn", swap=swap_sides)


def _clicks(position: Any, move: int) -> list[int | None]:
    """The pawn, then the square that it goes to."""
    return [GRID.square_of(number, position[2]) for number in (move >> 4, move & 15)]


class Hexapawn(GridGame):
    """Hexapawn; texts are three rows of `w`, `b` and `.` from the top, and the side to move."""

    name = "hexapawn"
    grid = GRID
    rules = Rules(legal_moves=legal_moves, play=play, outcome=outcome)
    start_position = (NEAR, FAR, 0)
    most_moves = 9
    features = {
        "pawns": FeatureSet(
            "pawns", {"pawns": pawns, "advance": advance, "blocked": blocked}, swap_sides
        )
    }
    evaluators = {"hand": ("pawns", {"pawns": 1.0, "advance": 0.5})}
    sides = ("White", "Black")
    unit = "pawns"
    extras = (GRID.board(_clicks, light_first=True), CELLS)

    def move_text(self, position: Any, move: int) -> str:
        return "-".join(GRID.name_of(square) for square in _clicks(position, move))

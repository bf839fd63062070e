"""NAME: a game of your own, to be changed. Two sides fill a board; a row of one side wins.

A position is (own stones, the opponent's, side to move). A stone is the bit of its square, which
counts from 0 at the top left, row by row; a move is the number of that bit.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from games import Rules
from games.features import FeatureSet
from games.grid import Grid, GridGame, swap_sides
from games.kernels import bit, kernel, lowest, popcount, word

__all__ = ["Skeleton"]

SIZE = 4
ALL = word((1 << SIZE * SIZE) - 1)
ROW = (1 << SIZE) - 1
_NAN = float("nan")


@kernel
def outcome(position):
    """-1.0 if the side that just moved has a row, 0.0 on a full board, else NaN."""
    own, opponent, _ = position
    for row in range(SIZE):
        if opponent >> SIZE * row & ROW == ROW:
            return -1.0
    return 0.0 if own | opponent == ALL else _NAN


@kernel
def legal_moves(position, moves):
    """Write the empty squares; returns their number, 0 after the end."""
    value = outcome(position)
    if value == value:
        return 0
    empty = ALL & ~(position[0] | position[1])
    count = 0
    while empty:
        moves[count] = lowest(empty)
        empty ^= bit(moves[count])
        count += 1
    return count


@kernel
def play(position, move):
    """The position after a move, seen by the other side."""
    own, opponent, side = position
    return (opponent, own | bit(move), 1 - side)


@kernel
def middle(position):
    """Stones of the side to move that are not in the first or the last column."""
    return popcount(position[0] & ALL & ~0x9999)


GRID = Grid(SIZE, SIZE, "XO", column_names="abcd", row_names="4321", symmetry="mirror")


class Skeleton(GridGame):
    """The game; texts are the rows from the top, and the side to move."""

    name = "skeleton"
    grid = GRID
    rules = Rules(legal_moves=legal_moves, play=play, outcome=outcome)
    start_position = (0, 0, 0)
    most_moves = SIZE * SIZE
    features = {"terms": FeatureSet("terms", {"middle": middle}, swap_sides)}
    evaluators = {"hand": ("terms", {"middle": 1.0})}
    extras = (GRID.board(), GRID.cells())

"""The terms of checkers, one kernel each.

Each term is read for the side to move; the feature sets (`features`) take its difference between
the two sides. Rows are counted from a side's own back row, 0 to 7. Units are pieces or squares
unless said otherwise. The terms of Samuel's papers are in `samuel_terms`.
"""

from __future__ import annotations

from games.checkers.notation import square_bit
from games.checkers.rules import (
    FIRST_ROW,
    LAST_ROW,
    SQUARES,
    WHITE,
    jumpers,
    movers,
)
from games.kernels import kernel, popcount


def squares(*numbers: int) -> int:
    """Returns the board of PDN square numbers."""
    return sum(1 << square_bit(number) for number in numbers)


def both_colours(*numbers: int) -> tuple[int, int]:
    """Returns the boards of squares as Black names them and of their mirror image for White."""
    return squares(*numbers), squares(*(33 - number for number in numbers))


BRIDGE, BRIDGE_W = both_colours(1, 3)
BACK, BACK_W = both_colours(1, 2, 3, 4)
CENTRE = squares(10, 11, 14, 15, 18, 19, 22, 23)
EDGE = squares(5, 12, 13, 20, 21, 28, 4, 29)
SQUARES_1_5_6, SQUARES_1_5_6_W = both_colours(1, 5, 6)
KING_CENTRE = squares(10, 11, 14, 15, 18, 19, 22, 23, 6, 7, 26, 27)
ROW_1, ROW_2, ROW_3, ROW_4, ROW_5, ROW_6 = (
    squares(*range(4 * row + 1, 4 * row + 5)) for row in range(1, 7)
)


@kernel
def men(position):
    """Men."""
    own, _, kings, _ = position
    return popcount(own & ~kings)


@kernel
def kings(position):
    """Kings."""
    own, _, crowned, _ = position
    return popcount(own & crowned)


@kernel
def back_row(position):
    """Men on the own back row, where they keep the other side from crowning."""
    own, _, crowned, side = position
    return popcount(own & ~crowned & (BACK_W if side == WHITE else BACK))


@kernel
def bridge(position):
    """1 if men hold both bridge squares (1 and 3, for White 30 and 32)."""
    own, _, crowned, side = position
    held = BRIDGE_W if side == WHITE else BRIDGE
    return 1 if own & ~crowned & held == held else 0


@kernel
def centre(position):
    """Men on the eight centre squares."""
    own, _, crowned, _ = position
    return popcount(own & ~crowned & CENTRE)


@kernel
def king_centre(position):
    """Kings in the middle of the board."""
    own, _, crowned, _ = position
    return popcount(own & crowned & KING_CENTRE)


@kernel
def edge(position):
    """Men on the side edges."""
    own, _, crowned, _ = position
    return popcount(own & ~crowned & EDGE)


@kernel
def advance(position):
    """Rows that the men have gone, in all."""
    own, _, crowned, side = position
    on = own & ~crowned
    rows = (
        popcount(on & ROW_1)
        + 2 * popcount(on & ROW_2)
        + 3 * popcount(on & ROW_3)
        + 4 * popcount(on & ROW_4)
        + 5 * popcount(on & ROW_5)
        + 6 * popcount(on & ROW_6)
    )
    if side == WHITE:
        return 7 * popcount(on) - rows - 7 * popcount(on & LAST_ROW)
    return rows


@kernel
def far_advanced(position):
    """Men two rows or less from crowning."""
    own, _, crowned, side = position
    return popcount(own & ~crowned & (ROW_1 | ROW_2 if side == WHITE else ROW_5 | ROW_6))


@kernel
def mobility(position):
    """Pieces that can step to an empty square."""
    return popcount(movers(position))


@kernel
def hanging(position):
    """Own pieces that the other side could capture if it were to move."""
    own, opponent, crowned, side = position
    empty = SQUARES & ~(own | opponent)
    up = opponent if side == WHITE else opponent & crowned
    down = opponent & crowned if side == WHITE else opponent
    # the squares that opponents jump over, up by 4 and 5 bits and likewise down
    taken = (own & (up << 4) & (empty >> 4)) | (own & (up << 5) & (empty >> 5))
    taken |= (own & (down >> 4) & (empty << 4)) | (own & (down >> 5) & (empty << 5))
    return popcount(taken)


@kernel
def squares_1_5_6(position):
    """Pieces on the squares 1, 5 and 6 (for White 32, 28 and 27), at the own double corner."""
    own, _, _, side = position
    return popcount(own & (SQUARES_1_5_6_W if side == WHITE else SQUARES_1_5_6))


@kernel
def trapped_kings(position):
    """Kings that cannot leave their square."""
    own, opponent, crowned, _ = position
    empty = SQUARES & ~(own | opponent)
    able = (empty >> 4) | (empty >> 5) | (empty << 4) | (empty << 5) | jumpers(position)
    return popcount(own & crowned & ~able)


@kernel
def runaways(position):
    """Men one step from crowning with the square before them empty."""
    own, opponent, crowned, side = position
    empty = SQUARES & ~(own | opponent)
    if side == WHITE:
        goal = empty & FIRST_ROW
        return popcount(own & ~crowned & ((goal << 4) | (goal << 5)) & ROW_1)
    goal = empty & LAST_ROW
    return popcount(own & ~crowned & ((goal >> 4) | (goal >> 5)) & ROW_6)


@kernel
def supported(position):
    """Men with a man of the same side directly behind them on a diagonal."""
    own, _, crowned, side = position
    on = own & ~crowned
    behind = ((on >> 4) | (on >> 5)) if side == WHITE else ((on << 4) | (on << 5))
    return popcount(on & behind)


@kernel
def superiority(position):
    """Material lead over material on the board, so that the side ahead likes to trade.

    Material counts 3 for a king and 2 for a man (Samuel 1959); the unit is the whole board.
    """
    own, opponent, crowned, _ = position
    mine = 2 * popcount(own) + popcount(own & crowned)
    theirs = 2 * popcount(opponent) + popcount(opponent & crowned)
    return mine / (mine + theirs + 1e-9)

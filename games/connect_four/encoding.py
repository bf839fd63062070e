"""The inputs of networks in Connect Four: stones on squares, and threats on empty ones.

Where a move is forced there is nothing to choose, and `settle` plays it: what is told apart by the
tables is the position in which a side has a choice again.
"""

from __future__ import annotations

from games.connect_four.features import completing
from games.connect_four.rules import ALL, BOTTOM, COLUMNS, ROWS
from games.features import Encoding, Group, TupleLayout, straight_lines
from games.features.tuples import blocks, unlike
from games.kernels import kernel

__all__ = ["LINES_AND_COLUMNS", "STONES", "THREATS", "settle"]

SQUARES = COLUMNS * ROWS
CELLS = SQUARES + COLUMNS


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


@kernel
def settle(position):
    """Returns the position after all forced moves, and whether the other side is to move there.

    A move is forced that stops a four, or is the only one after which the other side cannot
    complete a four at once. It ends where the side to move can complete a four, or has a choice. A
    side that cannot prevent a four passes, or plays all its moves at once, so that the other side
    can complete it whichever move was chosen.
    """
    own, opponent, side = position
    turned = 0
    while True:
        reached = ((own | opponent) + BOTTOM) & ALL
        if reached == 0 or completing((own, opponent, 0)) & reached:
            break
        against = completing((opponent, own, 0))
        moves = reached & against
        if moves & moves - 1:
            moves = 0
        elif moves == 0:
            moves = reached & ~(against >> 1)
            if moves & moves - 1:
                break
            if moves == 0:
                moves = reached
        own, opponent, side = opponent, own | moves, 1 - side
        turned = 1 - turned
    return (own, opponent, side), turned


@kernel
def threats(position, places):
    """Write the states of 42 squares and 7 columns that are not 0, after all forced moves.

    Squares are counted row by row from the bottom, columns follow them. Everything is seen by the
    side that is to move after the forced moves.

    States of a square: 1 own stone, 2 the opponent's, 3 empty and reached, 4 empty where a stone
    of one's own completes four, 5 of the opponent's, 6 of either; 7 and 8 are 5 and 4 (or 6) where
    a stone can be played now. Other empty squares have state 0.

    A column has the state of its lowest square of states 4 to 6: 1 or 2 for 4 (in row 1, 3, 5 or in
    row 2, 4, 6), 3 or 4 for 5, 5 or 6 for 6; or 7 if one's own square is directly above another, 8
    if the opponent's is.

    The last input but one is 1 if the side to move did not begin, the last if it is not the side
    that is to move before the forced moves.
    """
    (own, opponent, side), turned = settle(position)
    mine = completing((own, opponent, 0))
    theirs = completing((opponent, own, 0))
    reached = ((own | opponent) + BOTTOM) & ALL
    count = 0
    for column in range(7):
        lowest = 0
        for row in range(6):
            bit = 1 << 7 * column + row
            state = 0
            if own & bit:
                state = 1
            elif opponent & bit:
                state = 2
            elif reached & bit:
                state = 8 if mine & bit else 7 if theirs & bit else 3
            elif (mine | theirs) & bit:
                state = 4 if not theirs & bit else 6 if mine & bit else 5
                if lowest == 0:
                    lowest = 2 * state - 7 + (row & 1)
                elif state != 5 and bit >> 1 & mine & ~theirs & ~reached:
                    lowest = 7
                elif state != 4 and bit >> 1 & theirs & ~mine & ~reached:
                    lowest = 8
            if state:
                places[count] = 49 * (state - 1) + 7 * row + column
                count += 1
        if lowest:
            places[count] = 49 * (lowest - 1) + 42 + column
            count += 1
    if side:
        places[count] = 49 * 8
        count += 1
    if turned:
        places[count] = 49 * 8 + 1
        count += 1
    return count


THREATS = Encoding("threats", 8 * CELLS + 2, CELLS + 2, threats)

_MIRROR = tuple(
    7 * row + 6 - column for row in range(7) for column in range(7)
)  # the columns' own cells are the seventh row
_LINES = unlike(straight_lines(COLUMNS, ROWS, 4), [_MIRROR])
_BLOCKS = unlike(blocks(COLUMNS, ROWS, 2, 2), [_MIRROR])
_COLUMNS = [tuple(range(column, SQUARES, COLUMNS)) for column in range(4)]
#: Classes of states: which side's threat a square is, and whether it can be played now; the same
#: without threats; whose the lowest threat of a column is, and whether in an odd row.
_THREATENED, _STONES, _LOWEST = (
    (0, 1, 2, 3, 4, 5, 0, 5, 4),
    (0, 1, 2, 3, 0, 0, 0, 3, 3),
    (0, 1, 2, 3, 4, 0, 0, 1, 3),
)

#: Tables of all lines of four, of all blocks of four and all columns, and of the columns' threats
#: together.
LINES_AND_COLUMNS = TupleLayout(
    THREATS,
    CELLS,
    (
        *(Group(cells, _THREATENED) for cells in (*_LINES, *_BLOCKS)),
        *(Group(cells, _STONES) for cells in _COLUMNS),
        Group(tuple(range(SQUARES, CELLS)), _LOWEST),
    ),
    (_MIRROR,),
    turns=True,
)

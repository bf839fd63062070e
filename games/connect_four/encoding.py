"""The inputs of networks in Connect Four: stones on squares, and threats on empty ones.

If a move is forced there is nothing to choose, and `settle` plays it: what is told apart by the
tables is the position in which a side has a choice again, or wins by threats.
"""

from __future__ import annotations

from itertools import combinations

from games.connect_four.features import completing
from games.connect_four.rules import ALL, BOTTOM, COLUMNS, ROWS
from games.features import Encoding, Group, TupleLayout, straight_lines
from games.features.tuples import blocks, unlike
from games.kernels import kernel

__all__ = ["AHEAD", "LINES_AND_COLUMNS", "STONES", "THREATS", "settle", "wins_by_threats"]

#: The greatest number of threats that `settle` looks ahead.
AHEAD = 8
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


@kernel(signature="boolean(int64, int64, int64)")
def wins_by_threats(own, opponent, most):
    """Returns whether the side to move can force a four by moves each of which threatens one.

    most: greatest number of threats before the four.
    """
    reached = ((own | opponent) + BOTTOM) & ALL
    if completing((own, opponent, 0)) & reached:
        return True
    forced = completing((opponent, own, 0)) & reached
    if forced & forced - 1 or most == 0:
        return False
    left = forced or reached
    while left:
        move = own | left & -left
        left &= left - 1
        beyond = ((move | opponent) + BOTTOM) & ALL
        answers = completing((move, opponent, 0)) & beyond
        if answers and completing((opponent, move, 0)) & beyond == 0:
            if answers & answers - 1 or wins_by_threats(move, opponent | answers, most - 1):
                return True
    return False


@kernel
def settle(position):
    """Returns the position after all forced moves, whether the other side is to move there, and
    whether the side that is to move there wins by threats (`wins_by_threats`).

    A move is forced if it is the only one after which the other side does not win by threats. If
    there is none, the other side is the one to move, and wins.
    """
    own, opponent, side = position
    turned = 0
    while True:
        reached = ((own | opponent) + BOTTOM) & ALL
        if wins_by_threats(own, opponent, AHEAD):
            return (own, opponent, side), turned, 1
        left = completing((opponent, own, 0)) & reached or reached
        safe = 0
        while left:
            move = left & -left
            left ^= move
            if not wins_by_threats(opponent, own | move, AHEAD):
                safe |= move
        if safe & safe - 1 or reached == 0:
            return (own, opponent, side), turned, 0
        own, opponent, side, turned = opponent, own | safe, 1 - side, 1 - turned
        if safe == 0:
            return (own, opponent, side), turned, 1


@kernel
def threats(position, places):
    """Write the states of 42 squares and 7 columns that are not 0, after all forced moves.

    Squares are counted row by row from the bottom, columns follow them. Everything is seen by the
    side to move after the forced moves.

    States of a square: 1 own stone, 2 the opponent's, 3 empty and reached, 4 empty where a stone
    of one's own completes four, 5 of the opponent's, 6 of either; 7 and 8 are 5 and 4 (or 6) where
    a stone can be played now. Other empty squares have state 0.

    A column has the state of its lowest square of states 4 to 6: 1 or 2 for 4 (in row 1, 3, 5 or in
    row 2, 4, 6), 3 or 4 for 5, 5 or 6 for 6; or 7 if one's own square is directly above another, 8
    if the opponent's is.

    Of the last three inputs one is 1 if the side to move wins by threats, else one if it did not
    begin; the last if it is not the side that is to move before the forced moves.
    """
    (own, opponent, side), turned, won = settle(position)
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
    if won or side:
        places[count] = 49 * 8 + won
        count += 1
    if turned:
        places[count] = 49 * 8 + 2
        count += 1
    return count


THREATS = Encoding("threats", 8 * CELLS + 3, CELLS + 2, threats)

_MIRROR = tuple(
    7 * row + 6 - column for row in range(7) for column in range(7)
)  # the columns' own cells are the seventh row
_LINES = unlike(straight_lines(COLUMNS, ROWS, 4), [_MIRROR])
_BLOCKS = unlike(blocks(COLUMNS, ROWS, 2, 2), [_MIRROR])
_COLUMNS = [tuple(range(column, SQUARES, COLUMNS)) for column in range(4)]
_ROWS = [tuple(range(start, start + COLUMNS)) for start in (0, COLUMNS)]
_FEET = unlike(
    [(*four, *(COLUMNS + column for column in four)) for four in combinations(range(COLUMNS), 4)],
    [_MIRROR],
)
#: Classes of states: which side's threat a square is, and whether it can be played now; the same
#: without threats; stones alone; whose the lowest threat of a column is, and whether in an odd row.
_THREATENED, _STONES, _PLAIN, _LOWEST = (
    (0, 1, 2, 3, 4, 5, 0, 5, 4),
    (0, 1, 2, 3, 0, 0, 0, 3, 3),
    (0, 1, 2, 0, 0, 0, 0, 0, 0),
    (0, 1, 2, 3, 4, 0, 0, 1, 3),
)

#: Tables of all lines of four, of all blocks of four and all columns, and of the columns' threats
#: together; and for the first moves of the two lowest rows, each whole, and of both in any four
#: columns.
LINES_AND_COLUMNS = TupleLayout(
    THREATS,
    CELLS,
    (
        *(Group(cells, _THREATENED) for cells in (*_LINES, *_BLOCKS)),
        *(Group(cells, _STONES) for cells in (*_COLUMNS, *_ROWS)),
        *(Group(cells, _PLAIN) for cells in _FEET),
        Group(tuple(range(SQUARES, CELLS)), _LOWEST),
    ),
    (_MIRROR,),
    turns=True,
)

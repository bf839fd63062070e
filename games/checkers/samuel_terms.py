"""The simple terms of Samuel's polynomial (IBM Journal 3, 1959), each a kernel of one position.

A term is read for the side to move, called active; the other side is called passive. Many terms
count what the *passive* side has, as Samuel's do: the sign is left to the weight. The evaluator
reads a term as term(position) - term(rules.swap_sides(position)); see `games.features.feature_set`.
A board turned by 180 degrees with the colours exchanged has the same value, for every term.

Three words are used throughout. A *step* is an ordinary move to an adjacent empty square, whether
or not a capture is pending, which would forbid it. A *neighbour* is one of the up to four squares
that touch a square at a corner; beyond the edge no squares exist, empty or occupied. The
*points* of a side are 2 for each man and 3 for each king.

Square numbers in a definition are Black's; White's are their mirror image (33 - square).
"""

from __future__ import annotations

from collections.abc import Callable

from games.checkers.rules import BLACK, SQUARES, WHITE, Position
from games.checkers.samuel_mobility import (
    denial,
    empty_squares,
    exchanges,
    mobility,
    reachable,
    threats,
    undenied_mobility,
)
from games.kernels import kernel, popcount

__all__ = ["INITIAL_ACTIVE", "SIMPLE_TERMS", "piece_advantage"]


def _board(*squares: int) -> int:
    """Returns the board with the given squares set."""
    return sum(1 << square - 1 + (square - 1) // 8 for square in squares)


CENTRE = _board(10, 11, 14, 15, 18, 19, 22, 23)
DOUBLE_CORNERS = _board(1, 5, 28, 32)
ROWS_3_4 = _board(*range(9, 17))  # of Black; of White they are rows 6 and 5
ROWS_5_6 = _board(*range(17, 25))
APEXES = _board(7, 26)
BLACK_BRIDGE, WHITE_BRIDGE = _board(1, 3), _board(30, 32)
BLACK_OREO, WHITE_OREO = _board(2, 3, 7), _board(26, 30, 31)
BLACK_FILES = _board(*range(1, 5), *range(9, 13), *range(17, 21), *range(25, 29))
# Diagonals in the direction of the two that end in the double corners, by distance from these.
DIAGONALS = _board(1, 6, 10, 15, 19, 24, 28, 5, 9, 14, 18, 23, 27, 32)
DIAGONALS_1 = _board(2, 7, 11, 16, 20, 13, 17, 22, 26, 31)
DIAGONALS_2 = _board(3, 8, 12, 21, 25, 30)
BLACK_CRAMP, BLACK_CRAMP_HELP = _board(13), _board(9, 14)
CRAMPED_WHITE = _board(17, 21, 22, 25)
WHITE_CRAMP, WHITE_CRAMP_HELP = _board(20), _board(19, 24)
CRAMPED_BLACK = _board(8, 11, 12, 16)


@kernel
def points(pieces, kings):
    """Returns 2 for each man plus 3 for each king."""
    return 2 * popcount(pieces) + popcount(pieces & kings)


@kernel
def _three_neighbours(board):
    """Returns the squares with at least three neighbours on a board."""
    a, b, c, d = board << 4, board >> 4, board << 5, board >> 5
    return SQUARES & (a & b & (c | d) | c & d & (a | b))


@kernel
def _bridge_held(position):
    bridge = BLACK_BRIDGE if position[3] == WHITE else WHITE_BRIDGE
    return position[1] & bridge == bridge


@kernel
def _oreo_held(position):
    triangle = BLACK_OREO if position[3] == WHITE else WHITE_OREO
    return position[1] & triangle == triangle


@kernel
def advancement(position):
    """ADV, in men: passive men on the 5th and 6th rows from their own side, less those on the
    3rd and 4th. Source: Samuel 1959.
    """
    men = position[1] & ~position[2]
    difference = popcount(men & ROWS_5_6) - popcount(men & ROWS_3_4)
    return difference if position[3] == WHITE else -difference


@kernel
def apex(position):
    """APEX: -1 if there is no king on the board, an active man stands on 7 or 26 and no passive
    one does; else 0. Source: Samuel 1959.
    """
    own, opponent, kings, _ = position
    return -1 if kings == 0 and own & APEXES and not opponent & APEXES else 0


@kernel
def back_row_bridge(position):
    """BACK: 1 if the active side has no king and passive pieces, men or kings, hold both squares
    of their bridge (1 and 3); else 0. Source: Samuel 1959.
    """
    return 1 if position[0] & position[2] == 0 and _bridge_held(position) else 0


@kernel
def centre_men(position):
    """CENT, in men: passive men on the eight centre squares. Source: Samuel 1959."""
    return popcount(position[1] & ~position[2] & CENTRE)


@kernel
def centre_kings(position):
    """KCENT, in kings: passive kings on the eight centre squares. Source: Samuel 1959."""
    return popcount(position[1] & position[2] & CENTRE)


@kernel
def centre_control(position):
    """CNTR, in squares: centre squares on which an active piece stands or to which one can step.
    Source: Samuel 1959.
    """
    return popcount(CENTRE & (position[0] | reachable(position)))


@kernel
def double_corner_refuge(position):
    """CORN: 1 if the active side has at most 6 points, the passive side more points than it, and
    an active piece can step to a double corner (1, 5, 28, 32); else 0. To stand there already
    does not count. Source: Samuel 1959.
    """
    own, opponent, kings, _ = position
    active = points(own, kings)
    if active > 6 or points(opponent, kings) <= active:
        return 0
    return 1 if reachable(position) & DOUBLE_CORNERS else 0


@kernel
def cramp(position):
    """CRAMP: 2 if Black is passive and holds 13 and at least one of 9 and 14 while White holds
    17, 21, 22 and 25 (the mirror image where White is passive); else 0. Source: Samuel 1959.
    """
    own, opponent, _, side = position
    if side == WHITE:
        key, help_, cramped = BLACK_CRAMP, BLACK_CRAMP_HELP, CRAMPED_WHITE
    else:
        key, help_, cramped = WHITE_CRAMP, WHITE_CRAMP_HELP, CRAMPED_BLACK
    return 2 if opponent & key and opponent & help_ and own & cramped == cramped else 0


@kernel
def double_corner_diagonals(position):
    """DIA, in pieces: passive pieces on the diagonals 1-28 and 5-32, which end in the double
    corners. Source: Samuel 1959.
    """
    return popcount(position[1] & DIAGONALS)


@kernel
def diagonal_moment(position):
    """DIAV, in pieces: passive pieces weighted by their distance from the nearer of the diagonals
    of DIA, counted in parallel diagonals: 3/2 at 0, 1 at 1, 1/2 at 2; the single corners (4, 29),
    at 3, do not count. Source: Samuel 1959.
    """
    passive = position[1]
    return (
        1.5 * popcount(passive & DIAGONALS)
        + popcount(passive & DIAGONALS_1)
        + 0.5 * popcount(passive & DIAGONALS_2)
    )


@kernel
def dykes(position):
    """DYKE, in strings: sets of three passive pieces that follow each other on a diagonal; four
    in line are two strings. Source: Samuel 1959.
    """
    passive = position[1]
    return popcount(passive & passive >> 4 & passive >> 8) + popcount(
        passive & passive >> 5 & passive >> 10
    )


@kernel
def exposed(position):
    """EXPOS, in pieces: passive pieces with two empty neighbours that lie opposite each other.
    Source: Samuel 1959.
    """
    empty = empty_squares(position)
    return popcount(position[1] & (empty << 4 & empty >> 4 | empty << 5 & empty >> 5))


@kernel
def forks(position):
    """FORK, in pairs: two passive pieces side by side in a row, with three empty squares: the one
    between them from which an active man would jump either, and the two where it would land.

    Only the active side's forward direction counts; whether an active piece can get to the
    forking square, and whether it would be captured there, does not matter. Source: Samuel 1959.
    """
    passive, empty = position[1], empty_squares(position)
    pairs = passive & passive >> 1  # the bit of the lower square; pairs across two rows drop out,
    if position[3] == BLACK:  # because the forking square is then off the board
        return popcount(pairs & empty << 4 & empty >> 4 & empty >> 6)
    return popcount(pairs & empty >> 5 & empty << 5 & empty << 3)


@kernel
def gaps(position):
    """GAP, in squares: empty squares that have a passive neighbour and, opposite to it along the
    diagonal, a second one or the edge of the board. Source: Samuel 1959.
    """
    passive = position[1]
    solid = passive | ~SQUARES  # passive or beyond the edge; << brings in zeros, so add the edge
    return popcount(
        empty_squares(position)
        & (
            passive << 4 & solid >> 4
            | passive >> 4 & (solid << 4 | 0xF)
            | passive << 5 & solid >> 5
            | passive >> 5 & (solid << 5 | 0x1F)
        )
    )


@kernel
def back_row_guard(position):
    """GUARD: 1 if the active side has no king and passive pieces hold their bridge (1 and 3) or
    their triangle of Oreo (2, 3 and 7); else 0. Source: Samuel 1959.
    """
    held = _bridge_held(position) or _oreo_held(position)
    return 1 if position[0] & position[2] == 0 and held else 0


@kernel
def oreo(position):
    """OREO: 1 if the passive side has no king and holds its triangle of Oreo (2, 3 and 7); else
    0. Source: Samuel 1959.
    """
    return 1 if position[1] & position[2] == 0 and _oreo_held(position) else 0


@kernel
def holes(position):
    """HOLE, in squares: empty squares with at least three passive neighbours; the edge counts for
    nothing. Source: Samuel 1959.
    """
    return popcount(empty_squares(position) & _three_neighbours(position[1]))


@kernel
def the_move(position):
    """MOVE: 1 if both sides have equally many pieces, together fewer than 24 points, and an odd
    number of pieces, of both colours, stands on the files of the side to move (those that begin
    on its own back row); else 0. Source: Samuel 1959.

    As a difference between the sides it is always 0: with the pieces even, the files of one side
    hold an odd number whenever those of the other do. It is informative only if it is read without
    the difference.
    """
    own, opponent, kings, side = position
    if popcount(own) != popcount(opponent) or points(own | opponent, kings) >= 24:
        return 0
    files = BLACK_FILES if side == BLACK else SQUARES & ~BLACK_FILES
    return popcount((own | opponent) & files) & 1


@kernel
def nodes(position):
    """NODE, in pieces: passive pieces with at least three empty neighbours, so that no piece on
    the edge counts. Source: Samuel 1959.
    """
    return popcount(position[1] & _three_neighbours(empty_squares(position)))


@kernel
def poles(position):
    """POLE, in men: passive men with four empty neighbours; a man on the edge is not surrounded.
    Source: Samuel 1959.
    """
    empty = empty_squares(position)
    men = position[1] & ~position[2]
    return popcount(men & empty << 4 & empty >> 4 & empty << 5 & empty >> 5)


@kernel
def piece_advantage(position):
    """The fixed term, never learned, in points: difference · (1 + (48 - total) / 96).

    The difference is active less passive points, the total those of both sides, 48 at the start
    of a game. The factor grows from 1 towards 3/2 as pieces leave the board, so that an even
    trade is worth something to the side that is ahead (one man for one: 1/24 of its lead) and
    costs the other as much; a gift never pays. The values for the two sides add up to 0: it needs
    no difference between them. The ratio of king to man, and that trades are encouraged, are from
    Samuel 1959; the formula is ours.
    """
    own, opponent, kings, _ = position
    active, passive = points(own, kings), points(opponent, kings)
    return (active - passive) * (1.0 + (48 - active - passive) / 96.0)


#: Samuel's names in alphabetical order, the order of weights. His 26th, RECAP, is the same
#: parameter as EXCH; it is omitted, because two equal columns make a regression singular.
SIMPLE_TERMS: dict[str, Callable[[Position], float]] = {
    "ADV": advancement,
    "APEX": apex,
    "BACK": back_row_bridge,
    "CENT": centre_men,
    "CNTR": centre_control,
    "CORN": double_corner_refuge,
    "CRAMP": cramp,
    "DENY": denial,
    "DIA": double_corner_diagonals,
    "DIAV": diagonal_moment,
    "DYKE": dykes,
    "EXCH": exchanges,
    "EXPOS": exposed,
    "FORK": forks,
    "GAP": gaps,
    "GUARD": back_row_guard,
    "HOLE": holes,
    "KCENT": centre_kings,
    "MOB": mobility,
    "MOBIL": undenied_mobility,
    "MOVE": the_move,
    "NODE": nodes,
    "OREO": oreo,
    "POLE": poles,
    "THRET": threats,
}

#: The sixteen that are active at the start: those in which the two sides of a position from random
#: play differ most often (from DIAV, 7 in 8, down to KCENT, 1 in 5), without MOBIL, which is the
#: difference of two of them. The four-term polynomial of Samuel's rote learning lies within them:
#: the fixed piece advantage, DENY, MOB, and CENT or CNTR with ADV.
INITIAL_ACTIVE: tuple[str, ...] = (
    "ADV",
    "CENT",
    "CNTR",
    "DENY",
    "DIA",
    "DIAV",
    "DYKE",
    "EXCH",
    "EXPOS",
    "GAP",
    "HOLE",
    "KCENT",
    "MOB",
    "NODE",
    "POLE",
    "THRET",
)

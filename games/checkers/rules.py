"""English checkers (American draughts) as kernels over bitboards.

A position is (own, opponent, kings, side): the pieces of the side to move, those of the other
side, the kings of both, and the colour to move (`BLACK` or `WHITE`). Squares are numbered as in
PDN: Black's men start on 1-12 and move towards 32. Square s has bit `s - 1 + (s - 1) // 8`; the
bits 8, 17 and 26 are a gutter that no piece enters, so that the four neighbours of every square
are always 4 and 5 bits away and no move wraps around the edge.

A move is one integer: bits 0-5 the bit number it starts from, 6-11 where it ends, 12-46 the
captured pieces, and from bit 47 two bits for the direction of each of the first eight jumps
(0: +4, 1: +5, 2: -4, 3: -5), which distinguish paths over the same pieces. No move has
more than nine jumps, because a piece jumps only over the nine squares of one sub-lattice, and the
ninth direction follows from the square where the move ends.
"""

from __future__ import annotations

from games.kernels import kernel, lowest, popcount, product, reverse

Position = tuple[int, int, int, int]

BLACK, WHITE = 0, 1
SQUARES = ((1 << 35) - 1) & ~(1 << 8 | 1 << 17 | 1 << 26)
FIRST_ROW = 0xF  # squares 1-4: White's men are crowned here
LAST_ROW = 0xF << 31  # squares 29-32: Black's men are crowned here
START: Position = (((1 << 13) - 1) & SQUARES, SQUARES & ~((1 << 22) - 1), 0, BLACK)
MOST_MOVES = 128  # longer lists are cut off; random play reaches less than half of it

_KEY_MASK = (1 << 63) - 1


def _reflected() -> tuple[int, ...]:
    """Returns, for each bit, the board with its square reflected in the diagonal from 29 to 4."""
    boards = [0] * 35
    for square in range(32):
        row, place = divmod(square, 4)
        column = 2 * place + (row + 1) % 2
        image = 4 * (7 - column) + (7 - row) // 2
        boards[square + square // 8] = 1 << image + image // 8
    return tuple(boards)


REFLECTED = _reflected()
_NAN = float("nan")


@kernel
def jumpers(position):
    """Returns the pieces of the side to move that can capture."""
    own, opponent, kings, side = position
    empty = SQUARES & ~(own | opponent)
    upward = own if side == BLACK else own & kings
    downward = own if side == WHITE else own & kings
    return (upward & (((opponent >> 4) & (empty >> 8)) | ((opponent >> 5) & (empty >> 10)))) | (
        downward & (((opponent << 4) & (empty << 8)) | ((opponent << 5) & (empty << 10)))
    )


@kernel
def movers(position):
    """Returns the pieces of the side to move that can step to an adjacent empty square."""
    own, opponent, kings, side = position
    empty = SQUARES & ~(own | opponent)
    upward = own if side == BLACK else own & kings
    downward = own if side == WHITE else own & kings
    return (upward & ((empty >> 4) | (empty >> 5))) | (downward & ((empty << 4) | (empty << 5)))


@kernel(
    signature="int64(int64, int64, boolean, boolean, int64, int64, int64, int64, int64,"
    " int64[::1], int64)"
)
def _write_jumps(
    opponent, empty, upward, downward, origin, square, captured, path, jumps, moves, count
):
    """Append every complete jump of the piece that stands on `square`; returns the new count.

    `empty` includes the square that the piece left; captured pieces stay until the move ends, so
    that they block, and no piece is captured twice.
    """
    here = 1 << square
    left = opponent & ~captured
    ended = True
    place = 47 + 2 * jumps if jumps < 8 else 62
    keep = 1 if jumps < 8 else 0
    if upward:
        if (here << 4) & left and (here << 8) & empty:
            ended = False
            count = _write_jumps(
                opponent, empty, upward, downward, origin, square + 8, captured | here << 4,
                path, jumps + 1, moves, count,
            )  # fmt: skip
        if (here << 5) & left and (here << 10) & empty:
            ended = False
            count = _write_jumps(
                opponent, empty, upward, downward, origin, square + 10, captured | here << 5,
                path | keep << place, jumps + 1, moves, count,
            )  # fmt: skip
    if downward:
        if (here >> 4) & left and (here >> 8) & empty:
            ended = False
            count = _write_jumps(
                opponent, empty, upward, downward, origin, square - 8, captured | here >> 4,
                path | (2 * keep) << place, jumps + 1, moves, count,
            )  # fmt: skip
        if (here >> 5) & left and (here >> 10) & empty:
            ended = False
            count = _write_jumps(
                opponent, empty, upward, downward, origin, square - 10, captured | here >> 5,
                path | (3 * keep) << place, jumps + 1, moves, count,
            )  # fmt: skip
    if ended and count < moves.size:
        moves[count] = origin | square << 6 | captured << 12 | path
        count += 1
    return count


@kernel
def legal_moves(position, moves):
    """Write the legal moves; returns their number. Captures are mandatory, but of any length."""
    own, opponent, kings, side = position
    empty = SQUARES & ~(own | opponent)
    count = 0
    rest = jumpers(position)
    while rest:
        square = lowest(rest)
        here = 1 << square
        rest &= rest - 1
        king = kings & here != 0
        count = _write_jumps(
            opponent, empty | here, king or side == BLACK, king or side == WHITE,
            square, square, 0, 0, 0, moves, count,
        )  # fmt: skip
    if count:
        return count
    upward = own if side == BLACK else own & kings
    downward = own if side == WHITE else own & kings
    rest = upward & (empty >> 4)
    while rest:
        square = lowest(rest)
        rest &= rest - 1
        moves[count] = square | (square + 4) << 6
        count += 1
    rest = upward & (empty >> 5)
    while rest:
        square = lowest(rest)
        rest &= rest - 1
        moves[count] = square | (square + 5) << 6
        count += 1
    rest = downward & (empty << 4)
    while rest:
        square = lowest(rest)
        rest &= rest - 1
        moves[count] = square | (square - 4) << 6
        count += 1
    rest = downward & (empty << 5)
    while rest:
        square = lowest(rest)
        rest &= rest - 1
        moves[count] = square | (square - 5) << 6
        count += 1
    return count


@kernel
def play(position, move):
    """Returns the position after a legal move, seen from the other side."""
    own, opponent, kings, side = position
    source = 1 << (move & 63)
    target = 1 << ((move >> 6) & 63)
    captured = (move >> 12) & SQUARES
    crowning = FIRST_ROW if side == WHITE else LAST_ROW
    crowned = kings & source != 0 or target & crowning != 0
    kings &= ~(captured | source)
    if crowned:
        kings |= target
    return (opponent & ~captured, (own & ~source) | target, kings, 1 - side)


@kernel
def outcome(position):
    """Returns -1.0 if the side to move cannot move, or NaN during the game."""
    if movers(position) or jumpers(position):
        return _NAN
    return -1.0


@kernel
def noisy(position):
    """Whether a capture is pending; such positions are never evaluated."""
    return jumpers(position) != 0


@kernel
def irreversible(position, move):
    """Whether no earlier position can come back after this move: a capture or a man's move."""
    return move >> 12 != 0 or position[2] & (1 << (move & 63)) == 0


@kernel
def gain(position, move):
    """Returns the number of pieces captured, for move ordering."""
    return popcount((move >> 12) & SQUARES)


@kernel
def key(position):
    """Returns a 63-bit hash of a position."""
    own, opponent, kings, side = position
    mixed = (
        product(own, 0x1E3779B97F4A7C15)
        ^ product(opponent, 0x32B2AE3D27D4EB4F)
        ^ product(kings, 0x165667B19E3779F9)
        ^ product(side, 0x27D4EB2F165667C5)
    ) & _KEY_MASK
    mixed ^= mixed >> 29
    mixed = product(mixed, 0x3C79AC492BA7B653) & _KEY_MASK
    return mixed ^ mixed >> 32


@kernel
def turn(board):
    """Returns a board turned by 180 degrees: square s becomes 33 - s."""
    return reverse(board) >> 29 & SQUARES


@kernel
def reflect(board):
    """Returns a board reflected in the diagonal from square 29 to square 4.

    Kings move alike on both; men do not.
    """
    result = 0
    rest = board
    while rest:
        square = lowest(rest)
        rest &= rest - 1
        result |= REFLECTED[square]
    return result


@kernel
def standard(position):
    """Returns the one of several equivalent positions by which all of them are stored.

    It has Black to move. If there are only kings, it is the one of two reflections with the smaller
    integers.
    """
    own, opponent, kings, side = position
    if side == WHITE:
        own, opponent, kings = turn(own), turn(opponent), turn(kings)
    if own | opponent != kings:
        return (own, opponent, kings, 0)
    mirror_own, mirror_opponent = reflect(own), reflect(opponent)
    if (mirror_own, mirror_opponent) < (own, opponent):
        return (mirror_own, mirror_opponent, mirror_own | mirror_opponent, 0)
    return (own, opponent, kings, 0)


@kernel
def swap_sides(position):
    """Returns the same board with the other side to move."""
    own, opponent, kings, side = position
    return (opponent, own, kings, 1 - side)

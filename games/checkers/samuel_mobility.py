"""The terms of Samuel's polynomial about moves: mobility, its cost and its threats.

The words active, passive, step and the reading of a term are explained in
`games.checkers.samuel_terms`, which lists these terms among the others.
"""

from __future__ import annotations

from games.checkers.rules import BLACK, FIRST_ROW, LAST_ROW, SQUARES, WHITE
from games.kernels import kernel, popcount

__all__ = [
    "denial",
    "empty_squares",
    "exchanges",
    "mobility",
    "reachable",
    "threats",
    "undenied_mobility",
]


@kernel
def empty_squares(position):
    """Returns the board of the squares where no piece stands."""
    return SQUARES & ~(position[0] | position[1])


@kernel
def reachable(position):
    """Returns the board of the squares that an active piece can step to."""
    own, opponent, kings, side = position
    upward = own if side == BLACK else own & kings
    downward = own if side == WHITE else own & kings
    return empty_squares(position) & (upward << 4 | upward << 5 | downward >> 4 | downward >> 5)


@kernel
def _can_jump(upward, downward, victims, empty):
    """Whether any piece can jump a victim; pieces are given by the directions they may take."""
    return (
        upward & (victims >> 4 & empty >> 8 | victims >> 5 & empty >> 10)
        | downward & (victims << 4 & empty << 8 | victims << 5 & empty << 10)
    ) != 0


@kernel
def _shift(board, distance):
    return board << distance if distance > 0 else board >> -distance


@kernel
def _offer(position, origin, target):
    """Returns what a step from one bit to another offers the passive side: 0, 1 or 2.

    0: the piece that stepped cannot be captured. 1: it can, but each such capture ends with this
    piece and leaves the active side a capture, of any piece: an exchange. 2: some capture of it
    goes on to a second piece, or cannot be answered.
    """
    own, opponent, kings, side = position
    own &= ~origin
    empty = SQUARES & ~(own | opponent | target)
    offer = 0
    for distance in (4, 5, -4, -5):
        capturer = _shift(target, -distance) & opponent
        landing = _shift(target, distance) & empty
        king = capturer & kings != 0
        if capturer and landing and (king or (distance > 0) == (side == WHITE)):
            # The captured piece stays until the jump ends; the square of the capturer is free.
            if _can_jump(
                landing if king or side == WHITE else 0,
                landing if king or side == BLACK else 0,
                own,
                empty | capturer,
            ):
                return 2
            if not _can_jump(
                own if side == BLACK else own & kings,
                own if side == WHITE else own & kings,
                opponent & ~capturer | landing,
                (empty | capturer | target) & ~landing,
            ):
                return 2
            offer = 1
    return offer


@kernel
def _offered(position):
    """Returns two boards: the squares that DENY counts, and those that EXCH counts."""
    own, opponent, kings, side = position
    upward = own if side == BLACK else own & kings
    downward = own if side == WHITE else own & kings
    # A capture needs a square to land on that is empty, or that the step leaves.
    up = opponent if side == WHITE else opponent & kings
    down = opponent if side == BLACK else opponent & kings
    open_ = SQUARES & ~opponent
    rest = reachable(position) & (
        up << 4 & open_ >> 4
        | up << 5 & open_ >> 5
        | down >> 4 & open_ << 4
        | down >> 5 & open_ << 5
    )
    denied = exchanged = 0
    while rest:
        target = rest & -rest
        rest ^= target
        safe = exchange = False
        for distance in (4, 5, -4, -5):
            origin = _shift(target, -distance) & (upward if distance > 0 else downward)
            if origin:
                offer = _offer(position, origin, target)
                safe |= offer != 2
                exchange |= offer == 1
        if not safe:
            denied |= target
        if exchange:
            exchanged |= target
    return denied, exchanged


@kernel
def mobility(position):
    """MOB, in squares: those that an active piece can step to, each counted once however many
    pieces can; jumps neither count nor prevent. Source: Samuel 1959.
    """
    return popcount(reachable(position))


@kernel
def denial(position):
    """DENY, in squares: those of MOB where whichever piece steps there can be captured without an
    exchange.

    A capture is without an exchange if the capturer goes on to a second piece, or if the active
    side could capture nothing, wherever on the board, in reply. One such capture is enough; other
    captures that the passive side might prefer do not matter. Source: Samuel 1959.
    """
    return popcount(_offered(position)[0])


@kernel
def undenied_mobility(position):
    """MOBIL, in squares: MOB - DENY. Source: Samuel 1959."""
    return popcount(reachable(position) & ~_offered(position)[0])


@kernel
def exchanges(position):
    """EXCH, in squares: those to which an active piece, man or king, can step so that it can be
    captured, but only by captures that end with it and leave the active side a capture.

    See DENY for what counts as a capture in reply. Other captures that the passive side might
    prefer do not matter. Source: Samuel 1959.
    """
    return popcount(_offered(position)[1])


@kernel
def threats(position):
    """THRET, in moves: steps after which the active side could make a jump that it could not make
    before, with the piece that stepped (a man that reached the last row as the king it becomes)
    or with another that lands on the square left. Source: Samuel 1959.
    """
    own, opponent, kings, side = position
    empty = empty_squares(position)
    upward = own if side == BLACK else own & kings
    downward = own if side == WHITE else own & kings
    # The squares from which a piece that arrived could jump, by what it is.
    up = opponent >> 4 & empty >> 8 | opponent >> 5 & empty >> 10
    down = opponent << 4 & empty << 8 | opponent << 5 & empty << 10
    king = empty & (up | down)
    man = empty & up | king & LAST_ROW if side == BLACK else empty & down | king & FIRST_ROW
    opening = (upward << 4 & opponent) << 4 | (upward << 5 & opponent) << 5
    opening |= (downward >> 4 & opponent) >> 4 | (downward >> 5 & opponent) >> 5
    return (
        popcount(upward & empty >> 4 & (opening | kings & king >> 4 | ~kings & man >> 4))
        + popcount(upward & empty >> 5 & (opening | kings & king >> 5 | ~kings & man >> 5))
        + popcount(downward & empty << 4 & (opening | kings & king << 4 | ~kings & man << 4))
        + popcount(downward & empty << 5 & (opening | kings & king << 5 | ~kings & man << 5))
    )

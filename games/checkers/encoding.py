"""The inputs of networks in checkers: which kind of piece stands on which square."""

from __future__ import annotations

from games.checkers.rules import WHITE
from games.features import Encoding
from games.kernels import kernel, lowest, popcount


@kernel
def _squares(position, places, first):
    """Write first + 32 * kind + square for every piece and return how many there are."""
    own, opponent, kings, side = position
    turn = 31 if side == WHITE else 0
    rest = own | opponent
    count = 0
    while rest:
        bit = lowest(rest)
        rest &= rest - 1
        # bit * 57 >> 9 is bit // 9, the gutters below a bit; and 31 ^ square is 31 - square
        square = (bit - (bit * 57 >> 9)) ^ turn
        kind = 32 * ((kings >> bit) & 1) + 64 * ((opponent >> bit) & 1)
        places[count] = first + square + kind
        count += 1
    return count


@kernel
def piece_squares(position, places):
    """Write 32 * kind + square for every piece and return how many there are.

    Kinds are own men, own kings, the opponent's men and kings: 0 to 3. Squares are those of PDN
    less 1; for White the board is turned, so that own men always move towards square 31.
    """
    return _squares(position, places, 0)


@kernel
def phase_squares(position, places):
    """Write the places of `piece_squares`, 128 higher for each phase; as it returns.

    The phases begin with 7, 9, 11, 13 and 17 pieces. A first layer over these inputs has weights of
    its own for each, at no cost.
    """
    count = popcount(position[0] | position[1])
    phase = int(count >= 7) + int(count >= 9) + int(count >= 11) + int(count >= 13)
    return _squares(position, places, 128 * (phase + int(count >= 17)))


#: 128 inputs: 4 kinds of pieces on 32 squares, seen by the side to move.
PIECE_SQUARES = Encoding("piece_squares", 128, 32, piece_squares)

#: The same inputs six times, for 6 pieces and fewer, 7, 9, 11, 13 and 17 and more.
PHASE_SQUARES = Encoding("phase_squares", 768, 32, phase_squares)

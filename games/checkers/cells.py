"""The cells of checkers: the bits that hold men and kings, and what they can do by the rules."""

from __future__ import annotations

from games.checkers.notation import square_bit
from games.checkers.pieces import PLACES
from games.checkers.rules import WHITE, jumpers, movers, swap_sides
from games.features.cells import Cells, Kind
from games.kernels import kernel, reverse, shift_right

__all__ = ["CELLS"]


@kernel
def _seen(squares, side):
    """The squares as a side sees them: for White, the board is turned."""
    return shift_right(reverse(squares), 29) if side == WHITE else squares


@kernel
def _own_men(position):
    return _seen(position[0] & ~position[2], position[3])


@kernel
def _their_men(position):
    return _seen(position[1] & ~position[2], position[3])


@kernel
def _own_kings(position):
    return _seen(position[0] & position[2], position[3])


@kernel
def _their_kings(position):
    return _seen(position[1] & position[2], position[3])


@kernel
def _movers(position):
    return _seen(movers(position), position[3])


@kernel
def _their_movers(position):
    return _seen(movers(swap_sides(position)), position[3])


@kernel
def _jumpers(position):
    return _seen(jumpers(position), position[3])


@kernel
def _their_jumpers(position):
    return _seen(jumpers(swap_sides(position)), position[3])


#: A mover can step to an empty square, a jumper can capture.
CELLS = Cells(
    8,
    8,
    {PLACES[square]: square_bit(square) for square in range(1, 33)},
    {
        "man": Kind(_own_men, _their_men, ""),
        "king": Kind(_own_kings, _their_kings, "K"),
        "mover": Kind(_movers, _their_movers),
        "jumper": Kind(_jumpers, _their_jumpers),
    },
    swap_sides,
    turned=True,
    areas={
        "corner of squares 1 5 6": tuple(PLACES[square] for square in (1, 5, 6)),
        "far corner of squares 27 28 32": tuple(PLACES[square] for square in (27, 28, 32)),
    },
)

"""The cells of checkers: the bits that hold men and kings, and what they can do by the rules."""

from __future__ import annotations

from games.checkers.notation import square_bit
from games.checkers.pieces import PLACES
from games.checkers.rules import WHITE, jumpers, movers, swap_sides
from games.features import Cells, Kind
from games.kernels import kernel

__all__ = ["CELLS"]


@kernel
def _own_men(position):
    return position[0] & ~position[2]


@kernel
def _their_men(position):
    return position[1] & ~position[2]


@kernel
def _own_kings(position):
    return position[0] & position[2]


@kernel
def _their_kings(position):
    return position[1] & position[2]


@kernel
def _their_movers(position):
    return movers(swap_sides(position))


@kernel
def _their_jumpers(position):
    return jumpers(swap_sides(position))


@kernel
def _side(position):
    return 1 if position[3] == WHITE else 0


#: A mover can step to an empty square, a jumper can capture.
CELLS = Cells(
    8,
    8,
    {PLACES[square]: square_bit(square) for square in range(1, 33)},
    {
        "man": Kind(_own_men, _their_men, ""),
        "king": Kind(_own_kings, _their_kings, "K"),
        "mover": Kind(movers, _their_movers),
        "jumper": Kind(jumpers, _their_jumpers),
    },
    swap_sides,
    turned=True,
    side=_side,
    areas={
        "double corner": tuple(PLACES[square] for square in (1, 5, 6)),
        "far double corner": tuple(PLACES[square] for square in (27, 28, 32)),
    },
)

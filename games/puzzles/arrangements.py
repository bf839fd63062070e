"""Numbers for the ways to place a few distinct pieces on squares, one piece a square.

The places of the pieces are packed into one integer, five bits each, the first piece lowest. The
number is in a mixed base: each piece counts among the squares that those before it leave free.
"""

from __future__ import annotations

from games.kernels import kernel, popcount

__all__ = ["MOST_PIECES", "arrangements", "number_of", "places_of"]

#: As many places fit into one integer.
MOST_PIECES = 12


def arrangements(pieces: int, squares: int) -> int:
    """Returns the number of ways to place `pieces` pieces on `squares` squares."""
    count = 1
    for piece in range(pieces):
        count *= squares - piece
    return count


@kernel
def number_of(places, pieces, squares):
    """Returns the number of an arrangement, from 0 on."""
    number, taken = 0, 0
    for piece in range(pieces):
        square = places >> 5 * piece & 31
        here = 1 << square
        number = number * (squares - piece) + square - popcount(taken & (here - 1))
        taken |= here
    return number


@kernel
def places_of(number, pieces, squares):
    """Returns the places of the arrangement with this number."""
    ranks = 0
    for piece in range(pieces - 1, -1, -1):
        free = squares - piece
        ranks |= number % free << 5 * piece
        number //= free
    places, taken = 0, 0
    for piece in range(pieces):
        rank = ranks >> 5 * piece & 31
        square = 0
        while True:
            if taken >> square & 1 == 0:
                if rank == 0:
                    break
                rank -= 1
            square += 1
        places |= square << 5 * piece
        taken |= 1 << square
    return places

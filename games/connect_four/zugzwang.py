"""Results of Connect Four that follow, without a search, from who runs out of good moves.

Whoever always plays on top of the other side's last stone gets the upper square of each pair. Which
squares the other side can get at most is known then, and if they hold no line of four, it does not
win.

Source: V. Allis, "A Knowledge-based Approach of Connect-Four" (1988), for following up (claimeven),
answering one lowest square with another (baseinverse), and odd threats. That they are applied to
all squares at once, and cut at squares that win, is our own.
"""

from __future__ import annotations

from games.connect_four.rules import ALL, BOTTOM, has_four
from games.kernels import kernel, popcount

__all__ = ["EVEN_ROWS", "ODD_ROWS", "UNKNOWN", "proven"]

#: Squares of the first, third and fifth row, and of the others.
ODD_ROWS, EVEN_ROWS = BOTTOM * 0b010101, BOTTOM * 0b101010
#: The result of `proven` if nothing is proved.
UNKNOWN = 64
ABOVE = BOTTOM << 6


@kernel(signature="int64(int64)")
def _up_to(squares):
    """Returns each column up to the lowest of these squares, or the whole column."""
    marked = squares | ABOVE
    return marked ^ marked - BOTTOM


@kernel(signature="int64(int64, int64, int64, int64, int64)")
def proven(own, opponent, own_fours, their_fours, beta):
    """Returns a bound of the score that tells whether it is at least `beta`, or `UNKNOWN`.

    own_fours, their_fours: the empty squares that complete a four of the side to move, none of
        which it can reach, and of the other side.

    The side that began gets odd rows when the second one follows up, and has to move when all
    columns are of even height. Lowest empty squares in even rows are bases: of two the second side
    takes one when the first takes the other, and of an odd number it first takes one itself.
    """
    stones = own | opponent
    empty = ALL & ~stones
    if not has_four((own if beta > 0 else opponent) | empty):
        return 0
    second_moves = popcount(stones) & 1 == 1
    first, second = (opponent, own) if second_moves else (own, opponent)
    close = beta == 0 or beta == 1  # it is enough to know who wins
    odds, evens, bases = empty & ODD_ROWS, empty & EVEN_ROWS, stones + BOTTOM & EVEN_ROWS

    # the second side follows up: the first gets no square above one that wins for the second
    shared = bases & bases - 1 if second_moves else bases
    winning = (own_fours if second_moves else their_fours) & evens & ~shared
    if not has_four(first | (odds | shared) & _up_to(winning)):
        if close and has_four(second | evens & ~shared):
            return 1 if second_moves else -1
        if (beta > 0) != second_moves:
            return 0
    if not second_moves or not close:
        return UNKNOWN

    # the first side follows up, where the second, to move, gets no odd square above one that wins
    odds &= _up_to(their_fours & evens & ~bases)
    winning = their_fours & ODD_ROWS
    if winning:  # of a column with a base only what is below: there the second has to move at last
        for column in range(7):
            squares = 63 << 7 * column
            if winning & squares and bases & squares:
                below = _up_to(winning) & evens & squares
                if not has_four(second | (odds | bases) & ~squares | below):
                    return -1
    # and if it wins nothing there: the second gets, when that column is full, even rows of others
    later = bases << 1 | bases << 3 | bases << 5
    if beta == 1 and not has_four(second | evens | odds & ~later):
        for column in range(7):
            squares = 63 << 7 * column
            if bases & squares and not has_four(second | evens | odds & ~squares):
                return 0
    return UNKNOWN

"""Retrograde analysis as kernels: from decided positions back to those that lead to them.

Every position has one signed byte: 0 for a draw, k for a win in 2k - 1 plies, -(k + 1) for a loss
    in 2k; -1 if the side to move has no move. The value of a position is that of its
best move: the nearest win, or else a draw, or else the farthest loss. A capture or a crowning leads
to another slice, which is solved first; other moves lead to the slice of the other side, which is
solved together with this one.

`prepare` looks once at every position. If a capture is mandatory or no move exists, it sets the
value. Otherwise it notes in `left` the number of moves that are not known to lose, and as a
provisional value the best that crowning gives. `spread` then goes back from all positions of one
value to those one quiet move before them, nearest values first, so that each is looked at only once
more (Thompson 1986; for checkers Lake, Schaeffer and Lu 1994). Positions that are never reached are
draws; `settle` marks them.

The tables are `starts` [own men, own kings, his men, his kings], the places where slices begin (-1
if not held), and `values`, the bytes of all slices.
"""

from __future__ import annotations

from games.checkers.endgame.numbering import black_to_move, material_of, number_of, position_of
from games.checkers.rules import LAST_ROW, SQUARES, legal_moves, play, turn
from games.kernels import kernel, popcount
from games.values import WIN

__all__ = [
    "EXACT_DEPTH",
    "FARTHEST",
    "LOST",
    "derived",
    "place_of",
    "prepare",
    "probe",
    "settle",
    "spread",
]

#: The value of a position in which the side to move has no move.
LOST = -1
#: The largest value that a byte holds; one farther away cannot be stored.
FARTHEST = 127
#: The depth of a value in plies: more than any search asks for.
EXACT_DEPTH = 127
#: In `left`: the value follows from captures, or the position has no move.
_CLOSED = -1


@kernel
def place_of(starts, position):
    """Returns the index of the value of a position; -1 if the tables do not hold it."""
    own, opponent, kings, _ = position
    if popcount(own | opponent) >= len(starts):
        return -1
    start = starts[material_of(position)]
    if start < 0:
        return -1
    own, opponent, kings, _ = black_to_move(position)
    return start + number_of(own, opponent, kings)


@kernel
def plies_of(value):
    """Returns the plies to the end of the game for a value other than a draw."""
    if value > 0:
        return 2 * value - 1
    return -2 * value - 2


@kernel
def probe(tables, position):
    """Returns (found, value, depth) of a position, as `search.lookups.lookup` does.

    `tables` are (starts, values). A win in n plies is WIN - n, a loss in n plies n - WIN, a draw 0;
    all are exact, for play without a rule that ends games early.
    """
    starts, values = tables
    place = place_of(starts, position)
    if place < 0:
        return (False, 0.0, 0)
    value = int(values[place])
    if value > 0:
        return (True, WIN - plies_of(value), EXACT_DEPTH)
    if value < 0:
        return (True, plies_of(value) - WIN, EXACT_DEPTH)
    return (True, 0.0, EXACT_DEPTH)


@kernel
def _backed_up(value):
    """Returns the value of a move that leads to a position of that value."""
    return -value if value <= 0 else -value - 1


@kernel
def _better(first, second):
    """Whether the first of two values is better: a nearer win or a farther loss."""
    if first > 0:
        return second <= 0 or first < second
    if first == 0:
        return second < 0
    return second < 0 and first < second


@kernel
def _value_after(starts, values, position, move):
    """Returns the value of a move from the tables, which hold the position that it leads to."""
    after = play(position, move)
    if after[0] == 0:
        return _backed_up(LOST)
    return _backed_up(int(values[place_of(starts, after)]))


@kernel
def derived(starts, values, position, moves):
    """Returns the value of a position from those that its moves lead to.

    `moves` is a list for `legal_moves` to fill. A value too large for a byte is returned as it is.
    """
    count = legal_moves(position, moves)
    if count == 0:
        return LOST
    best = _value_after(starts, values, position, moves[0])
    for i in range(1, count):
        value = _value_after(starts, values, position, moves[i])
        if _better(value, best):
            best = value
    return best


@kernel
def prepare(starts, values, material, begin, end, left, moves):
    """Fill `values` and `left` for the numbers `begin` to `end` of a slice.

    Returns the largest magnitude of a value, up to which `spread` must go. The tables must hold all
    slices that captures and crownings lead to.
    """
    own_men, own_kings, his_men, his_kings = material
    start = starts[own_men, own_kings, his_men, his_kings]
    largest = 0
    for number in range(begin, end):
        position = position_of(number, own_men, own_kings, his_men, his_kings)
        kings = position[2]
        count = legal_moves(position, moves)
        if count == 0 or moves[0] >> 12 & SQUARES:
            value = derived(starts, values, position, moves)
            left[number] = _CLOSED
        else:
            quiet = 0
            value = -FARTHEST - 1
            crowning = 0
            for i in range(count):
                move = moves[i]
                if kings >> (move & 63) & 1 or not LAST_ROW >> (move >> 6 & 63) & 1:
                    quiet += 1
                    continue
                other = _value_after(starts, values, position, move)
                if crowning == 0 or _better(other, value):
                    value = other
                crowning += 1
            if crowning == 0:
                value = 0
            # a crowning that does not lose is never counted down later
            elif value >= 0:
                quiet += 1
            left[number] = quiet
        values[start + number] = value
        largest = max(largest, abs(value))
    return largest


@kernel
def spread(starts, values, material, left, left_before, value):
    """Go back from the positions of a slice that are decided with `value` to those before them.

    `left` belongs to the slice, `left_before` to that of the other side, from which a quiet move
    leads here. Returns the number of positions reached for the first time or by a nearer win. All
    nearer values must have been spread before, losses before wins of the same magnitude.
    """
    own_men, own_kings, his_men, his_kings = material
    start = starts[own_men, own_kings, his_men, his_kings]
    start_before = starts[his_men, his_kings, own_men, own_kings]
    reached = 0
    for number in range(len(left)):
        if values[start + number] != value or (value < 0 and left[number] > 0):
            continue
        own, opponent, kings, _ = position_of(number, own_men, own_kings, his_men, his_kings)
        empty = SQUARES & ~(own | opponent)
        own_turned = turn(own)
        rest = opponent
        while rest:
            here = rest & -rest
            rest ^= here
            crowned = kings & here
            sources = here << 4 | here << 5
            if crowned:
                sources |= here >> 4 | here >> 5
            sources &= empty
            while sources:
                source = sources & -sources
                sources ^= source
                before = number_of(
                    turn(opponent ^ here ^ source),
                    own_turned,
                    turn(kings ^ (here | source) if crowned else kings),
                )
                if left_before[before] < 0:
                    continue
                known = int(values[start_before + before])
                if value < 0:
                    if known <= 0 or known > -value:
                        values[start_before + before] = -value
                        reached += 1
                else:
                    left_before[before] -= 1
                    if left_before[before] == 0:
                        values[start_before + before] = min(known, -value - 1)
                        reached += 1
    return reached


@kernel
def settle(starts, values, material, left):
    """Set every position whose loss was never confirmed to a draw."""
    start = starts[material[0], material[1], material[2], material[3]]
    for number in range(len(left)):
        if left[number] > 0 and values[start + number] < 0:
            values[start + number] = 0
    return 0

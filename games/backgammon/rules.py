"""Backgammon as kernels over packed boards.

A position is (near, far, their_near, their_far, side): the checkers of the side to move, those of
the other side, and the colour to move. Each side numbers the points its own way: 0 holds the
checkers borne off, 1 is its ace point, 24 its farthest point and 25 the bar; the other side's
point p is 25 - p here. The number of checkers on a point has four bits: points 0 to 12 are in
`near`, points 13 to 25 in `far`, the lowest first.

A roll is one of 21, in the order 11, 21, 22, 31, ... 66; `FIRST_DIE` and `SECOND_DIE` hold the
larger and the smaller die. A move is one integer of up to four bytes, one for each checker moved
in turn, from the lowest byte on: bits 0-4 the point that it leaves, bits 5-7 the die. 0 moves
nothing. Of moves that lead to the same position only one is listed.
"""

from __future__ import annotations

from games.kernels import kernel, lowest, product, reverse

Position = tuple[int, int, int, int, int]

OFF, BAR = 0, 25
CHECKERS = 15
ROLLS = tuple((high, low) for high in range(1, 7) for low in range(1, high + 1))
FIRST_DIE = tuple(high for high, _ in ROLLS)
SECOND_DIE = tuple(low for _, low in ROLLS)
PROBABILITIES = tuple((1 if high == low else 2) / 36 for high, low in ROLLS)
#: Each side rolls one die, and both roll again while these are equal.
FIRST_PROBABILITIES = tuple(0.0 if high == low else 2 / 30 for high, low in ROLLS)
MOST_MOVES = 4096

_HALF = 13  # points in `near`
_ONES = sum(1 << 4 * point for point in range(_HALF))
_HOME = sum(15 << 4 * point for point in range(7))  # borne off and points 1 to 6
_NOTES = MOST_MOVES // 4
_KEY_MASK = (1 << 63) - 1
_NAN = float("nan")


def packed(counts: tuple[int, ...]) -> tuple[int, int]:
    """Returns the two integers that hold the numbers of checkers on points 0 to 25."""
    near = sum(count << 4 * point for point, count in enumerate(counts[:_HALF]))
    return near, sum(count << 4 * point for point, count in enumerate(counts[_HALF:]))


_START = [0] * 26
_START[6] = _START[13] = 5
_START[8], _START[24] = 3, 2
START: Position = (*packed(tuple(_START)), *packed(tuple(_START)), 0)


@kernel
def checkers(near, far, point):
    """Returns the number of checkers that a side has on a point, 0 to 25."""
    if point < _HALF:
        return near >> 4 * point & 15
    return far >> 4 * (point - _HALF) & 15


@kernel
def _occupied(half):
    """Returns the lowest of the four bits of each point of a half board that has checkers."""
    return (half | half >> 1 | half >> 2 | half >> 3) & _ONES


@kernel
def _gathered(bits):
    """Returns every fourth one of 52 bits, packed into 13."""
    bits = (bits | bits >> 3) & 0x3030303030303
    bits = (bits | bits >> 6) & 0xF000F000F000F
    bits = (bits | bits >> 12) & 0xFF000000FF
    return (bits | bits >> 24) & 0x1FFF


@kernel
def points_held(near, far):
    """Returns bit p for each point p, 0 to 25, with at least one checker of a side."""
    return _gathered(_occupied(near)) | _gathered(_occupied(far)) << _HALF


@kernel
def points_made(near, far):
    """Returns bit p for each point p, 0 to 25, with at least two checkers of a side."""
    return (
        _gathered((near >> 1 | near >> 2 | near >> 3) & _ONES)
        | _gathered((far >> 1 | far >> 2 | far >> 3) & _ONES) << _HALF
    )


@kernel
def mirrored(points):
    """Returns points 1 to 25 as the other side numbers them: bit p becomes bit 25 - p."""
    return reverse(points & ~1) >> 38


@kernel
def _highest(bits):
    """Returns the number of the highest bit that is set, bit 0 aside."""
    return 63 - lowest(reverse(bits & ~1))


@kernel
def _sources(held, blocked, die):
    """Returns the points, as bits, that a checker can leave with a die."""
    if held >> BAR & 1:
        return 0 if blocked >> (BAR - die) & 1 else 1 << BAR
    sources = (held >> die & ~blocked & ~1) << die
    if held >> 7 == 0:
        if held >> die & 1:
            sources |= 1 << die
        elif held >> die == 0 and held > 1:
            sources = 1 << _highest(held)
    return sources


@kernel
def _without(near, far, point):
    """Returns a side's checkers with one fewer on a point."""
    if point < _HALF:
        return near - (1 << 4 * point), far
    return near, far - (1 << 4 * (point - _HALF))


@kernel
def _with(near, far, point):
    """Returns a side's checkers with one more on a point."""
    if point < _HALF:
        return near + (1 << 4 * point), far
    return near, far + (1 << 4 * (point - _HALF))


@kernel
def _advanced(near, far, source, die):
    """Returns a side's checkers after one has moved."""
    near, far = _without(near, far, source)
    return _with(near, far, max(source - die, OFF))


@kernel(
    signature="int64(int64, int64, int64, int64, int64, int64, int64, int64, int64[::1], int64)"
)
def _write_doubles(near, far, blocked, die, top, left, place, code, moves, count):
    """Append the moves of exactly `left` more checkers, none from above `top`.

    Each set of checkers that can move has exactly one order in which no checker leaves from a
    higher point than the one before.
    """
    if left == 0:
        if count < moves.size:
            moves[count] = code
            count += 1
        return count
    sources = _sources(points_held(near, far), blocked, die) & ((2 << top) - 1)
    while sources:
        source = _highest(sources)
        sources ^= 1 << source
        after_near, after_far = _advanced(near, far, source, die)
        count = _write_doubles(
            after_near, after_far, blocked, die, source, left - 1, place + 8,
            code | (source | die << 5) << place, moves, count,
        )  # fmt: skip
    return count


@kernel
def _write_pairs(near, far, blocked, blots, first, second, moves, count):
    """Append the moves that play the first die and then the second.

    The positions reached are noted in the list behind the moves, so that each is listed once.
    """
    held = points_held(near, far)
    sources = _sources(held, blocked, first)
    while sources:
        source = lowest(sources)
        sources &= sources - 1
        target = max(source - first, OFF)
        once_near, once_far = _advanced(near, far, source, first)
        hits = blots & 1 << target
        others = _sources(points_held(once_near, once_far), blocked, second)
        while others:
            other = lowest(others)
            others &= others - 1
            twice_near, twice_far = _advanced(once_near, once_far, other, second)
            twice_hits = hits | blots & 1 << max(other - second, OFF)
            new = True
            for i in range(count):
                if (
                    moves[_NOTES + i] == twice_near
                    and moves[2 * _NOTES + i] == twice_far
                    and moves[3 * _NOTES + i] == twice_hits
                ):
                    new = False
                    break
            if new:
                moves[count] = (source | first << 5) | (other | second << 5) << 8
                moves[_NOTES + count] = twice_near
                moves[2 * _NOTES + count] = twice_far
                moves[3 * _NOTES + count] = twice_hits
                count += 1
    return count


@kernel
def legal_moves(position, roll, moves):
    """Write the moves with a roll, one for each position that can be reached; returns their number.

    Both dice are played if possible, or else the larger, or else the smaller; of doubles as many
    as possible. Needs a list with room for `MOST_MOVES`.
    """
    near, far, their_near, their_far, _ = position
    if near & 15 == CHECKERS or their_near & 15 == CHECKERS:
        return 0
    made = points_made(their_near, their_far)
    blocked = mirrored(made)
    blots = mirrored(points_held(their_near, their_far) & ~made) & ~1
    high = FIRST_DIE[roll]
    low = SECOND_DIE[roll]
    count = 0
    if high == low:
        for left in range(4, 0, -1):
            count = _write_doubles(near, far, blocked, high, BAR, left, 0, 0, moves, count)
            if count:
                return count
    else:
        count = _write_pairs(near, far, blocked, blots, high, low, moves, count)
        count = _write_pairs(near, far, blocked, blots, low, high, moves, count)
        if count:
            return count
        held = points_held(near, far)
        die = high
        sources = _sources(held, blocked, high)
        if sources == 0:
            die = low
            sources = _sources(held, blocked, low)
        while sources:
            moves[count] = lowest(sources) | die << 5
            count += 1
            sources &= sources - 1
    if count == 0:
        moves[0] = 0
        count = 1
    return count


@kernel
def play(position, move):
    """Returns the position after a move, seen by the other side."""
    near, far, their_near, their_far, side = position
    while move:
        source = move & 31
        die = move >> 5 & 7
        move >>= 8
        target = max(source - die, OFF)
        near, far = _without(near, far, source)
        near, far = _with(near, far, target)
        if target != OFF and checkers(their_near, their_far, BAR - target) == 1:
            their_near, their_far = _without(their_near, their_far, BAR - target)
            their_near, their_far = _with(their_near, their_far, BAR)
    return their_near, their_far, near, far, 1 - side


@kernel
def _points_lost(near, far):
    """Returns the points that a side loses when its opponent is off: 1, 2 (gammon) or 3."""
    if near & 15:
        return 1.0
    # a checker on the bar or in the opponent's home, points 19 to 24
    return 3.0 if far >> 4 * (19 - _HALF) else 2.0


@kernel
def outcome(position):
    """Returns the outcome for the side to move, -3 to 3, or NaN during the game."""
    near, far, their_near, their_far, _ = position
    if near & 15 == CHECKERS:
        return _points_lost(their_near, their_far)
    if their_near & 15 == CHECKERS:
        return -_points_lost(near, far)
    return _NAN


@kernel
def key(position):
    """Returns a hash of the position; the colour does not count."""
    near, far, their_near, their_far, _ = position
    mixed = product(near ^ product(far, 0x1E3779B97F4A7C15), 0x3C79AC492BA7B653)
    mixed ^= (mixed >> 29) & 0x7FFFFFFFF
    mixed = product(mixed ^ their_near, 0x1C69B3F74AC4AE35)
    mixed ^= (mixed >> 31) & 0x1FFFFFFFF
    mixed = product(mixed ^ their_far, 0x1E3779B97F4A7C15)
    mixed ^= (mixed >> 32) & 0xFFFFFFFF
    return mixed & _KEY_MASK


@kernel
def standard(position):
    """Returns the position by which this one is stored: the same for both colours to move."""
    return position[0], position[1], position[2], position[3], 0

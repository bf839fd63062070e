"""Counts of checkers and pips of one side, by arithmetic on all points at once.

A half board is 13 numbers of four bits, as in `rules`; each sum is one multiplication, in which no
byte can overflow, because a side has 15 checkers.
"""

from __future__ import annotations

from games.kernels import kernel, lowest, product, reverse

_HALF = 13
_EVEN = 0x0F0F0F0F0F0F0F
_EACH = 0x0101010101010101
_SEVEN_TO_ZERO = 0x0001020304050607  # byte 7 has k times byte k of the other factor


@kernel
def _sum_of_bytes(pairs):
    return product(pairs, _EACH) >> 56 & 255


@kernel
def checkers_of(half):
    """Returns the number of checkers of a half board."""
    return _sum_of_bytes((half & _EVEN) + (half >> 4 & _EVEN))


@kernel
def _weighted(half):
    """Returns the sum of number times place, 0 to 12, over a half board."""
    odd = half >> 4 & _EVEN
    pairs = (half & _EVEN) + odd
    return 2 * (product(pairs, _SEVEN_TO_ZERO) >> 56 & 255) + _sum_of_bytes(odd)


@kernel
def pips_of(near, far):
    """Returns the pip count of a side: the sum of the points, 0 to 25, of its checkers."""
    return _weighted(near) + _weighted(far) + _HALF * checkers_of(far)


@kernel
def beyond(near, far, point):
    """Returns a side's checkers on the points above `point` (0 to 25), without the others."""
    if point < _HALF - 1:
        return near & -1 << 4 * (point + 1), far
    return 0, far & -1 << 4 * (point + 1 - _HALF)


@kernel
def pips_beyond(near, far, point):
    """Returns the pips that a side needs until no checker is above a point."""
    near, far = beyond(near, far, point)
    return pips_of(near, far) - point * (checkers_of(near) + checkers_of(far))


@kernel
def rearmost(held):
    """Returns the highest of the points 1 to 25 in a set of bits, or 0 if it is empty."""
    held &= ~1
    return 63 - lowest(reverse(held)) if held else 0


@kernel
def other_side(position):
    """Returns the same board with the other side to move."""
    near, far, their_near, their_far, side = position
    return their_near, their_far, near, far, 1 - side

"""The inputs of networks in backgammon."""

from __future__ import annotations

from games.features import Encoding
from games.kernels import kernel, lowest

_UNITS = 6  # of a point: one checker, and at least 2, 3, 4, 5 and 6
_BAR_UNITS = 4  # at least 1, 2, 3 and 4
_OFF_UNITS = 15  # at least 1, 2, ... 15
_BAR_PLACE = 24 * _UNITS
_OFF_PLACE = _BAR_PLACE + _BAR_UNITS
_SIDE = _OFF_PLACE + _OFF_UNITS
_POINTS_1_TO_12 = sum(15 << 4 * point for point in range(1, 13))
_POINTS_13_TO_24 = (1 << 48) - 1


@kernel
def _list_points(half, first, places, count):
    """Append the inputs of twelve points of four bits each, numbered from `first` on."""
    while half:
        shift = lowest(half) & ~3
        on = half >> shift & 15
        half ^= on << shift
        place = first + _UNITS * (shift >> 2)
        places[count] = place + (1 if on > 1 else 0)
        count += 1
        for unit in range(2, min(on, _UNITS)):
            places[count] = place + unit
            count += 1
    return count


@kernel
def _list_side(near, far, first, places, count):
    """Append the inputs of one side's checkers, numbered from `first` on."""
    count = _list_points((near & _POINTS_1_TO_12) >> 4, first, places, count)
    count = _list_points(far & _POINTS_13_TO_24, first + 12 * _UNITS, places, count)
    for unit in range(min(far >> 48, _BAR_UNITS)):
        places[count] = first + _BAR_PLACE + unit
        count += 1
    for unit in range(near & 15):
        places[count] = first + _OFF_PLACE + unit
        count += 1
    return count


@kernel
def points(position, places):
    """Write the inputs of the checkers on the points, on the bar and borne off.

    There are 163 inputs a side, the side to move first, each by its own numbering: 6 for each point
    from 1 to 24 (exactly one checker; at least 2; 3; 4; 5; 6), 4 for the bar (at least 1 to 4), 15
    for the checkers borne off (at least 1 to 15). Tesauro (1995) has four units a point, the last
    of which is a count. GNU Backgammon distinguishes one checker from several, as this encoding
    does.
    """
    near, far, their_near, their_far, _ = position
    count = _list_side(near, far, 0, places, 0)
    return _list_side(their_near, their_far, _SIDE, places, count)


#: 326 inputs. Each checker sets at most one of them, so that at most 30 are 1.
POINTS = Encoding("points", 2 * _SIDE, 30, points)

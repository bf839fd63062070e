"""Terms of the race and of gammons: the outcome by pip counts, for the side to move."""

from __future__ import annotations

import math

from games.backgammon.pips import pips_beyond, pips_of
from games.kernels import kernel

_HOME_UNIT = 8.167  # pips of a mean roll


@kernel
def wasted(near):
    """Returns the pips that a side's home board wastes, after Keith (2004).

    2 for each checker beyond one on the ace point, 1 for each beyond one on the deuce point and
    beyond three on the three point, and 1 for each of the points 4, 5 and 6 that is empty.
    """
    return (
        2 * max((near >> 4 & 15) - 1, 0)
        + max((near >> 8 & 15) - 1, 0)
        + max((near >> 12 & 15) - 3, 0)
        + (1 if near >> 16 & 15 == 0 else 0)
        + (1 if near >> 20 & 15 == 0 else 0)
        + (1 if near >> 24 & 15 == 0 else 0)
    )


@kernel
def kleinman(lead, total):
    """Returns the chance to win a race minus that to lose it, -1 to 1, for the side on roll.

    The side leads by `lead` pips; both together need `total`. With K = (lead + 4)² / (total - 4)
    the chance to win is (1 + erf(√K)) / 2; a negative lead gives the negative result. Source:
    Kleinman, Vision Laughs at Counting (1980).
    """
    return math.erf((lead + 4) / math.sqrt(max(total - 4, 1)))


@kernel
def waste(position):
    """Pips wasted in the home board, see `wasted`; 1 is 10 pips."""
    return wasted(position[0]) / 10


@kernel
def rolls_left(position):
    """About how many rolls a side needs to bear off; 1 is 20 rolls.

    Pips, wastage included, over 8.167 a roll, and never fewer than half its checkers.
    """
    near, far, _, _, _ = position
    left = 15 - (near & 15)
    return max((pips_of(near, far) + wasted(near)) / _HOME_UNIT, left / 2) / 20


@kernel
def race_chance(position):
    """The chance to win a race from here minus that to lose it, whether or not contact is over: by
    `kleinman`, with wastage added to the pip counts.
    """
    near, far, their_near, their_far, _ = position
    own = pips_of(near, far) + wasted(near)
    theirs = pips_of(their_near, their_far) + wasted(their_near)
    return kleinman(theirs - own, own + theirs)


@kernel
def save_pips(near, far):
    """Returns the pips until a side cannot lose a gammon: all checkers home and one borne off."""
    if near & 15:
        return 0
    last = 1  # the nearest checker may not be home yet; it then counts 6 pips, as from point 6
    while last < 6 and near >> 4 * last & 15 == 0:
        last += 1
    return pips_beyond(near, far, 6) + last


@kernel
def gammon_race(position):
    """Risk of losing a gammon in a race: -1 if surely saved, 1 if surely lost.

    It is -`kleinman` of the pips to save it against those with which the other side bears off.
    """
    near, far, their_near, their_far, _ = position
    own = save_pips(near, far)
    if own == 0:
        return -1.0
    theirs = pips_of(their_near, their_far) + wasted(their_near)
    return -kleinman(theirs - own, own + theirs)


@kernel
def gammon_pips(position):
    """Pips to save the gammon, see `save_pips`; 1 is 100 pips, 0 if it is saved."""
    return save_pips(position[0], position[1]) / 100


@kernel
def backgammon_pips(position):
    """Pips until no checker is on the bar or in the other side's home; 1 is 20 pips."""
    return pips_beyond(position[0], position[1], 18) / 20


@kernel
def home_gaps(position):
    """Empty points of the home board, divided by 6. With few checkers left they waste rolls."""
    near = position[0]
    empty = 0
    for point in range(1, 7):
        if near >> 4 * point & 15 == 0:
            empty += 1
    return empty / 6

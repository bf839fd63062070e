"""Terms of a backgammon position that experts look at, one kernel each, for the side to move.

Units are chosen so that most values lie between -1 and 1. Each docstring defines the value 1.
Points are numbered as the side to move does: its home is 1 to 6, the other side's is 19 to 24, and
the bar is 25. A point is *made* by two checkers or more and *blocked* if the other side made it. A
*back* checker is one on points 19 to 25. Magriel, "Backgammon" (1976), explains what the terms mean
in play; many are inputs of Berliner's BKG (1977) or of GNU Backgammon, in other words and units.
"""

from __future__ import annotations

from games.backgammon.blockade import (
    blocked_next,
    entering_rolls,
    escaping_rolls,
    freedom,
    hardest_escape,
    longest_prime,
)
from games.backgammon.pips import (
    beyond,
    checkers_of,
    pips_beyond,
    pips_of,
    rearmost,
)
from games.backgammon.rules import BAR, points_held, points_made
from games.backgammon.shots import choosing_rolls, hitting_rolls, pips_lost
from games.kernels import kernel, lowest, popcount

_HOME = 0b1111110
_BACK = 0b111111 << 19
_OUTSIDE = 0b11111111111 << 7  # points 7 to 17
_BOARD = (1 << BAR) - 2
_ONES = 0x1111111111111


# --- the race --------------------------------------------------------------------------------


@kernel
def pips(position):
    """Pips to go; 1 is 167, the count at the start."""
    return pips_of(position[0], position[1]) / 167


@kernel
def borne_off(position):
    """Checkers borne off; 1 is all 15."""
    return (position[0] & 15) / 15


# --- shots -----------------------------------------------------------------------------------


@kernel
def shots(position):
    """Rolls that hit a blot, see `shots.hitting_rolls`; 1 is all 36. Source: BKG and many."""
    near, far, their_near, their_far, _ = position
    return hitting_rolls(near, far, their_near, their_far) / 36


@kernel
def damage(position):
    """Pips that the other side loses to a hit, the mean over the 36 rolls (see
    `shots.pips_lost`); 1 is 12 pips. Source: GNU Backgammon's pip loss.
    """
    near, far, their_near, their_far, _ = position
    return pips_lost(near, far, their_near, their_far) / (36 * 12)


@kernel
def choices(position):
    """Rolls that can hit two blots, both or either, see `shots.choosing_rolls`; 1 is all 36."""
    near, far, their_near, their_far, _ = position
    return choosing_rolls(near, far, their_near, their_far) / 36


@kernel
def blots(position):
    """Single checkers on points 1 to 24; 1 is five."""
    near, far, _, _, _ = position
    single = points_held(near, far) & ~points_made(near, far)
    return popcount(single & _BOARD) / 5


@kernel
def home_blots(position):
    """Single checkers in the home board; 1 is three."""
    near, far, _, _, _ = position
    return popcount(points_held(near, far) & ~points_made(near, far) & _HOME) / 3


# --- the bar ---------------------------------------------------------------------------------


@kernel
def on_bar(position):
    """Checkers on the bar; 1 is two."""
    return (position[1] >> 48) / 2


@kernel
def shut_out(position):
    """Rolls that enter no checker if one is on the bar, else 0; 1 is all 36.

    Source: GNU Backgammon's ENTER, counted in rolls, not in pips lost.
    """
    _, far, their_near, their_far, _ = position
    if far >> 48 == 0:
        return 0.0
    return (36 - entering_rolls(points_made(their_near, their_far))) / 36


# --- points ----------------------------------------------------------------------------------


@kernel
def home_points(position):
    """Points made in the home board; 1 is all six."""
    return popcount(points_made(position[0], position[1]) & _HOME) / 6


@kernel
def outside_points(position):
    """Points made from 7 to 17; 1 is five."""
    return popcount(points_made(position[0], position[1]) & _OUTSIDE) / 5


@kernel
def prime(position):
    """The largest number of points made in a row; 1 is six. Source: Magriel's priming."""
    return longest_prime(points_made(position[0], position[1])) / 6


@kernel
def barrier(position):
    """Points made of the six in front of the other side's rearmost checker; 1 is six."""
    near, far, their_near, their_far, _ = position
    last = rearmost(points_held(their_near, their_far))
    return blocked_next(last, points_made(near, far)) / 6


@kernel
def containment(position):
    """Rolls, of 36, that fail to get a checker out from where the own points make that hardest:
    from the bar or points 1 to 7, see `blockade.hardest_escape`; 1 is all 36.

    No checker need stand there. Source: GNU Backgammon's CONTAIN, with another table.
    """
    return (36 - hardest_escape(points_made(position[0], position[1]))) / 36


@kernel
def anchor(position):
    """The own anchor (made point from 18 to 24) that is farthest advanced.

    18 is 1, 24 is 1/7, no anchor is 0. Source: GNU Backgammon's forward anchor.
    """
    made = points_made(position[0], position[1]) & (_BACK | 1 << 18)
    return (25 - lowest(made)) / 7 if made else 0.0


@kernel
def deep_anchor(position):
    """The rearmost own anchor, from 18 to 24: 24 is 1, 18 is 1/7, no anchor is 0."""
    made = points_made(position[0], position[1]) & (_BACK | 1 << 18)
    return (rearmost(made) - 17) / 7 if made else 0.0


# --- back checkers ---------------------------------------------------------------------------


@kernel
def last_checker(position):
    """The point of the rearmost checker; 1 is the bar, 25. Source: GNU's back chequer."""
    return rearmost(points_held(position[0], position[1])) / 25


@kernel
def escapes(position):
    """Rolls with which the rearmost checker escapes, see `blockade.escaping_rolls`; 1 is all 36.

    Source: Berliner's and GNU Backgammon's escapes, with another table.
    """
    near, far, their_near, their_far, _ = position
    last = rearmost(points_held(near, far))
    return escaping_rolls(last, points_made(their_near, their_far)) / 36


@kernel
def trapped(position):
    """Rolls that fail to let back checkers escape, summed over these; 1 is 72.

    Source: GNU Backgammon's mobility, turned around.
    """
    _, far, their_near, their_far, _ = position
    free = freedom(far, points_made(their_near, their_far))
    return (36 * checkers_of(far >> 24) - free) / 72


# --- shape and time --------------------------------------------------------------------------


@kernel
def to_pass(position):
    """Pips until all checkers are past the other side's rearmost one; 1 is 60 pips.

    0 in a race. Source: GNU Backgammon's break contact.
    """
    near, far, their_near, their_far, _ = position
    theirs = 25 - rearmost(points_held(their_near, their_far))
    return pips_beyond(near, far, theirs) / 60


@kernel
def passed_pips(position):
    """Pips of the checkers that are past the other side's rearmost one: time that is left to move
    without contact; 1 is 60 pips. Source: GNU Backgammon's free pips.
    """
    near, far, their_near, their_far, _ = position
    theirs = 25 - rearmost(points_held(their_near, their_far))
    behind_near, behind_far = beyond(near, far, theirs)
    return (pips_of(near, far) - pips_of(behind_near, behind_far)) / 60


@kernel
def timing(position):
    """Pips that checkers on points 7 to 18 have before they reach point 6, and spare checkers
    (beyond two) on points 4, 5 and 6 before they reach point 3; 1 is 40 pips.

    These can be moved before home points or anchors break. Source: Magriel's timing.
    """
    near, far, _, _, _ = position
    outside = pips_beyond(near, far & 0xFFFFFF, 6)
    spare = (
        3 * max((near >> 24 & 15) - 2, 0)
        + 2 * max((near >> 20 & 15) - 2, 0)
        + max((near >> 16 & 15) - 2, 0)
    )
    return (outside + spare) / 40


@kernel
def _above_three(half):
    """Checkers on the points of a half board beyond three on each."""
    high = (half >> 2 | half >> 3) & _ONES  # a bit for four or more checkers, which becomes three
    return checkers_of(half & 15 * high) - 3 * popcount(high)


@kernel
def stacked(position):
    """Checkers beyond three on a point, summed over points 1 to 24; 1 is five."""
    near, far, _, _, _ = position
    return (_above_three(near & ~15) + _above_three(far & 0xFFFFFFFFFFFF)) / 5


@kernel
def out_of_play(position):
    """Checkers more than two on each of the ace and deuce points, divided by five."""
    near = position[0]
    return (max((near >> 4 & 15) - 2, 0) + max((near >> 8 & 15) - 2, 0)) / 5


@kernel
def builders(position):
    """Points with a checker to spare for making points ahead: held on 7 to 12, or with three or
    more on 4 to 6; 1 is five.
    """
    near, far, _, _, _ = position
    three = near >> 1 & near | near >> 2 | near >> 3  # the bit for 3 or more checkers
    return (
        popcount(points_held(near, far) & 0b111111 << 7)
        + popcount(three & (1 << 16 | 1 << 20 | 1 << 24))
    ) / 5


@kernel
def gaps(position):
    """Points from 2 to 7 not made, with one made on either side of them; 1 is three."""
    made = points_made(position[0], position[1]) & _BOARD
    return popcount(~made & made << 1 & made >> 1 & 0b11111100) / 3


@kernel
def spread(position):
    """The mean distance of the checkers still in play from their middle, in points; 1 is 10."""
    near, far, _, _, _ = position
    left = 15 - (near & 15)
    if left == 0:
        return 0.0
    middle = pips_of(near, far) // left
    above_near, above_far = beyond(near, far, middle)
    above = checkers_of(above_near) + checkers_of(above_far)
    over = pips_of(above_near, above_far) - middle * above
    under = middle * (left - above) - (pips_of(near, far) - pips_of(above_near, above_far))
    return (over + under) / (10 * left)

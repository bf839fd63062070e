"""The phases of a game of backgammon, for evaluators that have a part for each."""

from __future__ import annotations

from games.backgammon.rules import mirrored, points_held, points_made
from games.features import Phases
from games.kernels import kernel

__all__ = [
    "CONTACT", "LONG", "PHASES", "RACE", "bears_off", "crashed", "in_back_game", "in_contact",
    "phase",
]  # fmt: skip

CONTACT, LONG, RACE = range(3)

#: A side with at most this many checkers in front of its two last points has crashed.
_FEW = 6
#: The other side's home, as bits of points.
_THEIR_HOME = 0b111111 << 19
#: All points beyond the home in `near`.
_BEYOND = -1 << 28


@kernel
def in_contact(position):
    """Whether a checker of one side must still pass one of the other; the bar counts as 25."""
    near, far, their_near, their_far, _ = position
    theirs = mirrored(points_held(their_near, their_far))
    # the number exceeds this bit if checkers are beyond their rearmost one
    return theirs != 0 and points_held(near, far) & ~1 > theirs & -theirs


@kernel
def crashed(near):
    """Returns whether a side has crashed: at most 6 of its checkers are on points 3 to 25."""
    return 15 - (near & 15) - (near >> 4 & 15) - (near >> 8 & 15) <= _FEW


@kernel
def bears_off(near, far):
    """Returns whether a side has borne off a checker, or has all of them at home."""
    return near & 15 != 0 or (near & _BEYOND == 0 and far == 0)


@kernel
def in_back_game(near, far):
    """Returns whether a side has made two points or more of the other's home."""
    made = points_made(near, far) & _THEIR_HOME
    return made & (made - 1) != 0


@kernel
def phase(position):
    """Returns 0 in contact, 1 in contact where plans are long, 2 in a race.

    A race is a position without contact, finished ones included. Plans are long in a back game of
    either side, and if either bears off or has all its checkers at home: such values show only at
    the end of a game. The phase does not depend on the side to move.
    """
    if not in_contact(position):
        return RACE
    near, far, their_near, their_far, _ = position
    if bears_off(near, far) or bears_off(their_near, their_far):
        return LONG
    if in_back_game(near, far) or in_back_game(their_near, their_far):
        return LONG
    return CONTACT


PHASES = Phases(("contact", "long plans", "race"), phase)

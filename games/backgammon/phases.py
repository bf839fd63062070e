"""The phases of a game of backgammon, for evaluators that have a part for each."""

from __future__ import annotations

from games.backgammon.rules import mirrored, points_held
from games.features import Phases
from games.kernels import kernel

__all__ = ["CONTACT", "CRASHED", "PHASES", "RACE", "crashed", "in_contact", "phase"]

CONTACT, CRASHED, RACE = range(3)

#: A side with at most this many checkers in front of its two last points has crashed.
_FEW = 6


@kernel
def in_contact(position):
    """Whether a checker of one side must still pass one of the other; the bar counts as 25."""
    near, far, their_near, their_far, _ = position
    theirs = mirrored(points_held(their_near, their_far))
    # checkers beyond their rearmost one make the number larger than its bit
    return theirs != 0 and points_held(near, far) & ~1 > theirs & -theirs


@kernel
def crashed(near):
    """Returns whether a side has crashed: at most 6 of its checkers are on points 3 to 25."""
    return 15 - (near & 15) - (near >> 4 & 15) - (near >> 8 & 15) <= _FEW


@kernel
def phase(position):
    """Returns 0 in contact, 1 in contact if a side has crashed, 2 in a race.

    A race is a position without contact, finished ones included. A side has crashed if all but at
    most 6 of its checkers are borne off or out of play on its ace and deuce points, so that it
    cannot hold its home points for long. The phase does not depend on the side to move. It follows
    the classes of GNU Backgammon, which defines crashed slightly differently.
    """
    if not in_contact(position):
        return RACE
    return CRASHED if crashed(position[0]) or crashed(position[2]) else CONTACT


PHASES = Phases(("contact", "crashed", "race"), phase)

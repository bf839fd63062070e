"""Kinds of backgammon positions: some are rare in games and hard to value."""

from __future__ import annotations

from games.backgammon.phases import bears_off, crashed, in_back_game, in_contact
from games.backgammon.rules import BAR, checkers, points_made
from games.features import Phases
from games.kernels import kernel

__all__ = ["KINDS", "LONG"]

_NAMES = (
    "contact", "holding", "back game", "back game of 6", "back game of 8", "crashed", "bar",
    "bear-off contact", "race",
)  # fmt: skip
CONTACT, HOLDING, BACK_GAME, OF_6, OF_8, CRASHED, ON_BAR, BEAR_OFF_CONTACT, RACE = range(
    len(_NAMES)
)
#: Kinds whose plans take many plies, so that their values only show at the end of a game.
LONG = frozenset({"back game", "back game of 6", "back game of 8", "bear-off contact"})

#: Points of anchors in holding games, as bits.
_ANCHORS = 0b111111 << 18


@kernel
def _back(near, far):
    """Returns the checkers that a side in a back game has on points 19 to 25, else 0."""
    count = 0
    if in_back_game(near, far):
        for point in range(19, BAR + 1):
            count += checkers(near, far, point)
    return count


@kernel
def kind(position):
    """Returns the number in `KINDS` of the first kind that fits, in the order below.

    race: no contact. bear-off contact: a side has all its checkers at home, or has borne off.
    back game: a side has made at least two points in the other's home; in one "of 6" or "of 8" it
        has that number of checkers there or on the bar. crashed: see `games.backgammon.phases`.
    bar: the side to move has a checker there. holding: a side has made
    a point from 18 to 23. contact: everything else.
    """
    near, far, their_near, their_far, _ = position
    if not in_contact(position):
        return RACE
    if bears_off(near, far) or bears_off(their_near, their_far):
        return BEAR_OFF_CONTACT
    back = max(_back(near, far), _back(their_near, their_far))
    if back > 0:
        return OF_8 if back >= 8 else OF_6 if back >= 6 else BACK_GAME
    if crashed(near) or crashed(their_near):
        return CRASHED
    if checkers(near, far, BAR) > 0:
        return ON_BAR
    if (points_made(near, far) | points_made(their_near, their_far)) & _ANCHORS:
        return HOLDING
    return CONTACT


KINDS = Phases(_NAMES, kind)

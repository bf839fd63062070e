"""The cells of backgammon: points as each side numbers them, by what stands on them.

A point is a row of its own: a side's men move ahead, from the bar at the back to those borne off.
Counts of men and relations to the enemy's men are also kinds. Only the side to move can use the
next roll, so the other side's board carries a mark.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from typing import Any

from games.backgammon.phases import in_contact
from games.backgammon.pips import pips_beyond, pips_of
from games.backgammon.rules import BAR, CHECKERS, mirrored, points_held, points_made
from games.backgammon.shots import blots_hit, hitting_rolls
from games.features.cells import Cells, Kind
from games.kernels import family, kernel

__all__ = ["CELLS"]

#: The lowest bit of each point of a half board.
ONES = sum(1 << 4 * point for point in range(13))
#: Placeholder: each kind has its own value.
OF: Any = points_held
#: The most that an amount can be.
MOST = 51
#: Rolls of 36 that hit a blot by one die alone, at least.
DIRECT = 11


@kernel
def seen_by_other(position):
    """Returns the board as the other side sees it; a last number of 2 means that it has no roll."""
    near, far, their_near, their_far, side = position
    return their_near, their_far, near, far, side ^ 3


@kernel
def _men(near, far):
    return points_held(near, far) & ~1


@kernel
def _points(near, far):
    return points_made(near, far) & ~1


@kernel
def _blots(near, far):
    return _men(near, far) & ~points_made(near, far)


@kernel
def _three(half):
    return (half >> 3 | half >> 2 | half >> 1 & half) & ONES


@kernel
def _four(half):
    return (half >> 3 | half >> 2) & ONES


@kernel
def _six(half):
    return (half >> 3 | half >> 2 & half >> 1) & ONES


def crowd(near, far):
    """Returns the points with a given number of men."""
    return points_held(OF(near), OF(far)) & ~1


_spares, _stacks, _towers = (family(crowd, OF=of).crowd for of in (_three, _four, _six))


@kernel
def _turned(points):
    """The other side's points as this side numbers them; its bar is 0 here."""
    return mirrored(points) | points >> BAR & 1


@kernel
def _engaged(near, far, their_near, their_far):
    """The points behind the rearmost man of the other side."""
    theirs = _turned(_men(their_near, their_far))
    return -2 * (theirs & -theirs)  # the same number with all higher bits


def squares(position):
    """Returns the points of a kind."""
    return OF(position[0], position[1])


def engaged(position):
    """Returns the points of a kind from which men still have to pass an enemy."""
    near, far, their_near, their_far, _ = position
    return OF(near, far) & _engaged(near, far, their_near, their_far)


def in_race(position):
    """Returns the points of a kind once no man has to pass an enemy."""
    return 0 if in_contact(position) else OF(position[0], position[1])


def hit(position):
    """Returns the own blots that a given number of the other side's rolls can hit."""
    near, far, their_near, their_far, side = position
    return blots_hit(their_near, their_far, near, far, OF) if side & 2 else 0


def low_bits(position):
    """Returns a number of low bits, from 1 on."""
    return (2 << OF(position)) - 2


@kernel
def _off(position):
    return position[0] & CHECKERS


@kernel
def _eight_pips(position):
    return min(pips_of(position[0], position[1]) // 8, MOST)


@kernel
def _rolls_that_hit(position):
    near, far, their_near, their_far, side = position
    return 0 if side & 2 else hitting_rolls(near, far, their_near, their_far)


@kernel
def _four_pips_from_home(position):
    near, far, _, _, _ = position
    return 0 if near & CHECKERS else min(pips_beyond(near, far, 6) // 4, MOST)


@kernel
def _four_pips_of_race(position):
    return 0 if in_contact(position) else min(pips_of(position[0], position[1]) // 4, MOST)


def theirs(position):
    """Returns the checkers of the other side, as the side to move numbers the points."""
    return _turned(OF(seen_by_other(position)))


def their_bits(position):
    """Returns the other side's low bits."""
    return OF(seen_by_other(position))


def _kind(read: Any, of: Any, text: str | None = None) -> Kind:
    """Returns the kind that one of the readers above makes of a kernel."""
    own = getattr(family(read, OF=of), read.__name__)
    if read is low_bits:
        return Kind(own, family(their_bits, OF=own).their_bits, amount=True)
    return Kind(own, family(theirs, OF=own).theirs, text)


#: A point has at least two men, a spare three, a stack four, a tower six; an engaged man still has
#: an enemy ahead. Pips are counted in eights, but in fours in a race and to bring men home. A blot
#: is in danger only if the other side has the roll; a roll hits only if this side has it.
CELLS = Cells(
    rows=26,
    columns=1,
    bits={point: point for point in range(26)},
    kinds={
        "man": _kind(squares, _men, "man"),
        "point": _kind(squares, _points),
        "blot": _kind(squares, _blots),
        "spare": _kind(squares, _spares),
        "stack": _kind(squares, _stacks),
        "tower": _kind(squares, _towers),
        "engaged man": _kind(engaged, _men),
        "engaged point": _kind(engaged, _points),
        "exposed blot": _kind(engaged, _blots),
        "blot in danger": _kind(hit, 1),
        "blot under direct fire": _kind(hit, DIRECT),
        "racing man": _kind(in_race, _men),
        "racing point": _kind(in_race, _points),
        "racing spare": _kind(in_race, _spares),
        "roll that hits": _kind(low_bits, _rolls_that_hit),
        "four pips to bring home": _kind(low_bits, _four_pips_from_home),
        "man borne off": _kind(low_bits, _off),
        "eight pips to go": _kind(low_bits, _eight_pips),
        "four pips to go in a race": _kind(low_bits, _four_pips_of_race),
    },
    swap=seen_by_other,
    turned=True,
    reach=6,
    areas={
        "home board": range(1, 7),
        "outer board": range(7, 13),
        "far outer board": range(13, 19),
        "far home board": range(19, 25),
        **{f"part from point {first} on": range(first, 26) for first in range(2, 24)},
    },
    row_names=("rest", *(f"{point} point" for point in range(1, 25)), "bar"),
)

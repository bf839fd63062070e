"""Terms for linear evaluators, which cannot weigh a term by the phase themselves.

Unless said otherwise, a term is the difference of one of `terms` between the side to move and the
other, in its unit. Terms that matter only in contact are 0 in a race.
"""

from __future__ import annotations

from typing import Any

from games.backgammon import terms
from games.backgammon.phases import in_contact
from games.backgammon.pips import other_side, pips_of
from games.backgammon.race_terms import gammon_pips, gammon_race, race_chance, rolls_left
from games.kernels import family, kernel

#: Placeholder: each term has its own.
OF = terms.home_points


@kernel
def lead(position):
    """Pips ahead in contact; 1 is 100 pips."""
    if not in_contact(position):
        return 0.0
    near, far, their_near, their_far, _ = position
    return (pips_of(their_near, their_far) - pips_of(near, far)) / 100


@kernel
def race(position):
    """The chance to win less that to lose, in a race: see `race_terms.race_chance`."""
    return 0.0 if in_contact(position) else race_chance(position)


@kernel
def race_rolls(position):
    """Rolls ahead in a race, see `race_terms.rolls_left`; 1 is 20 rolls."""
    if in_contact(position):
        return 0.0
    return rolls_left(other_side(position)) - rolls_left(position)


@kernel
def race_gammons(position):
    """The chance to win a gammon less that to lose one, in a race: see `race_terms.gammon_race`."""
    if in_contact(position):
        return 0.0
    return (gammon_race(other_side(position)) - gammon_race(position)) / 2


def difference(position):
    """Returns the term of the side to move less that of the other."""
    return OF(position) - OF(other_side(position))


def contact_difference(position):
    """Returns the same in contact; 0 in a race."""
    if not in_contact(position):
        return 0.0
    return OF(position) - OF(other_side(position))


def _both(of: Any, about: str, *, in_races: bool = False) -> Any:
    """Returns the kernel of a term of both sides; `about` is its docstring."""
    if in_races:
        return family(difference, doc=about, OF=of).difference
    return family(contact_difference, doc=about, OF=of).contact_difference


board = _both(terms.home_points, "Home points made, in contact: `terms.home_points` of both sides.")
primes = _both(
    terms.prime, "The most points made in a row, in contact: `terms.prime` of both sides."
)
anchors = _both(terms.anchor, "The best anchor, in contact: `terms.anchor` of both sides.")
stragglers = _both(
    terms.last_checker,
    "The point of the rearmost checker, in contact: `terms.last_checker` of both sides.",
)
loose_blots = _both(terms.blots, "Blots, in contact: `terms.blots` of both sides.")
loose_home_blots = _both(
    terms.home_blots, "Blots in the home board, in contact: `terms.home_blots` of both sides."
)
stacks = _both(
    terms.stacked, "Checkers beyond three on a point, in contact: `terms.stacked` of both sides."
)
dead_checkers = _both(
    terms.out_of_play,
    "Spare checkers on the ace and deuce points, in contact: `terms.out_of_play` of both sides.",
)
more_builders = _both(terms.builders, "Builders, in contact: `terms.builders` of both sides.")
outposts = _both(
    terms.outside_points,
    "Points made from 7 to 17, in contact: `terms.outside_points` of both sides.",
)
gammon_lag = _both(
    gammon_pips, "Pips to save the gammon, in contact: `race_terms.gammon_pips` of both sides."
)
barriers = _both(
    terms.barrier,
    "Points made before the other side's rearmost checker: `terms.barrier` of both sides.",
    in_races=True,
)
prisoners = _both(
    terms.trapped,
    "Rolls that fail to let back checkers escape: `terms.trapped` of both sides.",
    in_races=True,
)
shut_outs = _both(
    terms.shut_out,
    "Rolls that enter no checker from the bar: `terms.shut_out` of both sides.",
    in_races=True,
)
bars = _both(terms.on_bar, "Checkers on the bar: `terms.on_bar` of both sides.", in_races=True)
borne_off_lead = _both(
    terms.borne_off, "Checkers borne off: `terms.borne_off` of both sides.", in_races=True
)

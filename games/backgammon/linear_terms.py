"""Terms for linear evaluators, whose weights cannot depend on the phase.

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

#: Placeholder: each term has its own value.
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
    """Returns the difference if there is contact; 0 in a race."""
    if not in_contact(position):
        return 0.0
    return OF(position) - OF(other_side(position))


#: For each other term, its one-sided term and the function that makes a difference of it.
DIFFERENCES = {
    "borne_off_lead": (terms.borne_off, difference),
    "gammon_lag": (gammon_pips, contact_difference),
    "board": (terms.home_points, contact_difference),
    "outposts": (terms.outside_points, contact_difference),
    "primes": (terms.prime, contact_difference),
    "barriers": (terms.barrier, difference),
    "anchors": (terms.anchor, contact_difference),
    "prisoners": (terms.trapped, difference),
    "stragglers": (terms.last_checker, contact_difference),
    "shut_outs": (terms.shut_out, difference),
    "bars": (terms.on_bar, difference),
    "loose_blots": (terms.blots, contact_difference),
    "loose_home_blots": (terms.home_blots, contact_difference),
    "stacks": (terms.stacked, contact_difference),
    "dead_checkers": (terms.out_of_play, contact_difference),
    "more_builders": (terms.builders, contact_difference),
}


def _of_both(term: Any, made: Any) -> Any:
    """Returns the kernel of a term of both sides."""
    when = " in contact, else 0" if made is contact_difference else ""
    about = f"The side to move's minus the other's{when}: {term.__doc__}"
    return getattr(family(made, doc=about, OF=term), made.__name__)


#: All terms, in the order of the feature set.
TERMS = {
    "lead": lead,
    "race": race,
    "race_rolls": race_rolls,
    "race_gammons": race_gammons,
    **{name: _of_both(*both) for name, both in DIFFERENCES.items()},
}

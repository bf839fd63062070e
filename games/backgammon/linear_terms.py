"""Terms for linear evaluators, which cannot weigh a term by the phase themselves.

Unless said otherwise, a term is the difference of one of `terms` between the side to move and the
other, in its unit. Terms that matter only in contact are 0 in a race.
"""

from __future__ import annotations

from games.backgammon.phases import in_contact
from games.backgammon.pips import other_side, pips_of
from games.backgammon.race_terms import gammon_pips, gammon_race, race_chance, rolls_left
from games.backgammon.terms import (
    anchor,
    barrier,
    blots,
    borne_off,
    builders,
    home_blots,
    home_points,
    last_checker,
    on_bar,
    out_of_play,
    outside_points,
    prime,
    shut_out,
    stacked,
    trapped,
)
from games.kernels import kernel


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


@kernel
def board(position):
    """Home points made, in contact: `terms.home_points` of both sides."""
    if not in_contact(position):
        return 0.0
    return home_points(position) - home_points(other_side(position))


@kernel
def primes(position):
    """The most points made in a row, in contact: `terms.prime` of both sides."""
    if not in_contact(position):
        return 0.0
    return prime(position) - prime(other_side(position))


@kernel
def barriers(position):
    """Points made before the other side's rearmost checker: `terms.barrier` of both sides."""
    return barrier(position) - barrier(other_side(position))


@kernel
def anchors(position):
    """The best anchor, in contact: `terms.anchor` of both sides."""
    if not in_contact(position):
        return 0.0
    return anchor(position) - anchor(other_side(position))


@kernel
def prisoners(position):
    """Rolls that fail to let back checkers escape: `terms.trapped` of both sides."""
    return trapped(position) - trapped(other_side(position))


@kernel
def stragglers(position):
    """The point of the rearmost checker, in contact: `terms.last_checker` of both sides."""
    if not in_contact(position):
        return 0.0
    return last_checker(position) - last_checker(other_side(position))


@kernel
def shut_outs(position):
    """Rolls that enter no checker from the bar: `terms.shut_out` of both sides."""
    return shut_out(position) - shut_out(other_side(position))


@kernel
def bars(position):
    """Checkers on the bar: `terms.on_bar` of both sides."""
    return on_bar(position) - on_bar(other_side(position))


@kernel
def loose_blots(position):
    """Blots, in contact: `terms.blots` of both sides."""
    if not in_contact(position):
        return 0.0
    return blots(position) - blots(other_side(position))


@kernel
def loose_home_blots(position):
    """Blots in the home board, in contact: `terms.home_blots` of both sides."""
    if not in_contact(position):
        return 0.0
    return home_blots(position) - home_blots(other_side(position))


@kernel
def stacks(position):
    """Checkers beyond three on a point, in contact: `terms.stacked` of both sides."""
    if not in_contact(position):
        return 0.0
    return stacked(position) - stacked(other_side(position))


@kernel
def dead_checkers(position):
    """Spare checkers on the ace and deuce points, in contact: `terms.out_of_play` of both sides."""
    if not in_contact(position):
        return 0.0
    return out_of_play(position) - out_of_play(other_side(position))


@kernel
def more_builders(position):
    """Builders, in contact: `terms.builders` of both sides."""
    if not in_contact(position):
        return 0.0
    return builders(position) - builders(other_side(position))


@kernel
def outposts(position):
    """Points made from 7 to 17, in contact: `terms.outside_points` of both sides."""
    if not in_contact(position):
        return 0.0
    return outside_points(position) - outside_points(other_side(position))


@kernel
def gammon_lag(position):
    """Pips to save the gammon, in contact: `race_terms.gammon_pips` of both sides."""
    if not in_contact(position):
        return 0.0
    return gammon_pips(position) - gammon_pips(other_side(position))


@kernel
def borne_off_lead(position):
    """Checkers borne off: `terms.borne_off` of both sides."""
    return borne_off(position) - borne_off(other_side(position))

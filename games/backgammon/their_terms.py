"""The terms of `terms` and `race_terms` read for the side that is not to move: `their_x` is `x`
of the same board with the other side to move.
"""

from __future__ import annotations

from games.backgammon.pips import other_side
from games.backgammon.race_terms import (
    backgammon_pips,
    gammon_pips,
    gammon_race,
    home_gaps,
    rolls_left,
    waste,
)
from games.backgammon.terms import (
    anchor,
    barrier,
    borne_off,
    builders,
    choices,
    containment,
    damage,
    deep_anchor,
    escapes,
    gaps,
    home_blots,
    home_points,
    last_checker,
    on_bar,
    out_of_play,
    passed_pips,
    pips,
    prime,
    shots,
    shut_out,
    spread,
    stacked,
    timing,
    to_pass,
    trapped,
)
from games.kernel import kernel


@kernel
def their_anchor(position):
    """`anchor` of the other side."""
    return anchor(other_side(position))


@kernel
def their_barrier(position):
    """`barrier` of the other side."""
    return barrier(other_side(position))


@kernel
def their_borne_off(position):
    """`borne_off` of the other side."""
    return borne_off(other_side(position))


@kernel
def their_builders(position):
    """`builders` of the other side."""
    return builders(other_side(position))


@kernel
def their_choices(position):
    """`choices` of the other side."""
    return choices(other_side(position))


@kernel
def their_containment(position):
    """`containment` of the other side."""
    return containment(other_side(position))


@kernel
def their_damage(position):
    """`damage` of the other side."""
    return damage(other_side(position))


@kernel
def their_deep_anchor(position):
    """`deep_anchor` of the other side."""
    return deep_anchor(other_side(position))


@kernel
def their_escapes(position):
    """`escapes` of the other side."""
    return escapes(other_side(position))


@kernel
def their_gaps(position):
    """`gaps` of the other side."""
    return gaps(other_side(position))


@kernel
def their_home_blots(position):
    """`home_blots` of the other side."""
    return home_blots(other_side(position))


@kernel
def their_home_points(position):
    """`home_points` of the other side."""
    return home_points(other_side(position))


@kernel
def their_last_checker(position):
    """`last_checker` of the other side."""
    return last_checker(other_side(position))


@kernel
def their_on_bar(position):
    """`on_bar` of the other side."""
    return on_bar(other_side(position))


@kernel
def their_out_of_play(position):
    """`out_of_play` of the other side."""
    return out_of_play(other_side(position))


@kernel
def their_passed_pips(position):
    """`passed_pips` of the other side."""
    return passed_pips(other_side(position))


@kernel
def their_pips(position):
    """`pips` of the other side."""
    return pips(other_side(position))


@kernel
def their_prime(position):
    """`prime` of the other side."""
    return prime(other_side(position))


@kernel
def their_shots(position):
    """`shots` of the other side."""
    return shots(other_side(position))


@kernel
def their_shut_out(position):
    """`shut_out` of the other side."""
    return shut_out(other_side(position))


@kernel
def their_spread(position):
    """`spread` of the other side."""
    return spread(other_side(position))


@kernel
def their_stacked(position):
    """`stacked` of the other side."""
    return stacked(other_side(position))


@kernel
def their_timing(position):
    """`timing` of the other side."""
    return timing(other_side(position))


@kernel
def their_to_pass(position):
    """`to_pass` of the other side."""
    return to_pass(other_side(position))


@kernel
def their_trapped(position):
    """`trapped` of the other side."""
    return trapped(other_side(position))


@kernel
def their_backgammon_pips(position):
    """`backgammon_pips` of the other side."""
    return backgammon_pips(other_side(position))


@kernel
def their_gammon_pips(position):
    """`gammon_pips` of the other side."""
    return gammon_pips(other_side(position))


@kernel
def their_gammon_race(position):
    """`gammon_race` of the other side."""
    return gammon_race(other_side(position))


@kernel
def their_home_gaps(position):
    """`home_gaps` of the other side."""
    return home_gaps(other_side(position))


@kernel
def their_rolls_left(position):
    """`rolls_left` of the other side."""
    return rolls_left(other_side(position))


@kernel
def their_waste(position):
    """`waste` of the other side."""
    return waste(other_side(position))

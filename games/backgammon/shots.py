"""Shots: the rolls of 36 that hit, what they cost, and the rolls that enter from the bar.

All rolls are handled at once, in the numbering of the side whose blots are in danger, so that the
attacker moves upwards and enters on points 1 to 6. A roll hits if some of its dice, in some order,
bring a checker to a blot over points that are not blocked, after all checkers on the bar have
entered. The rule that both dice must be played if possible, which sometimes forbids a hit, is
ignored.
"""

from __future__ import annotations

from games.backgammon.rules import BAR, mirrored, points_held, points_made
from games.kernels import kernel, lowest

_POINTS = (1 << BAR) - 2
_NO_LOSS = 1 << BAR


@kernel
def _first_landings(movers, entering, blocked, die):
    """Returns the open points that the first die reaches; `entering`: -1 from the bar, else 0."""
    return ((movers << die & ~entering) | (1 << die & entering)) & ~blocked


@kernel
def _next_movers(movers, landed, on_bar):
    """Returns which checkers may use the other die: the same, or any once the bar is empty."""
    if on_bar == 0:
        return landed  # another checker's use of this die counts as a first landing
    return movers | landed if on_bar == 1 and landed else 0


@kernel
def _hit_by_pair(movers, entering, on_bar, blocked, blots, die, other):
    """Returns the blots that a roll of two different dice can hit."""
    one = _first_landings(movers, entering, blocked, die)
    two = _first_landings(movers, entering, blocked, other)
    after_one = _next_movers(movers, one, on_bar) << other
    after_two = _next_movers(movers, two, on_bar) << die
    return (one | two | after_one | after_two) & blots


@kernel
def _hit_by_double(movers, entering, on_bar, blocked, blots, die):
    """Returns the blots that a double can hit."""
    landed = _first_landings(movers, entering, blocked, die)
    reached = landed
    if on_bar and landed:
        landed |= movers
    for step in range(3):
        landed = landed << die & ~blocked
        reached |= landed if step < 4 - on_bar else 0
    return reached & blots


@kernel
def _attack(attack_near, attack_far, near, far):
    """Returns attackers, -1 if they must enter, their number on the bar, blocked points, and blots.

    Points are bits in the numbering of the side with the blots.
    """
    made = points_made(near, far)
    blots = points_held(near, far) & ~made & _POINTS
    on_bar = attack_far >> 48
    movers = mirrored(points_held(attack_near, attack_far)) & _POINTS
    return movers, -1 if on_bar else 0, on_bar, made & _POINTS, blots


@kernel
def _rolls(movers, entering, on_bar, blocked, blots):
    """Returns the number of rolls, of 36, that hit one of the blots."""
    rolls = 0
    for die in range(1, 7):
        if _hit_by_double(movers, entering, on_bar, blocked, blots, die):
            rolls += 1
        for other in range(1, die):
            if _hit_by_pair(movers, entering, on_bar, blocked, blots, die, other):
                rolls += 2
    return rolls


@kernel
def hitting_rolls(attack_near, attack_far, near, far):
    """Returns the number of rolls, of 36, that hit a blot."""
    movers, entering, on_bar, blocked, blots = _attack(attack_near, attack_far, near, far)
    return _rolls(movers, entering, on_bar, blocked, blots) if blots else 0


@kernel
def pips_lost(attack_near, attack_far, near, far):
    """Returns pips lost to hits, summed over 36 rolls, each on the blot that has come farthest."""
    movers, entering, on_bar, blocked, blots = _attack(attack_near, attack_far, near, far)
    if blots == 0:
        return 0
    lost = 0
    for die in range(1, 7):
        hit = _hit_by_double(movers, entering, on_bar, blocked, blots, die)
        lost += BAR - lowest(hit | _NO_LOSS)
        for other in range(1, die):
            hit = _hit_by_pair(movers, entering, on_bar, blocked, blots, die, other)
            lost += 2 * (BAR - lowest(hit | _NO_LOSS))
    return lost


@kernel
def choosing_rolls(attack_near, attack_far, near, far):
    """Returns the number of rolls, of 36, that can hit two or more blots, together or by choice."""
    movers, entering, on_bar, blocked, blots = _attack(attack_near, attack_far, near, far)
    if blots & (blots - 1) == 0:
        return 0
    rolls = 0
    for die in range(1, 7):
        hit = _hit_by_double(movers, entering, on_bar, blocked, blots, die)
        if hit & (hit - 1):
            rolls += 1
        for other in range(1, die):
            hit = _hit_by_pair(movers, entering, on_bar, blocked, blots, die, other)
            if hit & (hit - 1):
                rolls += 2
    return rolls


@kernel
def blots_hit(attack_near, attack_far, near, far, least):
    """Returns the blots that each of at least `least` rolls, of 36, can hit."""
    movers, entering, on_bar, blocked, blots = _attack(attack_near, attack_far, near, far)
    found = 0
    while blots:
        blot = blots & -blots
        blots ^= blot
        if _rolls(movers, entering, on_bar, blocked, blot) >= least:
            found |= blot
    return found

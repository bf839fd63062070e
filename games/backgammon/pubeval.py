"""The form of Tesauro's pubeval: a linear function of 122 inputs, one for contact, one for races.

Only the form: inputs and how values come of them; the weights are for learners to find. Tesauro's
program (1993, posted to rec.games.backgammon) rates a move for the side that has made it, from
inputs that see this side's checkers in detail and of the other side's only whether they are single.
Positions here belong to the side to move next; so inputs are read for the other side, and learned
weights are those of a loss.
"""

from __future__ import annotations

from games.backgammon.phases import in_contact
from games.backgammon.rules import BAR, checkers
from games.features import FeatureSet, Term
from games.kernel import kernel

#: Inputs a point: an enemy blot; one, two or more, and exactly three checkers; half of those
#: beyond three.
UNITS = ("enemy_blot", "blot", "made", "three", "more")
INPUTS = 24 * len(UNITS) + 2


@kernel
def _unit(position, point, unit):
    """One of the five inputs of a point, which the side that has just moved numbers."""
    near, far, moved_near, moved_far, _ = position
    if unit == 0:
        return 1.0 if checkers(near, far, BAR - point) == 1 else 0.0
    count = checkers(moved_near, moved_far, point)
    if unit == 1:
        return 1.0 if count == 1 else 0.0
    if unit == 2:
        return 1.0 if count >= 2 else 0.0
    if unit == 3:
        return 1.0 if count == 3 else 0.0
    return (count - 3) / 2 if count > 3 else 0.0


@kernel
def enemy_bar(position):
    """The other side's checkers on the bar, as a negative number; 1 is two."""
    return -(position[1] >> 48) / 2


@kernel
def off(position):
    """Checkers borne off by the side that has just moved; 1 is all 15."""
    return (position[2] & 15) / 15


def _input(point: int, unit: int) -> Term:
    @kernel
    def pubeval_input(position):
        return _unit(position, point, unit)

    return pubeval_input


#: The 122 inputs, by the names of `UNITS` and points.
PUBEVAL = FeatureSet(
    "pubeval",
    {
        **{
            f"{name}_{point}": _input(point, unit)
            for point in range(1, 25)
            for unit, name in enumerate(UNITS)
        },
        "enemy_bar": enemy_bar,
        "off": off,
    },
)


@kernel
def pubeval(weights, position):
    """The value of a position with weights [2, 122]: row 0 is for contact, row 1 for races.

    The sum of weight times input, in the order of `PUBEVAL`.
    """
    near, far, moved_near, moved_far, _ = position
    row = 0 if in_contact(position) else 1
    total = weights[row, INPUTS - 2] * enemy_bar(position) + weights[row, INPUTS - 1] * off(
        position
    )
    for point in range(1, 25):
        first = 5 * (point - 1)
        if checkers(near, far, BAR - point) == 1:
            total += weights[row, first]
        count = checkers(moved_near, moved_far, point)
        if count == 1:
            total += weights[row, first + 1]
        elif count > 1:
            total += weights[row, first + 2]
            if count == 3:
                total += weights[row, first + 3]
            elif count > 3:
                total += weights[row, first + 4] * (count - 3) / 2
    return total

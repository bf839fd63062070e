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
def enemy_bar(position):
    """The other side's checkers on the bar, as a negative number; 1 is two."""
    return -(position[1] >> 48) / 2


@kernel
def off(position):
    """Checkers borne off by the side that has just moved; 1 is all 15."""
    return (position[2] & 15) / 15


def _inputs(point: int) -> dict[str, Term]:
    """The five inputs of a point, which the side that has just moved numbers.

    Each is a kernel that calls no other, for 122 of them are to be compiled.
    """
    field, shift = (2, 4 * point) if point < 13 else (3, 4 * (point - 13))
    enemy, their_shift = (0, 4 * (BAR - point)) if point > 12 else (1, 4 * (12 - point))

    @kernel
    def enemy_blot(position):
        return 1 if position[enemy] >> their_shift & 15 == 1 else 0

    @kernel
    def blot(position):
        return 1 if position[field] >> shift & 15 == 1 else 0

    @kernel
    def made(position):
        return 1 if position[field] >> shift & 14 else 0

    @kernel
    def three(position):
        return 1 if position[field] >> shift & 15 == 3 else 0

    @kernel
    def more(position):
        return max((position[field] >> shift & 15) - 3, 0) / 2

    kernels = (enemy_blot, blot, made, three, more)
    return {f"{name}_{point}": term for name, term in zip(UNITS, kernels, strict=True)}


#: The 122 inputs, by the names of `UNITS` and points.
PUBEVAL = FeatureSet(
    "pubeval",
    {
        **{name: term for point in range(1, 25) for name, term in _inputs(point).items()},
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

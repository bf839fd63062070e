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
from games.kernels import kernel

#: Inputs a point: an enemy blot; one, two or more, and exactly three checkers; half of those
#: beyond three.
UNITS = ("enemy_blot", "blot", "made", "three", "more")
INPUTS = 24 * len(UNITS) + 2


@kernel
def by_phase(position):
    """The checkers of either side twice: as they stand in contact, and as they do in a race.

    Four integers each, as in a position; all 0 in the other phase.
    """
    near, far, moved_near, moved_far, _ = position
    contact = -1 if in_contact(position) else 0
    race = ~contact
    return (
        near & contact, far & contact, moved_near & contact, moved_far & contact,
        near & race, far & race, moved_near & race, moved_far & race,
    )  # fmt: skip


def _inputs(name: str, board: int) -> dict[str, Term]:
    """The inputs, read from the board that begins at a place in what `by_phase` returns.

    Each is a kernel that calls no other, for 244 of them are to be compiled.
    """
    found: dict[str, Term] = {}
    for point in range(1, 25):
        units = zip(UNITS, _inputs_of_point(point, board), strict=True)
        found |= {f"{name}{unit}_{point}": term for unit, term in units}
    far, moved_near = board + 1, board + 2

    @kernel
    def enemy_bar(boards):
        return -(boards[far] >> 48) / 2

    @kernel
    def off(boards):
        return (boards[moved_near] & 15) / 15

    return {**found, f"{name}enemy_bar": enemy_bar, f"{name}off": off}


def _inputs_of_point(point: int, board: int) -> tuple[Term, ...]:
    """The five inputs of a point, which the side that has just moved numbers."""
    mine, shift = (board + 2, 4 * point) if point < 13 else (board + 3, 4 * (point - 13))
    enemy, their_shift = (board, 4 * (BAR - point)) if point > 12 else (board + 1, 4 * (12 - point))

    @kernel
    def enemy_blot(boards):
        return 1 if boards[enemy] >> their_shift & 15 == 1 else 0

    @kernel
    def blot(boards):
        return 1 if boards[mine] >> shift & 15 == 1 else 0

    @kernel
    def made(boards):
        return 1 if boards[mine] >> shift & 14 else 0

    @kernel
    def three(boards):
        return 1 if boards[mine] >> shift & 15 == 3 else 0

    @kernel
    def more(boards):
        return max((boards[mine] >> shift & 15) - 3, 0) / 2

    return enemy_blot, blot, made, three, more


_TERMS = {**_inputs("", 0), **_inputs("race_", 4)}

#: The 122 inputs in contact, where an enemy on the bar counts minus a half and 15 checkers borne
#: off are 1; and again in races, where names begin with `race_`: what is linear in these terms has
#: the form of pubeval. All are read for the side that has just moved.
PUBEVAL = FeatureSet("pubeval", _TERMS, by_phase, frozenset(_TERMS))


@kernel
def pubeval(weights, position):
    """The value of a position with weights [2, 122]: row 0 is for contact, row 1 for races.

    The sum of weight times input, in the order of `PUBEVAL`.
    """
    near, far, moved_near, moved_far, _ = position
    row = 0 if in_contact(position) else 1
    total = -weights[row, INPUTS - 2] * (far >> 48) / 2
    total += weights[row, INPUTS - 1] * (moved_near & 15) / 15
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

"""The form of Tesauro's pubeval: a linear function of 122 inputs, one for contact, one for races.

This is only the form, the inputs and how they make a value; learners find the weights. Tesauro's
program (1993, posted to rec.games.backgammon) rates a move for the side that has made it. Its
inputs see this side's checkers in detail and the other side's blots only. Positions here belong to
the side to move next, so inputs are read for the other side, and learned weights are those of a
loss.
"""

from __future__ import annotations

from games.backgammon.phases import in_contact
from games.backgammon.rules import BAR
from games.features import FeatureSet, Term
from games.kernels import kernel

#: Inputs for each point: an enemy blot; one, two or more, and exactly three checkers; half the
#: number of checkers beyond three.
UNITS = ("enemy_blot", "blot", "made", "three", "more")
INPUTS = 24 * len(UNITS) + 2


@kernel
def by_phase(position):
    """Returns the checkers of both sides twice: once for contact and once for races.

    Each time there are four integers, as in a position; those of the other phase are all 0.
    """
    near, far, moved_near, moved_far, _ = position
    contact = -1 if in_contact(position) else 0
    race = ~contact
    return (
        near & contact, far & contact, moved_near & contact, moved_far & contact,
        near & race, far & race, moved_near & race, moved_far & race,
    )  # fmt: skip


def _inputs(name: str, board: int) -> dict[str, Term]:
    """Returns the inputs, read from the board that begins at index `board` of `by_phase`.

    Each is a kernel that calls no other, because 244 of them must be compiled.
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
    """Returns the five inputs of a point, as the side that has just moved numbers it."""
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

#: The 122 inputs in contact (an enemy checker on the bar counts minus a half, 15 checkers borne off
#: count 1) and again in races, with names that begin with `race_`. A linear function of these terms
#: has the form of pubeval. All are read for the side that has just moved.
PUBEVAL = FeatureSet("pubeval", _TERMS, by_phase, frozenset(_TERMS))

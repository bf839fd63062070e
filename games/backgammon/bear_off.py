"""Races by calculation: bear-off databases as kernels, and the probe, which goes beyond them.

A side whose checkers are all borne off or on its home points 1 to 6 has one of C(21, 6) = 54,264
positions, numbered so that no move leads to a higher number; those of at most n checkers are the
first C(n + 6, 6). The tables (`games.backgammon.bear_off_tables` makes and keeps them) are

* `equities` [924, 924]: of both sides, with at most six checkers each: the exact equity of the side
to move before its roll, with best play. * `rolls` [54264, LONGEST]: of one side, the probability of
each number of rolls until the last checker is off, if each roll is played for the least expected
number. * `first` [15504, LONGEST]: probabilities until the first checker is off, if played for
that, in positions of 15 checkers, which begin with number 38,760. They decide gammons.

For a side that is not home yet, a small network gives mean and variance of the number of rolls
(`games.backgammon.one_sided`).

Smaller tables are possible and cover fewer checkers; `first` is then empty. GNU Backgammon's
program makebearoff makes tables of the same kinds, rounded to 16 bits.
"""

from __future__ import annotations

import math

import numpy as np

from games.backgammon.one_sided import event, not_later
from games.backgammon.phases import in_contact
from games.backgammon.pips import checkers_of
from games.backgammon.rules import CHECKERS, PROBABILITIES, legal_moves, packed, play
from games.kernels import kernel

__all__ = [
    "EXACT_DEPTH",
    "FAR_AWAY",
    "FAR_DEPTH",
    "HOME_POINTS",
    "LONGEST",
    "NEAR_DEPTH",
    "WHOLE",
    "at_home",
    "outcomes",
    "positions_of",
    "probe",
    "rank",
    "unrank",
]

HOME_POINTS = 6
#: Numbers of rolls in a distribution: 0 to LONGEST - 1.
LONGEST = 32
#: The depth of an equity of the two-sided table in plies: more than any search asks for.
EXACT_DEPTH = 99
#: Depth of equities from two one-sided tables. Where they can be compared, a search of one ply over
#: such equities chooses no better moves, but a search of two plies does.
NEAR_DEPTH = 1
#: Depth of equities with a side not yet home: 0, because even one ply of search is better.
FAR_DEPTH = 0


def positions_of(most: int) -> int:
    """Returns the number of one-sided positions with at most `most` checkers left."""
    return math.comb(most + HOME_POINTS, HOME_POINTS)


#: The number of the first position of 15 checkers.
WHOLE = positions_of(CHECKERS - 1)
_CHOOSE = np.array(
    [[math.comb(n, k) for k in range(HOME_POINTS + 1)] for n in range(CHECKERS + HOME_POINTS + 1)],
    dtype=np.int64,
)
#: An opponent without influence: 14 checkers off and one on his ace point.
FAR_AWAY = packed((CHECKERS - 1, 1) + 24 * (0,))[0]
_ROLLS = len(PROBABILITIES)
#: The other side's home begins here in the upper half of a side's board.
_FAR_HOME = 24
#: The place of the bar in it.
_BAR = 48
#: Numbers with a type, because a kernel is compiled again for each literal argument.
_NONE, _ONE, _TWO = np.int64(0), np.int64(1), np.int64(2)


@kernel
def rank(near):
    """Returns the number of a position at home, from the lower half of a side's board; O(6).

    It is the sum over k = 1 to 6 of C(c + k - 1, k) with c the checkers on points 7 - k and above:
    the combinatorial number of six different integers. A checker that comes forward lowers terms
    and raises none. Undefined where more than 15 checkers stand on points 1 to 6.
    """
    number = 0
    above = 0
    for k in range(1, HOME_POINTS + 1):
        above += near >> 4 * (HOME_POINTS + 1 - k) & 15
        number += int(_CHOOSE[above + k - 1, k])
    return number


@kernel
def unrank(number):
    """Returns the lower half of the board of a position's number, with the checkers borne off."""
    near = 0
    behind = 0
    for k in range(HOME_POINTS, 0, -1):
        top = k - 1
        while int(_CHOOSE[top + 1, k]) <= number:
            top += 1
        number -= int(_CHOOSE[top, k])
        above = top - k + 1
        if k == HOME_POINTS:
            near |= CHECKERS - above
        else:
            near |= (behind - above) << 4 * (HOME_POINTS - k)
        behind = above
    return near | behind << 4 * HOME_POINTS


@kernel
def at_home(near, far):
    """Returns whether all 15 checkers of a side are borne off or at home."""
    if far != 0 or near >> 4 * (HOME_POINTS + 1):
        return False
    held = 0
    for point in range(HOME_POINTS + 1):
        held += near >> 4 * point & 15
    return held == CHECKERS


@kernel
def _number(near, far):
    """Returns the number of a side's position; -1 unless all 15 checkers are off or at home."""
    return rank(near) if at_home(near, far) else -1


# --- filling the tables ----------------------------------------------------------------------


@kernel
def write_successors(number, roll, moves, after):
    """Write the numbers of the positions that a roll can lead to; returns their count.

    `moves` needs the room that `legal_moves` asks for, `after` one place for each move.
    """
    count = legal_moves((unrank(number), 0, FAR_AWAY, 0, 0), roll, moves)
    for i in range(count):
        after[i] = rank(play((unrank(number), 0, FAR_AWAY, 0, 0), moves[i])[2])
    return count


@kernel
def fill_one_sided(expected, rolls, expected_first, first, moves, after):
    """Fill the one-sided tables, float64, which must hold zeros; the module describes them.

    `expected` [positions] and `expected_first` [positions of 15 checkers] are the mean numbers of
    rolls. Of equally good plays the one that `legal_moves` lists first is chosen. Rolls beyond
    the last column are lost; the table must be wide enough for all.
    """
    rolls[0, 0] = 1.0
    for number in range(1, len(expected)):
        mean = 1.0
        for roll in range(_ROLLS):
            count = write_successors(number, roll, moves, after)
            best = after[0]
            for i in range(1, count):
                if expected[after[i]] < expected[best]:
                    best = after[i]
            chance = PROBABILITIES[roll]
            mean += chance * expected[best]
            for n in range(1, LONGEST):
                rolls[number, n] += chance * rolls[best, n - 1]
        expected[number] = mean
        if number < WHOLE:
            continue
        mean = 1.0
        for roll in range(_ROLLS):
            count = write_successors(number, roll, moves, after)
            best = after[0]
            for i in range(1, count):
                if best >= WHOLE and (
                    after[i] < WHOLE
                    or expected_first[after[i] - WHOLE] < expected_first[best - WHOLE]
                ):
                    best = after[i]
            chance = PROBABILITIES[roll]
            if best < WHOLE:
                first[number - WHOLE, 1] += chance
                continue
            mean += chance * expected_first[best - WHOLE]
            for n in range(1, LONGEST):
                first[number - WHOLE, n] += chance * first[best - WHOLE, n - 1]
        expected_first[number - WHOLE] = mean
    return 0


@kernel
def list_successors(begins, lists, moves, after):
    """List the positions that each roll leads to from each position; returns the list's length.

    Those of position n and roll r begin at `begins[21 * n + r]`. Numbers for which
    `lists` has no room are only counted.
    """
    place = 0
    for number in range(len(begins) // _ROLLS):
        for roll in range(_ROLLS):
            begins[_ROLLS * number + roll] = place
            if number == 0:
                continue
            count = write_successors(number, roll, moves, after)
            for i in range(count):
                if place < len(lists):
                    lists[place] = after[i]
                place += 1
    begins[len(begins) - 1] = place
    return place


@kernel
def _backed_up(equities, begins, lists, mine, theirs):
    """Returns the equity of one position from those that a roll leads to."""
    value = 0.0
    for roll in range(_ROLLS):
        worst = 2.0
        for i in range(begins[_ROLLS * mine + roll], begins[_ROLLS * mine + roll + 1]):
            worst = min(worst, equities[theirs, lists[i]])
        value -= PROBABILITIES[roll] * worst
    return value


@kernel
def fill_two_sided(equities, begins, lists):
    """Fill `equities` [positions, positions], float64, from the lists of `list_successors`.

    Every play leads to a lower number, whose entry is filled earlier.
    """
    for number in range(len(equities)):
        equities[number, 0] = -1.0
        equities[0, number] = 1.0
    for high in range(1, len(equities)):
        for low in range(1, high + 1):
            equities[high, low] = _backed_up(equities, begins, lists, high, low)
            equities[low, high] = _backed_up(equities, begins, lists, low, high)
    return 0


# --- probing them ----------------------------------------------------------------------------


@kernel
def _ahead(rolls, mine, table, theirs, later):
    """Returns the probability that one side's last checker is off before an event of the other.

    `rolls[mine]` is the distribution of the one, `table[theirs]` that of the event, in rolls of
    the other side; `later` is 0 where the one rolls first and 1 where the other does.
    """
    chance = 0.0
    left = 1.0
    for n in range(LONGEST):
        if later:
            left -= float(table[theirs, n])
        chance += float(rolls[mine, n]) * left
        if not later:
            left -= float(table[theirs, n])
    return min(max(chance, 0.0), 1.0)


@kernel
def _row_ahead(row, number, mean, variance, later):
    """As `_ahead`, where the other side's event is known by mean and variance alone."""
    chance = 0.0
    for n in range(LONGEST):
        share = float(row[number, n])
        if share > 0.0:
            chance += share * not_later(float(n), 0.0, mean, variance, later)
    return min(chance, 1.0)


@kernel
def _ahead_of_row(mean, variance, row, number, later):
    """As `_ahead`, where the one side's last checker is known by mean and variance alone."""
    chance = 0.0
    for n in range(LONGEST):
        share = float(row[number, n])
        if share > 0.0:
            chance += share * not_later(mean, variance, float(n), 0.0, later)
    return min(chance, 1.0)


@kernel
def _beats(tables, winner, loser, which, later):
    """Returns the chance that one side's last checker is off before an event of the other.

    winner, loser: (near, far, number) of the sides, the number -1 for one that is not all at home.
    which: 0 for the loser's last checker off, 1 for its first, 2 for its last one out of the
        winner's home, which the table of bearing off stands for.
    """
    _, rolls, first, hidden, outputs = tables
    near, far, number = loser
    if which == 1 and near & 15 or which == 2 and (near & 15 or far >> _FAR_HOME == 0):
        return 0.0
    inside = rank(far >> _FAR_HOME << 4) if which == 2 else number
    if winner[2] >= 0:
        if inside < 0:
            mean, variance = event(hidden, outputs, near, far, which)
            return _row_ahead(rolls, winner[2], mean, variance, later)
        if which == 1:
            return _ahead(rolls, winner[2], first, inside - WHOLE, later)
        return _ahead(rolls, winner[2], rolls, inside, later)
    mean, variance = event(hidden, outputs, winner[0], winner[1], _NONE)
    if inside < 0:
        theirs, spread = event(hidden, outputs, near, far, which)
        return not_later(mean, variance, theirs, spread, later)
    if which == 1:
        return _ahead_of_row(mean, variance, first, inside - WHOLE, later)
    return _ahead_of_row(mean, variance, rolls, inside, later)


@kernel
def _in_race(position):
    """Returns whether each side has 15 checkers and none of them must pass one of the other's."""
    near, far, their_near, their_far, _ = position
    return (
        far >> _BAR == 0  # it can only be there if the game is over
        and their_far >> _BAR == 0
        and checkers_of(near) + checkers_of(far) == CHECKERS
        and checkers_of(their_near) + checkers_of(their_far) == CHECKERS
        and not in_contact(position)
    )


@kernel
def _chances(tables, position):
    """Returns the depth (-1 if the tables lack the position) and the chances of five outcomes."""
    equities, rolls, _, _, _ = tables
    near, far, their_near, their_far, _ = position
    mine = _number(near, far)
    theirs = _number(their_near, their_far)
    if max(mine, theirs) >= len(rolls) or not _in_race(position):
        return -1, 0.0, 0.0, 0.0, 0.0, 0.0
    if min(mine, theirs) >= 0 and max(mine, theirs) < len(equities):
        win = 0.5 + 0.5 * float(equities[mine, theirs])
        return EXACT_DEPTH, win, 0.0, 0.0, 0.0, 0.0
    own = (near, far, mine)
    other = (their_near, their_far, theirs)
    win = _beats(tables, own, other, _NONE, _NONE)
    win_gammon = min(_beats(tables, own, other, _ONE, _NONE), win)
    win_backgammon = min(_beats(tables, own, other, _TWO, _NONE), win_gammon)
    lose_gammon = min(_beats(tables, other, own, _ONE, _ONE), 1.0 - win)
    lose_backgammon = min(_beats(tables, other, own, _TWO, _ONE), lose_gammon)
    depth = NEAR_DEPTH if min(mine, theirs) >= 0 else FAR_DEPTH
    return depth, win, win_gammon, win_backgammon, lose_gammon, lose_backgammon


@kernel
def probe(tables, position):
    """(found, value, depth) of a position before the roll, as `search.lookups.lookup` has it.

    `tables` are (equities, rolls, first) and the weights (hidden, outputs) of
    `games.backgammon.one_sided`. All races are found, also finished games.

    * Both sides have at most six checkers left, all at home: the value is the exact equity, to the
      precision of float32, and the depth `EXACT_DEPTH`. There are no gammons.
    * All is at home, and one side has more: the distributions of the two sides are put together.
      The chance to win is exact for two sides that each play for the least expected number of
      rolls; good players also consider the opponent's position. The chance of a gammon is exact for
      such a winner and a loser who plays for his first checker off. Where the exact table applies
      too, such equities are off by 0.002 on average and at most 0.03, and moves chosen by them lose
      0.00001. The depth is `NEAR_DEPTH`.
    * A side has checkers beyond its home: its number of rolls is a normal distribution with the
        network's mean and variance. Backgammons are as likely as if the checkers in the other
        side's home were borne off from there. The depth is `FAR_DEPTH`.
    """
    known = _chances(tables, position)
    if known[0] < 0:
        return (False, 0.0, 0)
    depth, win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = known
    value = 2.0 * win - 1.0 + win_gammon + win_backgammon - lose_gammon - lose_backgammon
    return (True, value, depth)


@kernel
def outcomes(tables, position, target):
    """Write the probabilities of the five outcomes (`games.backgammon.outcomes`) to `target`.

    Returns whether `probe` finds the position; if not, `target` is unchanged. The equity of the
    outcomes is the value that `probe` gives.
    """
    depth, win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = _chances(
        tables, position
    )
    if depth < 0:
        return False
    target[0] = win
    target[1] = win_gammon
    target[2] = win_backgammon
    target[3] = lose_gammon
    target[4] = lose_backgammon
    return True

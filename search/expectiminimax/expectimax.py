"""Expectiminimax: the one source for native and plain searches of games with dice.

The depth of a position before its roll is GNU Backgammon's number of plies: at depth 0 its value is
that of the evaluator, at depth n the average, over the rolls, of the best move's value at depth
n - 1. Values are for the side to move. `line` is described in `search.expectiminimax.line`; every
function that touches game, evaluator or memory is in `search.expectiminimax.native` or
`search.native`.

All values lie within `line.bound` of 0, so an average can be bounded when only some of its rolls
are known. Star1 gives each roll a window outside which its value settles the average, and Star2
first searches one good reply to each roll, which bounds the roll's value from below. An average
without a cutoff is summed up in the order of the rolls from exact values, so that pruning does not
change a bit of it; early cutoffs leave a margin for rounding error.

Sources: Michie 1966 (expectimax), Ballard 1983 (Star1, Star2), Hauk, Buro and Schaeffer 2004 (in
negamax form, for backgammon).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numba
from numba import float64, int64, void

from games.kernels import kernel
from games.values import EXACT, LOWER, UPPER
from search.expectiminimax.line import DEEPEST_ROLLS, DICE_LINE
from search.expectiminimax.native import (
    add_turned,
    clear_outcomes,
    float_at,
    int_at,
    list_moves,
    outcome_here,
    put_float,
    put_int,
    rated_value,
    recall,
    retain,
    search_key,
    searched,
    sorting_value,
    static_outcomes,
)
from search.native import play, probe_lookup
from search.table import expect_probe, probe_table, store_table

RECORD = numba.from_dtype(DICE_LINE)
INFINITY = float("inf")
NONE, STAR1, STAR2 = 0, 1, 2
ROLLING = -1  # in place of a roll: the dice are not rolled yet
ROUNDING = 1e-12  # relative to the largest value: exceeds the rounding error of sums over rolls


@kernel
def checked(line, value):
    """Returns a value, and stops the search if it is outside the bounds that pruning assumes."""
    if abs(value) > line.bound:
        line.outside = value
        line.stop = 1
    return value


@kernel
def resting_value(line, ply):
    """Returns the value at depth 0: of the outcome, a lookup or the evaluator.

    The table keeps the evaluator's values, so that it is called once for each position.
    """
    key = search_key(line, ply, 0)
    if line.caching:
        expect_probe(line, key)
    value = outcome_here(line, ply)  # before the probe, whose bucket is fetched meanwhile
    if value == value:
        return checked(line, value)
    if probe_lookup(line, ply):
        line.horizon += line.hit_depth < DEEPEST_ROLLS
        return checked(line, line.hit_value)
    line.horizon += 1
    if line.caching and probe_table(line, key):
        return line.hit_value
    line.evaluations += 1
    value = checked(line, rated_value(line, ply, key))
    if line.caching and line.stop == 0:
        store_table(line, key, value, 0, EXACT, 0, 0)
    return value


@kernel
def average(line, values, place):
    """Returns the average of the rolls' values, summed up in the order of the rolls."""
    total = 0.0
    for r in range(line.rolls):
        chance = float_at(line.chances, r)
        if chance > 0.0:
            total += chance * float_at(values, place + r)
    return total


# --- replies ---------------------------------------------------------------------------------


@kernel
def ranking_value(line, ply):
    """Returns the value by which moves are ordered: of the outcome, a lookup or the prefilter."""
    value = outcome_here(line, ply)
    if value == value:
        return value
    if probe_lookup(line, ply):
        return line.hit_value
    return sorting_value(line, ply)


@kernel
def order_all(line, depth, ply, first, count):
    """Give every move its move-ordering score: the static value after it."""
    horizon = line.horizon  # values that only order moves do not count as the horizon
    for i in range(count):
        play(line, ply, int_at(line.moves, first + i))
        if depth == 1:
            put_float(line.order, first + i, -ranking_value(line, ply + 1))
        else:
            put_float(line.order, first + i, -resting_value(line, ply + 1))
    line.horizon = horizon


@kernel
def keep_best(line, first, count, keep, margin):
    """Put at most `keep` moves within `margin` of the best score in front, best first.

    Returns their number.
    """
    keep = min(keep, count)
    for i in range(keep):
        index = i
        for j in range(i + 1, count):
            if float_at(line.order, first + j) > float_at(line.order, first + index):
                index = j
        move = int_at(line.moves, first + index)
        score = float_at(line.order, first + index)
        if score < float_at(line.order, first) - margin:
            return i
        for j in range(index, i, -1):
            put_int(line.moves, first + j, int_at(line.moves, first + j - 1))
            put_float(line.order, first + j, float_at(line.order, first + j - 1))
        put_int(line.moves, first + i, move)
        put_float(line.order, first + i, score)
    return keep


@kernel
def list_replies(line, depth, ply, roll):
    """Put the moves with a roll on the stack, with move-ordering scores, except filtered ones.

    Moves that the prefilter excludes are not valued at any depth.
    Without a prefilter the first move tried is the one that was best with this roll in a
    sibling position. That causes fewer cutoffs than an evaluator's order, but costs nothing.
    """
    place = ply * line.rolls + roll
    first = line.top
    count = list_moves(line, ply, roll)
    keep = line.reply_keep
    margin = line.reply_margin
    if depth == 1:
        keep = line.inner_keep
        margin = line.inner_margin
    elif line.sorter_at != 0:
        order_all(line, 1, ply, first, count)
        count = keep_best(line, first, count, line.inner_keep, line.inner_margin)
    if depth == 1 and line.sorter_at == 0:
        killer = int_at(line.killers, place)
        for i in range(count):
            if int_at(line.moves, first + i) == killer:
                put_float(line.order, first + i, INFINITY)
                break
    elif keep > 0 or line.prune != NONE:
        order_all(line, depth, ply, first, count)
        if keep > 0:
            count = keep_best(line, first, count, keep, margin)
    line.top = first + count
    put_int(line.begins, place, first)
    put_int(line.counts, place, count)


@kernel
def next_reply(line, place):
    """Returns the untried move with the highest score in a list, and whether there is one.

    The move is then marked as tried.
    """
    first = int_at(line.begins, place)
    best = first
    for i in range(first + 1, first + int_at(line.counts, place)):
        if float_at(line.order, i) > float_at(line.order, best):
            best = i
    left = float_at(line.order, best) > -INFINITY
    put_float(line.order, best, -INFINITY)
    return int_at(line.moves, best), left


# --- outcomes --------------------------------------------------------------------------------


@kernel(signature=void(RECORD, int64, int64))
def back_up_outcomes(line, depth, ply):
    """Write the outcomes of the position at `ply`, backed up from `depth` plies of best replies.

    Of equal replies the first one counts. If a lookup knows the position's value, the outcomes are
    the lookup's, or those of the evaluator if the lookup knows values only.
    """
    key = search_key(line, ply, depth)
    if recall(line, key, ply):
        return
    value = outcome_here(line, ply)
    looked_up = probe_lookup(line, ply) and line.hit_depth >= depth
    if depth == 0 or value == value or looked_up:
        static_outcomes(line, ply)
        return
    clear_outcomes(line, ply)
    top = line.top
    for r in range(line.rolls):
        chance = float_at(line.chances, r)
        if chance <= 0.0:
            continue
        place = ply * line.rolls + r
        list_replies(line, depth, ply, r)
        first = int_at(line.begins, place)
        chosen = int_at(line.moves, first)
        best = -INFINITY
        count = int_at(line.counts, place)
        if count > 1:
            for i in range(first, first + count):
                move = int_at(line.moves, i)
                play(line, ply, move)
                value = -searched(line, depth - 1, -INFINITY, -best, ply + 1, ROLLING)
                if line.stop != 0:
                    return
                if value > best:
                    best = value
                    chosen = move
        play(line, ply, chosen)
        back_up_outcomes(line, depth - 1, ply + 1)
        add_turned(line, ply, chance)
        line.top = top


@kernel
def gather_outcomes(line, depth, ply, key):
    """Keep the outcomes of the position at `ply`, which was just valued exactly.

    The best reply to each roll is then its killer.
    """
    horizon = line.horizon
    clear_outcomes(line, ply)
    for r in range(line.rolls):
        chance = float_at(line.chances, r)
        if chance > 0.0 and line.stop == 0:
            play(line, ply, int_at(line.killers, ply * line.rolls + r))
            back_up_outcomes(line, depth - 1, ply + 1)
            add_turned(line, ply, chance)
    if line.stop == 0:
        retain(line, key, ply)
    line.horizon = horizon


# --- the search ------------------------------------------------------------------------------


@kernel
def known(line, key, depth, alpha, beta, ply):
    """Returns whether a lookup or the table settles the position; its value is then `hit_value`."""
    if probe_lookup(line, ply) and line.hit_depth >= depth:
        checked(line, line.hit_value)
        line.horizon += line.hit_depth < DEEPEST_ROLLS
        return True
    if not probe_table(line, key):
        return False
    value = line.hit_value
    if (
        line.hit_bound == EXACT
        or (line.hit_bound == LOWER and value >= beta)
        or (line.hit_bound == UPPER and value <= alpha)
    ):
        line.horizon += 1 - line.hit_ended
        return True
    return False


@kernel(signature=float64(RECORD, int64, float64, float64, int64, int64))
def expectiminimax(line, depth, alpha, beta, ply, roll):
    """Returns the value of the position at `ply`, before its roll or with a roll.

    depth: plies to search.
    alpha, beta: the window. The value is exact if alpha < value < beta, a lower bound if it is at
        least beta, and an upper bound if it is at most alpha (fail-soft).
    ply: the place of the position on the line.
    roll: `ROLLING` for the average over all rolls; a roll for the value of the best move with it; a
        roll plus `line.rolls` to search only the move with the highest score. The other moves then
        stay on the stack for a second call, which begins with the value of the first in `lowers`.

    The value is meaningless once `line.stop` is set.
    """
    # As a number, because a constant would compile a version of its own, and the cache loses one of
    # two versions of a function that calls itself (numba issue 6061).
    rolling = min(roll, ROLLING)
    if roll != ROLLING:
        probing = roll >= line.rolls
        if probing:
            roll -= line.rolls
        place = ply * line.rolls + roll
        top = line.top
        if int_at(line.counts, place) == 0:
            list_replies(line, depth, ply, roll)
        best = float_at(line.lowers, place)
        for _ in range(int_at(line.counts, place)):
            move, left = next_reply(line, place)
            if not left:
                break
            play(line, ply, move)
            value = -expectiminimax(line, depth - 1, -beta, -max(alpha, best), ply + 1, rolling)
            if line.stop != 0:
                break
            if value > best:
                best = value
                put_int(line.killers, place, move)
                if value >= beta:
                    break
            if probing:
                return best
        line.top = top
        return best

    if line.nodes >= line.node_limit:
        line.stop = 1
    if line.stop != 0:
        return 0.0
    line.nodes += 1
    if depth == 0:
        return resting_value(line, ply)
    value = outcome_here(line, ply)
    if value == value:
        return checked(line, value)
    key = search_key(line, ply, depth)
    if known(line, key, depth, alpha, beta, ply):
        return line.hit_value

    horizon = line.horizon
    base = line.top
    here = ply * line.rolls
    bound = line.bound
    slack = ROUNDING * bound
    certain = 0.0
    for r in range(line.rolls):
        put_int(line.counts, here + r, 0)
        put_float(line.lowers, here + r, -INFINITY)
        certain += float_at(line.chances, r)
    low = -bound * certain  # the average is at least this
    high = bound * certain  # and at most this
    kind = EXACT
    if line.prune == STAR2 and beta < bound:
        for r in range(line.rolls):
            chance = float_at(line.chances, r)
            if chance <= 0.0:
                continue
            ceiling = (beta + 2.0 * slack - low) / chance - bound
            value = expectiminimax(line, depth, -INFINITY, ceiling, ply, line.rolls + r)
            if line.stop != 0:
                break
            put_float(line.lowers, here + r, value)
            low += chance * (value + bound)
            if value >= ceiling:
                kind = LOWER
                break

    floor = -INFINITY
    ceiling = INFINITY
    for r in range(line.rolls):
        chance = float_at(line.chances, r)
        if kind != EXACT or line.stop != 0:
            break
        if chance <= 0.0:
            continue
        lower = max(float_at(line.lowers, here + r), -bound)
        if line.prune != NONE:
            floor = bound - (high - alpha + 2.0 * slack) / chance
            ceiling = lower + (beta + 2.0 * slack - low) / chance
        value = expectiminimax(line, depth, floor, ceiling, ply, r)
        put_float(line.lowers, here + r, value)
        if line.prune != NONE:
            low += chance * (value - lower)
            high += chance * (value - bound)
            if value >= ceiling:
                kind = LOWER
            elif value <= floor:
                kind = UPPER
    line.top = base
    if line.stop != 0:
        return 0.0
    if kind == EXACT:
        value = average(line, line.lowers, here)
    else:
        value = low - slack if kind == LOWER else high + slack
    store_table(line, key, value, depth, kind, 0, int(line.horizon == horizon))
    if kind == EXACT and line.rating != 0:
        gather_outcomes(line, depth, ply, key)
    return value

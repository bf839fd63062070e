"""Alpha-beta search: the one source for native and plain searches.

`negamax` is fail-soft principal-variation search with a transposition table, killers and history;
`quiesce` continues it until a position is quiet enough to be evaluated; the root is in
`search.alphabeta.root`. Values are always seen from the side to move. `line` is described in
`search.line`; every function that touches game or evaluator is in `search.native`, and
the conditions of selective search are in `search.alphabeta.selective`.

Threads that search together postpone moves that another one is searching (`search.table`).

Sources: Knuth and Moore 1975 (alpha-beta, negamax), Marsland and Campbell 1982 (principal-variation
search), Akl and Newborn 1977 (killers), Schaeffer 1983 (history).
"""

from __future__ import annotations

from numba import float64, int64

from games.kernels import kernel, next_up
from games.values import EXACT, LOWER, PROVEN, RESULT_ONLY, UPPER, WIN
from search.alphabeta.selective import may_be_singular, reduction
from search.alphabeta.trace import trace
from search.line import MOST_PLIES, NONE
from search.native import (
    FINISHED,
    QUIET,
    expect_move,
    has_room,
    legal_moves,
    move_at,
    move_slot,
    order_at,
    outcome,
    play,
    position_key,
    probe_lookup,
    set_order,
    static_value,
    status,
)
from search.root import RECORD
from search.table import begin, end, expect_probe, is_busy, probe_table, store_table

SEARCH = float64(RECORD, int64, float64, float64, int64)
QUIESCE = float64(RECORD, float64, float64, int64)
INFINITY = float("inf")
SHARED_DEPTH = 4  # at smaller depths, threads ignore which positions others are searching

# Move-ordering scores, the highest first: the table's move, then captures and other moves for which
# the rules state a gain, killers, the others by history, and last a move that waits for another
# thread. A move that was tried has -INFINITY.
TABLE_SCORE = 1e30
GAIN_SCORE = 1e12  # for each unit of gain
KILLER_SCORE = 1e11  # beyond what history adds up to
WAITING_SCORE = -1e30


@kernel
def finished_value(line, ply):
    """Returns the value of a finished game: its outcome, or a win or loss that counts plies."""
    value = outcome(line, ply)
    if line.wins:
        if value > 0.0:
            return WIN - ply
        if value < 0.0:
            return ply - WIN
    return value


@kernel
def bound_holds(bound, value, alpha, beta):
    """Returns whether a value with this bound settles the window from alpha to beta."""
    return (
        bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha)
    )


@kernel
def from_here(value, ply):
    """Returns a value with plies to the end counted from this position instead of the root."""
    if value > PROVEN:
        return value + ply
    return value - ply if value < -PROVEN else value


@kernel
def from_root(value, ply):
    """Returns a value with plies to the end counted from the root: the inverse of `from_here`."""
    if value > PROVEN:
        return value - ply
    return value + ply if value < -PROVEN else value


@kernel
def in_time(line, ply):
    """Returns whether a win or loss of the last probe comes before the draw by quiet moves.

    Only moves before the root count: a lookup's line from an irreversible move on is in time.
    """
    quiet_plies = line.quiet_plies[ply]
    plies = WIN - abs(line.hit_value)
    before = line.earlier > 0 and quiet_plies == line.earlier + ply
    return plies > WIN - PROVEN or not before or quiet_plies + plies <= line.quiet_limit


@kernel
def lookup_settles(line, depth, alpha, beta, ply):
    """Returns whether a lookup settles the position at `depth`; its value is then `hit_value`.

    A result without a length settles a window that lies far below a win, or above a loss.
    """
    if not probe_lookup(line, ply):
        return False
    if line.hit_depth == RESULT_ONLY:
        bound = line.hit_value * line.sure / 2
        if bound < beta if bound > 0 else bound > alpha:
            return False
        line.hit_value = bound
        return True
    if line.hit_depth < depth or not in_time(line, ply):
        return False
    line.hit_value = from_root(line.hit_value, ply)
    return True


@kernel
def end_value(line, alpha, beta, ply):
    """Returns the value of a position at which a line ends: a lookup's, else the evaluator's.

    A result without a length is `line.sure` beyond the static value. A win that may come too late
    is worth less than that, the less the later it comes and the fewer quiet moves are left.
    """
    line.horizon += 1
    line.hit_depth = 0
    if lookup_settles(line, 0, alpha, beta, ply):
        return line.hit_value
    if line.hit_depth == 0:
        return static_value(line, ply)
    value = line.hit_value
    if line.hit_depth == RESULT_ONLY:
        return static_value(line, ply) + value * line.sure
    share = 1.0 - line.quiet_plies[ply] / line.quiet_limit
    share *= 1.0 - (WIN - abs(value)) / (8.0 * line.quiet_limit)
    return share * line.sure if value > 0 else -share * line.sure


@kernel
def remember_line(line, ply, move):
    """Make `move` and the principal variation behind it the principal variation here."""
    line.pv[ply, 0] = move
    length = line.pv_length[ply + 1]
    for i in range(length):
        line.pv[ply, i + 1] = line.pv[ply + 1, i]
    line.pv_length[ply] = length + 1


@kernel
def next_best(line, first, count):
    """Returns the index of the untried move with the highest score, and marks it as tried."""
    index = 0
    score = order_at(line, first)
    for i in range(1, count):
        other = order_at(line, first + i)
        if other > score:
            index = i
            score = other
    set_order(line, first + index, -INFINITY)
    return index


@kernel
def follow(line, ply, move):
    """Play a move on the line, and count the plies since the last irreversible move."""
    if play(line, ply, move):
        line.quiet_plies[ply + 1] = 0
    else:
        line.quiet_plies[ply + 1] = line.quiet_plies[ply] + 1


@kernel(signature=QUIESCE)
def quiesce(line, alpha, beta, ply):
    """Returns the value beyond the depth: static if quiet, else backed up from all moves.

    Meaningless once `line.stop` is set.
    """
    line.nodes += 1
    line.pv_length[ply] = 0
    kind = status(line, ply)
    if kind == FINISHED:
        return finished_value(line, ply)
    if kind == QUIET or ply >= MOST_PLIES - 1 or not has_room(line, ply):
        return end_value(line, alpha, beta, ply)
    if line.nodes >= line.node_limit:
        line.stop = 1
    if line.stop != 0:
        return 0.0
    count = legal_moves(line, ply)
    first = line.first[ply]
    best = -INFINITY
    for _ in range(count):
        move = move_at(line, first + next_best(line, first, count))
        follow(line, ply, move)
        value = -quiesce(line, -beta, -alpha, ply + 1)
        if value > best:
            best = value
            if value > alpha:
                if value >= beta:
                    break
                alpha = value
                remember_line(line, ply, move)
    return best


@kernel
def repeated(line, key, ply):
    """Returns whether the position occurred before, on this line or earlier in the game."""
    here = line.earlier + ply
    line.keys[here] = key
    for back in range(2, line.quiet_plies[ply] + 1, 2):
        if line.keys[here - back] == key:
            return True
    return False


@kernel
def order_moves(line, ply, count, hint):
    """Give every move its move-ordering score; the gains stated by the rules are there already."""
    first = line.first[ply]
    for i in range(count):
        move = move_at(line, first + i)
        score = order_at(line, first + i) * GAIN_SCORE + line.history[move_slot(move)]
        if move == line.killers[ply, 0] or move == line.killers[ply, 1]:
            score += KILLER_SCORE
        set_order(line, first + i, score)
    if 0 <= hint < count:
        set_order(line, first + hint, TABLE_SCORE)


@kernel
def credit(line, ply, depth, move):
    """History update for a move that caused a cutoff; it also becomes the first killer."""
    if move != line.killers[ply, 0]:
        line.killers[ply, 1] = line.killers[ply, 0]
        line.killers[ply, 0] = move
    line.history[move_slot(move)] += depth * depth


@kernel(signature=SEARCH)
def negamax(line, depth, alpha, beta, ply):
    """Returns the value of the position at `ply`, searched `depth` plies deep.

    The value is exact if alpha < value < beta, a lower bound if it is at least beta, and an upper
    bound if it is at most alpha (fail-soft). It is meaningless once `line.stop` is set. The
    excluded move, whose index is `line.excluded[ply]`, is not searched; the position then counts as
    another one, for which nothing is looked up or stored. Where the line may reach the draw after
    80 plies without an irreversible move, values depend on the moves before: the table then gives
    and takes moves only.

    The shallow search of singular extensions is part of this one function because two functions
    that call each other cannot be compiled: Numba compiles each by its signature before the other
    exists, and does not cache such a circle. Its conditions are kernels in
    `search.alphabeta.selective`.
    """
    quiet_plies = line.quiet_plies[ply]
    if quiet_plies >= line.quiet_limit:
        line.nodes += 1
        line.pv_length[ply] = 0
        line.horizon += 1
        return finished_value(line, ply) if status(line, ply) == FINISHED else 0.0
    if depth <= 0:
        return quiesce(line, alpha, beta, ply)
    line.nodes += 1
    line.pv_length[ply] = 0
    if line.nodes >= line.node_limit:
        line.stop = 1
    if line.stop != 0:
        return 0.0
    if ply >= MOST_PLIES - 1 or not has_room(line, ply):
        return end_value(line, alpha, beta, ply)
    horizon = line.horizon
    key = position_key(line, ply)
    expect_probe(line, key)
    if line.repeats and repeated(line, key, ply):
        line.horizon += 1
        return 0.0
    excluded = line.excluded[ply]
    near = quiet_plies + depth >= line.quiet_limit
    if excluded == NONE and not near and lookup_settles(line, depth, alpha, beta, ply):
        line.horizon += 1
        return line.hit_value

    count = legal_moves(line, ply)  # before the probe, whose bucket is fetched meanwhile
    if count == 0:
        return finished_value(line, ply)

    wide = beta > next_up(alpha)
    hint = -1
    hint_depth = 0
    hint_value = INFINITY  # a lower bound of the hint's value, if the table has one
    line.probes += 1
    if probe_table(line, key):
        line.hits += 1
        hint = line.hit_move
        value = from_root(line.hit_value, ply)
        deep = line.hit_depth >= depth or line.hit_ended
        if line.equal_depth:
            deep = line.hit_depth == depth
        if deep and not wide and not near and excluded == NONE and in_time(line, ply):
            if bound_holds(line.hit_bound, value, alpha, beta):
                line.horizon += 1 - line.hit_ended
                return value
        if line.hit_bound != UPPER and not near:
            hint_depth = line.hit_depth
            hint_value = value

    quiet = False
    longer = -1  # the index of a move to be searched a ply deeper
    if line.selective and count > 1:
        quiet = status(line, ply) == QUIET
        nodes_before = line.nodes

        # singular extension: the one move that is much better than all others
        if 0 <= hint < count and may_be_singular(line, depth, ply, hint_depth, hint_value):
            bound = hint_value - line.singular_margin * depth
            line.excluded[ply] = hint
            value = negamax(line, (depth - 1) // 2, bound, next_up(bound), ply)
            line.excluded[ply] = NONE
            if line.stop != 0:
                return 0.0
            if value <= bound:
                longer = hint

        if line.nodes != nodes_before:  # that search has changed this list of moves
            legal_moves(line, ply)
            line.pv_length[ply] = 0

    order_moves(line, ply, count, hint)
    first = line.first[ply]
    floor = alpha
    best = -INFINITY
    best_index = 0
    shared = line.busy != 0 and depth >= SHARED_DEPTH
    tried = picked = 0
    coming = next_best(line, first, count)
    while tried < count:
        index = coming
        picked += 1
        if index == excluded:
            tried += 1
            coming = next_best(line, first, count)
            continue
        move = move_at(line, first + index)
        begun = line.horizon
        follow(line, ply, move)
        if shared:
            key_after = position_key(line, ply + 1)
            # another thread's result will soon be in the table: other moves go first
            if 0 < tried and picked <= count and is_busy(line, key_after):
                set_order(line, first + index, WAITING_SCORE)
                coming = next_best(line, first, count)
                continue
            begin(line, key_after)
        coming = next_best(line, first, count)
        if depth > 1:  # its bucket is fetched while this move is searched
            expect_move(line, ply, move_at(line, first + coming))
        rest = depth if index == longer else depth - 1
        less = reduction(line, depth, tried, wide) if quiet else 0
        high = beta if tried == 0 or not line.null_window else next_up(alpha)
        value = -negamax(line, rest - less, -high, -alpha, ply + 1)
        if less > 0 and value > alpha:
            value = -negamax(line, rest, -high, -alpha, ply + 1)
        if high < beta and alpha < value < beta:
            value = -negamax(line, rest, -beta, -alpha, ply + 1)
        if shared:
            end(line, key_after)
        tried += 1
        if line.stop != 0:
            return 0.0
        if value > best:
            best = value
            best_index = index
            if value >= beta:
                line.horizon += horizon - begun  # the bound rests on this move alone
                credit(line, ply, depth, move)
                break
            if value > alpha:
                alpha = value
                remember_line(line, ply, move)
    if excluded != NONE:
        return best
    if near:
        line.horizon += 1
        store_table(line, key, 0.0, 0, UPPER, best_index, 0)
        return best
    bound_kind = LOWER if best >= beta else UPPER if best <= floor else EXACT
    ended = int(line.horizon == horizon)
    store_table(line, key, from_here(best, ply), depth, bound_kind, best_index, ended)
    trace(line, ply, best, depth, bound_kind)
    return best

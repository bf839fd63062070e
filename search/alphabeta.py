"""Alpha-beta search: the one source for native and plain searches.

`negamax` is fail-soft principal-variation search with a transposition table, killers and history;
`quiesce` goes on where the position is too noisy to be evaluated; `iterate` deepens from depth 1.
Values are always seen from the side to move. `line` is described in `search.line`; every function
that touches game or evaluator is in `search.native`.

Sources: Knuth and Moore 1975 (alpha-beta, negamax), Marsland and Campbell 1982 (principal-variation
search), Slate and Atkin 1977 (iterative deepening), Akl and Newborn 1977 (killers), Schaeffer 1983
(history).
"""

from __future__ import annotations

import numba
from numba import float64, int64, void

from games.bits import next_up
from games.kernel import kernel
from search.line import LINE, MOST_PLIES, WIN
from search.native import (
    EXACT,
    FINISHED,
    LOWER,
    QUIET,
    UPPER,
    expect_probe,
    has_room,
    legal_moves,
    move_at,
    move_slot,
    order_at,
    outcome,
    play,
    position_key,
    probe_lookup,
    probe_table,
    set_order,
    static_value,
    status,
    store_table,
)
from search.trace import keep_trace, trace

RECORD = numba.from_dtype(LINE)
SEARCH = float64(RECORD, int64, float64, float64, int64)
QUIESCE = float64(RECORD, float64, float64, int64)
INFINITY = float("inf")
PROVEN = WIN / 2  # beyond it a value counts plies to the end of the game


@kernel
def finished_value(line, ply):
    """The value of a finished game: its outcome, or plies to the win or loss."""
    value = outcome(line, ply)
    if line.wins:
        if value > 0.0:
            return WIN - ply
        if value < 0.0:
            return ply - WIN
    return value


@kernel
def bound_holds(bound, value, alpha, beta):
    """Whether a value known to be exact, at least or at most that settles the window."""
    return (
        bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha)
    )


@kernel
def from_here(value, ply):
    """A value that counts plies from the root, counted from this position instead."""
    if value > PROVEN:
        return value + ply
    return value - ply if value < -PROVEN else value


@kernel
def from_root(value, ply):
    """The inverse of `from_here`."""
    if value > PROVEN:
        return value - ply
    return value + ply if value < -PROVEN else value


@kernel
def lookup_settles(line, depth, alpha, beta, ply):
    """Whether a lookup knows the position at least `depth` deep; its value is `hit_value`."""
    if not probe_lookup(line, ply) or line.hit_depth < depth:
        return False
    line.hit_value = from_root(line.hit_value, ply)
    return bound_holds(line.hit_bound, line.hit_value, alpha, beta)


@kernel
def remember_line(line, ply, move):
    """Make `move` and the principal variation behind it the principal variation here."""
    line.pv[ply, 0] = move
    length = line.pv_length[ply + 1]
    for i in range(length):
        line.pv[ply, i + 1] = line.pv[ply + 1, i]
    line.pv_length[ply] = length + 1


@kernel
def most_promising(line, first, count):
    """The index of the most promising move left; it is then marked as tried."""
    index = 0
    promise = order_at(line, first)
    for i in range(1, count):
        other = order_at(line, first + i)
        if other > promise:
            index = i
            promise = other
    set_order(line, first + index, -INFINITY)
    return index


@kernel(signature=QUIESCE)
def quiesce(line, alpha, beta, ply):
    """The value at depth 0: static where quiet, else backed up from all moves.

    Meaningless once `line.stop` is set.
    """
    line.nodes += 1
    line.pv_length[ply] = 0
    kind = status(line, ply)
    if kind == FINISHED:
        return finished_value(line, ply)
    if kind == QUIET or ply >= MOST_PLIES - 1 or not has_room(line, ply):
        if lookup_settles(line, 0, alpha, beta, ply):
            return line.hit_value
        return static_value(line, ply)
    if line.nodes >= line.node_limit:
        line.stop = 1
    if line.stop != 0:
        return 0.0
    count = legal_moves(line, ply)
    first = line.first[ply]
    best = -INFINITY
    for _ in range(count):
        move = move_at(line, first + most_promising(line, first, count))
        play(line, ply, move)
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
    """Whether the position occurred before, on this line or in the game up to it."""
    here = line.earlier + ply
    line.keys[here] = key
    for back in range(2, line.quiet_plies[ply] + 1, 2):
        if line.keys[here - back] == key:
            return True
    return False


@kernel
def order_moves(line, ply, depth, count, hint):
    """Give every move its order of promise; what the rules say of its gain is there already."""
    first = line.first[ply]
    if depth >= line.order_depth:
        for i in range(count):
            play(line, ply, move_at(line, first + i))
            set_order(line, first + i, -static_value(line, ply + 1))
    else:
        for i in range(count):
            move = move_at(line, first + i)
            promise = order_at(line, first + i) * 1e12 + line.history[move_slot(move)]
            if move == line.killers[ply, 0] or move == line.killers[ply, 1]:
                promise += 1e11
            set_order(line, first + i, promise)
    if 0 <= hint < count:
        set_order(line, first + hint, 1e30)


@kernel
def credit(line, ply, depth, move):
    """Remember a move that refuted the line before it."""
    if move != line.killers[ply, 0]:
        line.killers[ply, 1] = line.killers[ply, 0]
        line.killers[ply, 0] = move
    line.history[move_slot(move)] += depth * depth


@kernel
def follow(line, ply, move):
    """Play a move on the line, and count the plies since a repetition became possible."""
    if play(line, ply, move):
        line.quiet_plies[ply + 1] = 0
    else:
        line.quiet_plies[ply + 1] = line.quiet_plies[ply] + 1


@kernel(signature=SEARCH)
def negamax(line, depth, alpha, beta, ply):
    """The value of the position at `ply`, searched `depth` plies deep.

    Exact where alpha < value < beta; at least beta is a lower bound, at most alpha an upper bound
    (fail-soft). Meaningless once `line.stop` is set.
    """
    if depth <= 0:
        return quiesce(line, alpha, beta, ply)
    line.nodes += 1
    line.pv_length[ply] = 0
    if line.nodes >= line.node_limit:
        line.stop = 1
    if line.stop != 0:
        return 0.0
    if ply >= MOST_PLIES - 1 or not has_room(line, ply):
        return static_value(line, ply)
    key = position_key(line, ply)
    expect_probe(line, key)
    if line.repeats and repeated(line, key, ply):
        return 0.0
    if lookup_settles(line, depth, alpha, beta, ply):
        return line.hit_value

    count = legal_moves(line, ply)  # before the probe, which takes the time to fetch its bucket
    if count == 0:
        return finished_value(line, ply)

    hint = -1
    if probe_table(line, key):
        hint = line.hit_move
        deep = line.hit_depth == depth if line.equal_depth else line.hit_depth >= depth
        if deep and beta <= next_up(alpha):
            value = from_root(line.hit_value, ply)
            if bound_holds(line.hit_bound, value, alpha, beta):
                return value

    order_moves(line, ply, depth, count, hint)
    first = line.first[ply]
    floor = alpha
    best = -INFINITY
    best_index = 0
    for tried in range(count):
        index = most_promising(line, first, count)
        move = move_at(line, first + index)
        follow(line, ply, move)
        if line.minimax:
            value = -negamax(line, depth - 1, -INFINITY, INFINITY, ply + 1)
        elif tried == 0:
            value = -negamax(line, depth - 1, -beta, -alpha, ply + 1)
        else:
            value = -negamax(line, depth - 1, -next_up(alpha), -alpha, ply + 1)
            if alpha < value < beta:
                value = -negamax(line, depth - 1, -beta, -alpha, ply + 1)
        if line.stop != 0:
            return 0.0
        if value > best:
            best = value
            best_index = index
            if value >= beta:
                credit(line, ply, depth, move)
                break
            if value > alpha:
                alpha = value
                remember_line(line, ply, move)
    bound = LOWER if best >= beta else UPPER if best <= floor else EXACT
    store_table(line, key, from_here(best, ply), depth, bound, best_index)
    trace(line, ply, best, depth, bound)
    return best


@kernel(signature=SEARCH)
def search_root(line, depth, alpha, beta, ply):
    """Search all root moves; like `negamax`, and the best move so far stands in `line.best`.

    `root_values` holds what is known of each move: exact for all with `exact_root`, else exact
    for those that raised alpha and an upper bound for the others.
    """
    line.nodes += 1
    best = -INFINITY
    for i in range(line.root_count):
        move = line.root_moves[i]
        follow(line, ply, move)
        if line.exact_root or line.minimax:
            value = -negamax(line, depth - 1, -INFINITY, INFINITY, ply + 1)
        elif i == 0:
            value = -negamax(line, depth - 1, -beta, -alpha, ply + 1)
        else:
            value = -negamax(line, depth - 1, -next_up(alpha), -alpha, ply + 1)
            if alpha < value < beta:
                value = -negamax(line, depth - 1, -beta, -alpha, ply + 1)
        if line.stop != 0:
            break
        line.root_values[i] = value
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                line.best = i
                line.value = value
                remember_line(line, ply, move)
                if value >= beta:
                    break
    return best


@kernel
def best_to_front(line):
    """Move the best root move to the front; the others keep their order."""
    best = line.best
    move = line.root_moves[best]
    value = line.root_values[best]
    for i in range(best, 0, -1):
        line.root_moves[i] = line.root_moves[i - 1]
        line.root_values[i] = line.root_values[i - 1]
    line.root_moves[0] = move
    line.root_values[0] = value
    line.best = 0


@kernel
def search_window(line, depth, previous, spread):
    """One iteration: first in a window about the last value, then open on the side it left."""
    alpha = -INFINITY
    beta = INFINITY
    if spread > 0.0 and not (line.exact_root or line.minimax) and abs(previous) < PROVEN:
        alpha = previous - spread
        beta = previous + spread
    value = search_root(line, depth, alpha, beta, 0)
    if line.stop == 0 and value <= alpha:
        value = search_root(line, depth, -INFINITY, beta, 0)
    if line.stop == 0 and value >= beta:
        best_to_front(line)
        value = search_root(line, depth, alpha, INFINITY, 0)
        if line.stop == 0 and value <= alpha:  # the table answered the two windows differently
            value = search_root(line, depth, -INFINITY, INFINITY, 0)
    return value


@kernel
def decided(line, value, depth):
    """Whether deeper searches would find the same: the end of the game is in sight.

    With `exact_root` it has to be so after every root move.
    """
    count = line.root_count if line.exact_root else 0
    for i in range(count):
        if WIN - abs(line.root_values[i]) > depth:
            return False
    return WIN - abs(value) <= depth


@kernel(signature=void(RECORD))
def iterate(line):
    """Deepen until a limit is reached, the game is decided or `line.stop` is set.

    On return `root_moves[0]` is the best move, `value` its value, `pv[0]` the principal variation
    and `completed` the depth searched in full; `depth_value`, `depth_move` and `depth_nodes` hold
    the same for each depth. A stopped iteration counts only by a move found better in it, and with
    `exact_root` not at all: `settled_values` are those of the root moves at depth `completed`.
    """
    previous = 0.0
    spread = 0.0
    line.traced = line.trace_first
    for depth in range(1, line.depth_limit + 1):
        line.best = 0
        kept = line.traced
        value = search_window(line, depth, previous, spread)
        keep_trace(line, kept)
        if line.stop != 0 and line.exact_root and line.completed > 0:
            break
        best_to_front(line)
        if line.stop != 0:
            break
        for i in range(line.root_count):
            line.settled_values[i] = line.root_values[i]
        line.completed = depth
        line.depth_value[depth] = value
        line.depth_move[depth] = line.root_moves[0]
        line.depth_nodes[depth] = line.nodes
        # the swing of the last two iterations, for evaluators differ in scale
        spread = abs(value - previous) + 0.5 * spread if depth > 1 else 0.0
        previous = value
        if decided(line, value, depth):
            break

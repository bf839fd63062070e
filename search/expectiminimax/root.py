"""The root of a search with dice: root moves, deepening, filters and the work of threads.

As in `search.expectiminimax.expectimax`, the source serves native and plain searches. A search is
`begin`, and for each depth `share` and `settle`, which prepares the next one by `narrow`. `decide`
does all of it in one native call; with several threads each line runs `share` in a thread of its
own.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from numba import int64, void

from games.kernels import kernel, next_up, product
from search.expectiminimax.expectimax import (
    INFINITY,
    NONE,
    RECORD,
    ROLLING,
    average,
    back_up_outcomes,
    keep_best,
    order_all,
    ranking_value,
    resting_value,
)
from search.expectiminimax.native import (
    begin_shares,
    clear_root,
    float_at,
    get_outcomes,
    get_position,
    int_at,
    keep_outcomes,
    keep_root,
    list_moves,
    put_float,
    put_int,
    searched,
    set_position,
    static_outcomes,
    take,
    turn_outcomes,
)
from search.native import play
from search.root import deepen


@kernel
def sort_root(line, count):
    """Sort the first `count` root moves by value, best first, equals by their ranks."""
    for i in range(1, count):
        move = int_at(line.root_moves, i)
        rank = int_at(line.root_ranks, i)
        value = float_at(line.root_values, i)
        j = i - 1
        while j >= 0:
            other = float_at(line.root_values, j)
            if other > value or (other == value and int_at(line.root_ranks, j) < rank):
                break
            put_int(line.root_moves, j + 1, int_at(line.root_moves, j))
            put_int(line.root_ranks, j + 1, int_at(line.root_ranks, j))
            put_float(line.root_values, j + 1, other)
            j -= 1
        put_int(line.root_moves, j + 1, move)
        put_int(line.root_ranks, j + 1, rank)
        put_float(line.root_values, j + 1, value)


@kernel
def list_root(line, roll):
    """Make the root moves: the legal moves with a roll.

    For a decision at depth 0, or by little more, a prefilter chooses among them, because it knows
    what is best there.
    """
    count = list_moves(line, 0, roll)
    clear_root(line, count)
    static = line.depth_limit == 0 or line.decide_only > 1
    choose = line.sorter_at != 0 and line.exact_root == 0 and static
    for i in range(count):
        move = int_at(line.moves, i)
        put_int(line.root_moves, i, move)
        rank = i
        if line.shuffle != 0:
            rank = product(i + 1, line.shuffle) & 0xFFFFFFFF
        put_int(line.root_ranks, i, rank)
        if choose:
            play(line, 0, move)
            put_float(line.root_values, i, -ranking_value(line, 1))
    if choose and count > 0:
        sort_root(line, count)
        least = float_at(line.root_values, 0) - line.candidate_margin
        kept = 1
        while kept < count and float_at(line.root_values, kept) >= least:
            same = float_at(line.root_values, kept) == float_at(line.root_values, kept - 1)
            if kept >= line.candidates and not same:
                break
            kept += 1
        count = kept
    line.root_count = count


@kernel
def narrow(line, depth):
    """Prepare an iteration: keep the root moves that the filter of the previous depth passes.

    Returns whether an iteration is needed, which it is not if only one move is left to decide on.
    """
    keep = int_at(line.filter_keeps, depth - 1)
    if keep > 0 and line.exact_root == 0 and line.kept > 0:
        least = float_at(line.root_values, 0) - float_at(line.filter_margins, depth - 1)
        count = 1
        while count < min(keep, line.kept) and float_at(line.root_values, count) >= least:
            count += 1
        line.kept = min(count, line.kept)
    begin_shares(line)
    return line.decide_only == 0 or line.kept != 1


@kernel
def settle(line, depth):
    """Complete an iteration, unless the search is stopped: put the best root move in front.

    Outcomes are backed up for the best move, with `exact_root` for every move. The next iteration
    is prepared, if there is one. Returns the value of the depth.
    """
    value = line.value
    ply = 0
    if line.roll != ROLLING:
        sort_root(line, line.kept)
        value = float_at(line.root_values, 0)
        ply = 1
    elif depth > 0:
        value = average(line, line.root_values, 0)
    last = depth == line.depth_limit or line.horizon == 0
    with_outcomes = 0
    if line.want_outcomes != 0 and (last or line.limited != 0):
        with_outcomes = line.kept if ply == 1 and line.exact_root != 0 else 1
    for i in range(with_outcomes):
        horizon = line.horizon
        line.top = 0
        if ply == 1:
            play(line, 0, int_at(line.root_moves, i))
        back_up_outcomes(line, depth, ply)
        if ply == 1:
            turn_outcomes(line, 1)
        line.horizon = horizon
        if line.stop != 0:
            return value
        keep_outcomes(line, i, ply)
    keep_root(line, with_outcomes)
    if ply == 1:
        line.depth_move[depth] = int_at(line.root_moves, 0)
    line.value = value
    line.final = line.horizon == 0 or (depth < line.depth_limit and not narrow(line, depth + 1))
    return value


@kernel
def begin(line):
    """Search depth 0: value the position after each root move, or the position before its roll.

    Limits do not apply yet.
    """
    line.top = 0
    line.horizon = 0
    line.root_count = 0
    if line.roll == ROLLING:
        clear_root(line, line.rolls)
        line.value = searched(line, 0, -INFINITY, INFINITY, 0, ROLLING)
    else:
        list_root(line, line.roll)
        for i in range(line.root_count):
            play(line, 0, int_at(line.root_moves, i))
            line.nodes += 1
            put_float(line.root_values, i, -resting_value(line, 1))
    line.kept = line.root_count
    if line.roll != ROLLING and line.root_count == 0:
        line.stop = 1  # there is nothing to decide on


@kernel
def best_so_far(line):
    """Returns the best value of a root move in this iteration, by any thread."""
    best = -INFINITY
    for thread in range(line.threads):
        best = max(best, float_at(line.shared, 1 + thread))
    return best


@kernel(signature=void(RECORD, int64))
def share(line, depth):
    """Search root moves, or the rolls, that no thread has taken, until none is left.

    The value of a root move that is not the best is an upper bound, below the best value. With
    `exact_root`, or if a filter will compare values, all values are exact.
    """
    line.horizon = 0
    exact = line.exact_root != 0 or line.prune == NONE or int_at(line.filter_keeps, depth) > 0
    while line.stop == 0:
        i = take(line)
        line.top = 0
        if line.roll == ROLLING:
            if i >= line.rolls:
                break
            put_int(line.counts, i, 0)
            put_float(line.lowers, i, -INFINITY)
            value = 0.0
            if float_at(line.chances, i) > 0.0:
                value = searched(line, depth, -INFINITY, INFINITY, 0, i)
        else:
            if i >= line.kept:
                break
            # the window distinguishes moves equal to the best, of which the first counts
            alpha = -INFINITY if exact else -next_up(-best_so_far(line))
            play(line, 0, int_at(line.root_moves, i))
            value = -searched(line, depth, -INFINITY, -alpha, 1, ROLLING)
            if line.stop == 0 and value > float_at(line.shared, 1 + line.thread):
                put_float(line.shared, 1 + line.thread, value)
        if line.stop == 0:
            put_float(line.root_values, i, value)


@kernel
def search_depth(line, depth):
    """Returns the value of the root, searched `depth` plies deep, see `search.root`."""
    if depth == 0:
        begin(line)
    else:
        share(line, depth)
    return settle(line, depth) if line.stop == 0 else 0.0


@kernel
def decide(line, roll):
    """Search the root from depth 0 on, as `search.root.deepen` does, to move with a roll.

    On return `settled_moves` are the root moves of the last depth searched in full, best first, and
    `value` is the value of the best for the roll (or that of the position before its roll);
    `completed` is below 0 if nothing was valued.
    """
    line.roll = roll
    line.completed = -1
    deepen(line, 0)


@kernel(signature=void(RECORD[::1], int64))
def decide_first(lines, roll):
    """As `decide`, for the first of an array of lines."""
    decide(lines[0], roll)


@kernel
def decide_many(line, positions, rolls, moves, values):
    """Decide on a move for each of many positions and rolls.

    Returns the number of positions decided, which is smaller if a game is over or `line.stop` set.
    """
    for n in range(len(rolls)):
        set_position(line, positions, n)
        decide(line, rolls[n])
        if line.stop != 0 or line.completed < 0:
            return n
        moves[n] = int_at(line.settled_moves, 0)
        values[n] = line.value
    return len(rolls)


@kernel
def value_many(line, positions, depth, values):
    """Write the values of many positions before their rolls, searched to `depth`, to `values`.

    Returns the number of positions valued, which is smaller if `line.stop` is set.
    """
    for n in range(len(values)):
        set_position(line, positions, n)
        line.top = 0
        values[n] = searched(line, depth, -INFINITY, INFINITY, 0, ROLLING)
        if line.stop != 0:
            return n
    return len(values)


@kernel
def list_many(line, positions, keep, margin, counts, afters):
    """Write the positions after the moves with every roll, in order, to `afters`.

    keep, margin: a prefilter puts at most `keep` moves within `margin` of its best one first, and
        excludes others; `keep` is 0 for all moves.
    counts: [positions, rolls], for the number of moves written.

    Returns the number of positions written, or -1 if `afters` is too short.
    """
    written = 0
    for n in range(len(positions)):
        set_position(line, positions, n)
        for r in range(line.rolls):
            line.top = 0
            count = list_moves(line, 0, r)
            if keep > 0:
                order_all(line, 1, 0, 0, count)
                count = keep_best(line, 0, count, keep, margin)
            if written + count > len(afters):
                return -1
            for i in range(count):
                play(line, 0, int_at(line.moves, i))
                get_position(line, 1, afters, written + i)
            counts[n, r] = count
            written += count
    return written


@kernel
def rate_many(line, positions, outcomes):
    """Write the static outcomes of many positions to `outcomes`.

    Returns the number of positions rated, which is smaller if `line.stop` is set.
    """
    for n in range(len(positions)):
        set_position(line, positions, n)
        static_outcomes(line, 0)
        if line.stop != 0:
            return n
        get_outcomes(line, 0, outcomes, n)
    return len(positions)

"""Search with a model of the opponent: the one source for native and plain searches.

The side to move at the root maximises. At the opponent's positions his own search, on a second
line (`other`) that has his evaluator and shares the positions, values his replies, and the value is
the average of ours over them by their probabilities. It is expectiminimax with replies in place of
rolls.

Sources: Carmel and Markovitch 1993 (M*, the value of the reply that the opponent prefers), Donkers
and others 2001 (probabilistic opponent-model search).
"""

from __future__ import annotations

import math

from numba import float64, int64
from numba.extending import overload

from games.kernels import kernel, next_up
from games.kernels.record import record_reader
from games.values import PROVEN
from search.alphabeta.negamax import (
    INFINITY,
    finished_value,
    follow,
    negamax,
    quiesce,
    remember_line,
    repeated,
)
from search.alphabeta.root import decided
from search.line import LINE, MOST_PLIES
from search.native import (
    has_room,
    legal_moves,
    move_at,
    order_at,
    position_key,
    set_order,
    static_value,
)
from search.opponent.opponent import LEAST
from search.root import RECORD, settle

__all__ = ["search_depth"]

MODELLED = float64(RECORD, RECORD, float64, int64, int64, float64, int64, float64, int64)
LOG_LEAST = math.log(LEAST)
line_at = record_reader(LINE)


@kernel
def limited(value, win):
    """Returns a value that can be averaged: that of a proven win is `win`."""
    if value > PROVEN:
        return win
    return -win if value < -PROVEN else value


@kernel
def weigh(line, other, temperature, foresight, rest, win, ply, count):
    """Let the opponent value his replies at `ply`, `rest` plies deep; returns the best value.

    The values replace the move-ordering scores of the replies; those of replies that he never
    plays, -infinity.
    """
    first = line.first[ply]
    best = -INFINITY
    low = -INFINITY  # replies of at most this value are never played
    high = INFINITY
    if ply == 1 and foresight > 0 and temperature == 0.0 and line.completed > 1:
        # The last iteration asked him too, and he looks as far ahead as then: his best value is
        # known, and the table answers null windows.
        best = other.root_values[other.best]
        low = -next_up(-best)
        high = best
    for i in range(count):
        follow(line, ply, move_at(line, first + i))
        other.first[ply + 1] = 0
        other.node_limit = line.node_limit - line.nodes
        other.quiet_plies[ply + 1] = line.quiet_plies[ply + 1]
        value = min(-negamax(other, rest, -high, -low, ply + 1), high)
        if other.stop != 0:
            line.stop = 1
            return 0.0
        if temperature > 0.0:
            value = limited(value, win)
        set_order(line, first + i, value)
        if value > best:
            best = value
            low = best + temperature * LOG_LEAST if temperature > 0.0 else -next_up(-best)
    for i in range(count):
        if order_at(line, first + i) <= low:
            set_order(line, first + i, -INFINITY)
    if ply == 1:
        other.root_values[other.best] = best
    return best


@kernel(signature=MODELLED)
def modelled(line, other, temperature, foresight, replies, win, depth, alpha, ply):
    """Returns the value of the position at `ply` for its side to move, searched `depth` plies deep.

    temperature, win: as in `Opponent`, and the value of a win in averages.
    foresight: plies that the opponent looks ahead; 0 for as many as are left.
    replies: number of his replies on a line that are modelled; 0 for all. What follows is plain
        alpha-beta.
    alpha: a value for our side; a value of at most alpha may be an upper bound.

    Meaningless once `line.stop` is set.
    """
    if depth <= 0:
        return quiesce(line, -INFINITY, INFINITY, ply)
    if 0 < 2 * replies <= ply:
        line.node_limit -= other.nodes
        value = negamax(line, depth, alpha, INFINITY, ply)
        line.node_limit += other.nodes
        return value
    line.nodes += 1
    line.pv_length[ply] = 0
    if line.nodes + other.nodes >= line.node_limit:
        line.stop = 1
    if line.stop != 0:
        return 0.0
    if ply >= MOST_PLIES - 1 or not has_room(line, ply):
        return static_value(line, ply)
    key = position_key(line, ply)
    other.keys[other.earlier + ply] = key
    if line.repeats and repeated(line, key, ply):
        return 0.0
    count = legal_moves(line, ply)
    if count == 0:
        return finished_value(line, ply)
    first = line.first[ply]

    if ply % 2 == 0:  # our own move
        best = -INFINITY
        for i in range(count):
            move = move_at(line, first + i)
            follow(line, ply, move)
            value = -modelled(
                line, other, temperature, foresight, replies, win, depth - 1, max(alpha, best),
                ply + 1,
            )  # fmt: skip
            if line.stop != 0:
                return 0.0
            if value > best:
                best = value
                remember_line(line, ply, move)
        return best

    rest = foresight - 1 if foresight > 0 else depth - 1
    preferred = weigh(line, other, temperature, foresight, rest, win, ply, count)
    if line.stop != 0:
        return 0.0
    base = 0.0
    total = 0.0  # of the weights, and of the weighted differences from `base`
    differences = 0.0
    worst = -INFINITY  # for us: the greatest of the opponent's values
    played = 0
    proven = 0  # replies that win, less those that lose
    for i in range(count):
        theirs = order_at(line, first + i)
        if theirs == -INFINITY:
            continue
        move = move_at(line, first + i)
        follow(line, ply, move)
        floor = alpha if temperature == 0.0 else -INFINITY  # averages need exact values
        value = -modelled(
            line, other, temperature, foresight, replies, win, depth - 1, floor, ply + 1
        )
        if line.stop != 0:
            return 0.0
        worst = max(worst, value)
        proven += 1 if value > PROVEN else -1 if value < -PROVEN else 0
        value = limited(value, win)
        if played == 0:
            base = value
        played += 1
        if theirs == preferred:
            remember_line(line, ply, move)
        if temperature > 0.0:
            weight = math.exp((theirs - preferred) / temperature)
            total += weight
            differences += weight * (value - base)
    # Ties of an opponent who finds the best move count as the worst for us. So does a result that
    # all replies prove, which is no average.
    if temperature == 0.0 or (played == count and abs(proven) == count):
        return worst
    return base + differences / total


def other_line(line):
    """Returns the line of the opponent's searches."""
    return line.other


@overload(other_line)
def _other_line(line):
    return lambda line: line_at(line.other)


@kernel
def search_depth(line, depth):
    """Returns the value of the root, searched `depth` plies deep, see `search.root`.

    A stopped iteration does not count, unless it is the first.
    """
    other = other_line(line)
    line.best = 0
    best = -INFINITY
    for i in range(line.root_count):
        line.first[1] = 0
        other.best = i
        follow(line, 0, line.root_moves[i])
        floor = -INFINITY if line.exact_root else best
        value = -modelled(
            line, other, line.temperature, line.foresight, line.replies, line.win_value, depth - 1,
            floor, 1,
        )  # fmt: skip
        if line.stop != 0:
            break
        line.root_values[i] = value
        if value > best:
            best = value
            line.best = i
            remember_line(line, 0, line.root_moves[i])
            if line.completed == 0:
                line.value = value
    line.nodes += other.nodes
    other.nodes = 0
    if line.stop != 0 and line.completed > 0:
        line.best = 0
    first = other.root_values[line.best]  # in the order of our root moves
    for i in range(line.best, 0, -1):
        other.root_values[i] = other.root_values[i - 1]
    other.root_values[0] = first
    if line.stop == 0:
        line.value = best
        line.final = decided(line, best, depth)
    settle(line, depth)
    return best

"""The root of an alpha-beta search: one iteration, with an aspiration window.

One source for native and plain searches, like `search.alphabeta.negamax`, which searches the
positions below the root.

Sources: Slate and Atkin 1977 (aspiration windows).
"""

from __future__ import annotations

from games.kernels import kernel, next_up
from games.values import PROVEN, WIN
from search.alphabeta.negamax import (
    INFINITY,
    SEARCH,
    follow,
    negamax,
    remember_line,
)
from search.alphabeta.trace import keep_trace
from search.native import plies_left
from search.root import best_to_front, settle

#: Plies before the end of a game from which an iteration searches all of them. Ten cost less than
#: eight or two: values near the end order moves badly, and have to be computed.
LAST = 10


@kernel(signature=SEARCH)
def search_root(line, depth, alpha, beta, ply):
    """Returns the value of the root as `negamax` does; `line.best` is the best move so far.

    `root_values` holds a value for each move: with `exact_root` an exact one, else an exact one for
    moves that raised alpha and an upper bound for the others.
    """
    line.nodes += 1
    best = -INFINITY
    for i in range(line.root_count):
        move = line.root_moves[i]
        follow(line, ply, move)
        if line.exact_root:
            value = -negamax(line, depth - 1, -INFINITY, INFINITY, ply + 1)
        elif i == 0 or not line.null_window:
            value = -negamax(line, depth - 1, -beta, -alpha, ply + 1)
        else:
            value = -negamax(line, depth - 1, -next_up(alpha), -alpha, ply + 1)
            if alpha < value < beta:
                value = -negamax(line, depth - 1, -beta, -alpha, ply + 1)
        if line.stop != 0:
            if i > 0 and best < -PROVEN:  # the moves so far lose, but this one may not
                line.best = i
                before = line.depth_value[line.completed]
                line.value = before if line.completed > 0 else float("nan")
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
                    for other in range(i + 1, line.root_count):
                        line.root_values[other] = value
                    break
    return best


@kernel
def search_window(line, depth, previous, spread):
    """Returns the value of one iteration.

    depth: plies to search.
    previous: the value of the last iteration.
    spread: half the width of the aspiration window about `previous`; 0 for a full window.

    A value outside the window is searched again with the window open on that side. No window is
    wider than a win or loss within `depth` plies, because earlier iterations saw those in fewer.
    """
    most = WIN - depth if line.wins and not line.exact_root else INFINITY
    alpha = -most
    beta = most
    full = line.exact_root or not line.aspiration
    if spread > 0.0 and not full and abs(previous) < PROVEN:
        alpha = previous - spread
        beta = previous + spread
    value = search_root(line, depth, alpha, beta, 0)
    if line.stop == 0 and -most < value <= alpha:
        line.failed_low = 1
        value = search_root(line, depth, -most, beta, 0)
    if line.stop == 0 and beta <= value < most:
        best_to_front(line)
        value = search_root(line, depth, alpha, most, 0)
        if line.stop == 0 and -most < value <= alpha:  # the table answered the windows differently
            value = search_root(line, depth, -most, most, 0)
    if line.stop == 0 and value <= -most:
        line.value = value
    return value


@kernel
def decided(line, value, depth):
    """Returns whether the end of the game is in sight, so that deeper searches change nothing.

    With `exact_root` it must be in sight after every root move.
    """
    count = line.root_count if line.exact_root else 0
    for i in range(count):
        if WIN - abs(line.root_values[i]) > depth:
            return False
    return WIN - abs(value) <= depth


@kernel
def search_depth(line, depth):
    """Returns the value of the root, searched `depth` plies deep, see `search.root`.

    Once the rules say that the game ends within `LAST` plies more, the next iteration goes there.
    """
    begun = line.traced
    previous = line.depth_value[line.completed]
    spread = line.spread if depth > 1 else 0.0
    line.best = 0
    line.failed_low = 0
    horizon = line.horizon
    value = search_window(line, depth, previous, spread)
    keep_trace(line, begun)
    # the swing of the last two iterations, because evaluators differ in scale
    line.spread = abs(value - previous) + 0.5 * spread if depth > 1 else 0.0
    line.final = decided(line, value, depth) or line.horizon == horizon
    if depth + LAST >= plies_left(line, 0) and line.depth_limit >= plies_left(line, 0):
        line.following = max(line.following, line.depth_limit)
    settle(line, depth)
    return value

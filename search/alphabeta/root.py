"""The root of an alpha-beta search: iterative deepening with aspiration windows.

One source for native and plain searches, like `search.alphabeta.negamax`, which searches the
positions below the root.

Sources: Slate and Atkin 1977 (iterative deepening, aspiration windows).
"""

from __future__ import annotations

from numba import void

from games.kernels import kernel, next_up
from games.values import PROVEN, WIN
from search.alphabeta.line import NONE
from search.alphabeta.negamax import (
    INFINITY,
    RECORD,
    SEARCH,
    follow,
    negamax,
    remember_line,
)
from search.alphabeta.trace import keep_trace
from search.native import fade


@kernel
def begin(line, generation, earlier, count):
    """Start a search of the root position: reset all counters, results and the stop flag.

    generation: number that distinguishes this search's table entries from earlier ones.
    earlier: number of positions before the root in which repetitions are detected; their keys and
        that of the root are in `line.keys`, if the game can repeat positions.
    count: number of root moves, which are in `line.root_moves`.

    Killers are forgotten, and history is multiplied by a quarter.
    """
    line.generation = generation & 0xFF
    line.earlier = earlier
    line.quiet_plies[0] = earlier
    line.root_count = count
    line.nodes = 0
    line.stop = 0
    line.lookups = 0
    line.lookup_hits = 0
    line.probes = 0
    line.hits = 0
    line.completed = 0
    line.best = 0
    line.value = float("nan")
    line.pv_length[0] = 0
    line.excluded[:] = NONE  # a plain search that an evaluator ended may have left a move there
    fade(line)


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
    """Returns the value of one iteration.

    depth: plies to search.
    previous: the value of the last iteration.
    spread: half the width of the aspiration window about `previous`; 0 for a full window.

    A value outside the window is searched again with the window open on that side.
    """
    alpha = -INFINITY
    beta = INFINITY
    full = line.exact_root or not line.aspiration
    if spread > 0.0 and not full and abs(previous) < PROVEN:
        alpha = previous - spread
        beta = previous + spread
    value = search_root(line, depth, alpha, beta, 0)
    if line.stop == 0 and value <= alpha:
        line.failed_low = 1
        value = search_root(line, depth, -INFINITY, beta, 0)
    if line.stop == 0 and value >= beta:
        best_to_front(line)
        value = search_root(line, depth, alpha, INFINITY, 0)
        if line.stop == 0 and value <= alpha:  # the table answered the two windows differently
            value = search_root(line, depth, -INFINITY, INFINITY, 0)
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


@kernel(signature=void(RECORD))
def iterate(line):
    """Deepen until a limit is reached, the game is decided or `line.stop` is set.

    On return `root_moves[0]` is the best move, `value` its value, `pv[0]` the principal variation
    and `completed` the depth searched in full; `depth_value`, `depth_move` and `depth_nodes` hold
    the value, best move and nodes of each depth. A stopped iteration changes the result only if it
    found a better move, and with `exact_root` not at all: `settled_values` are the values of the
    root moves at depth `completed`.
    """
    previous = 0.0
    spread = 0.0
    line.traced = line.trace_first
    for depth in range(1, line.depth_limit + 1):
        line.best = 0
        line.failed_low = 0
        begun = line.traced
        value = search_window(line, depth, previous, spread)
        keep_trace(line, begun)
        if line.stop != 0 and line.exact_root and line.completed > 0:
            break
        best_to_front(line)
        if line.stop != 0:
            break
        for i in range(line.root_count):
            line.settled_values[i] = line.root_values[i]
        line.depth_value[depth] = value
        line.depth_move[depth] = line.root_moves[0]
        line.depth_nodes[depth] = line.nodes
        line.completed = depth  # last, because `search.time_control` looks on
        # the swing of the last two iterations, because evaluators differ in scale
        spread = abs(value - previous) + 0.5 * spread if depth > 1 else 0.0
        previous = value
        if decided(line, value, depth):
            break

"""What a selective search asks at a node: how much less deep a move is searched, what a shallow
search has to show to spare the deep one, how many moves are looked at.

A search with any of these may miss what a full one of the same depth sees; it sees further in the
same time. `search.alphabeta.techniques` says what each is and where it is from.
"""

from __future__ import annotations

from games.kernels import kernel
from search.native import move_at, move_slot, order_at, phase
from search.sizes import DEPTHS

INFINITY = float("inf")


@kernel
def reduction(line, depth, tried, wide):
    """How many plies less deep a quiet move is searched that is the `tried`-th, from 0 on."""
    plies = line.reductions[min(depth, DEPTHS - 1), min(tried, DEPTHS - 1)]
    return plies - 1 if wide and plies > 0 else plies


@kernel
def breadth(line, count, quiet):
    """How many moves are looked at."""
    return min(count, line.beam) if quiet and line.beam > 0 else count


@kernel
def check_row(depth):
    """The depth whose checks are made: where there is no room for them, the last as even or odd."""
    return depth if depth < DEPTHS else DEPTHS - 2 + depth % 2


@kernel
def check_depth(line, depth, check, ply):
    """Depth of a ProbCut check before a search of `depth` plies; 0 where there is none."""
    row = check_row(depth)
    shallow = int(line.cuts[phase(line, ply), row, check, 0])
    return shallow + depth - row if shallow > 0 else 0


@kernel
def check_bound(line, depth, check, ply, alpha, beta, above):
    """What the shallow value has to pass for the deep one to be likely to lie beyond the window.

    Deep values are a * shallow value + b, with an error whose standard deviation is sigma.
    """
    stage = phase(line, ply)
    deep = check_row(depth)
    a = line.cuts[stage, deep, check, 1]
    b = line.cuts[stage, deep, check, 2]
    margin = line.cut_width * line.cuts[stage, deep, check, 3]
    return (beta + margin - b) / a if above else (alpha - margin - b) / a


@kernel
def blame(line, ply, depth, count, index):
    """Take credit from the moves that were tried before the one that refuted the line before."""
    first = line.first[ply]
    left_out = line.left_out[ply] - 1  # it was not tried
    for i in range(count):
        if i != index and i != left_out and order_at(line, first + i) == -INFINITY:
            line.history[move_slot(move_at(line, first + i))] -= depth * depth

"""What a selective search asks at a node: how much less deep a move is searched, what a shallow
search has to show to spare the deep one, how many moves are looked at.

A search with any of these may miss what a full one of the same depth sees; it sees further in the
same time. `search.alphabeta.techniques` says what each is and where it is from.
"""

from __future__ import annotations

from games.kernels import kernel
from games.values import PROVEN
from search.alphabeta.line import NONE
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
def may_cut(line, depth, ply, quiet, wide, beta):
    """Whether ProbCut asks a shallow search about a position: quiet, with a narrow window."""
    if line.cut_width <= 0.0 or not quiet or wide or line.excluded[ply] != NONE:
        return False
    return abs(beta) < PROVEN and check_depth(line, depth, 0, ply) > 0


@kernel
def may_deepen(line, depth, ply, hint):
    """Whether internal iterative deepening looks for a first move: deep enough, with no hint."""
    return hint == NONE and depth >= line.deepen_from and line.excluded[ply] == NONE


@kernel
def may_be_singular(line, depth, ply, hint_depth, hint_value):
    """Whether the table's move may be better than all others, which a shallow search then asks.

    hint_depth, hint_value: how deep the table's entry is, and the value that the move has at least.
    A line is extended to twice the depth completed, at most.
    """
    return (
        depth >= line.singular_from
        and hint_depth >= depth - 3
        and line.excluded[ply] == NONE
        and abs(hint_value) < PROVEN
        and ply <= 2 * line.completed
    )


@kernel
def blame(line, ply, depth, count, index):
    """Take credit from the moves that were tried before the one that refuted the line before."""
    first = line.first[ply]
    excluded = line.excluded[ply]  # it was not tried
    for i in range(count):
        if i != index and i != excluded and order_at(line, first + i) == -INFINITY:
            line.history[move_slot(move_at(line, first + i))] -= depth * depth

"""Conditions of selective search: reductions, ProbCut and extensions.

A selective search may miss a line that a full search of the same depth sees, but looks further in
the same time. `search.alphabeta.techniques` describes each technique and names its source.
"""

from __future__ import annotations

from games.kernels import kernel
from games.values import PROVEN
from search.line import NONE
from search.native import phase
from search.sizes import DEPTHS


@kernel
def reduction(line, depth, tried, wide):
    """Returns the plies by which a quiet move is reduced; `tried` moves were searched before it."""
    plies = line.reductions[min(depth, DEPTHS - 1), min(tried, DEPTHS - 1)]
    return plies - 1 if wide and plies > 0 else plies


@kernel
def check_row(depth):
    """Returns the depth whose checks apply: `depth`, or the greatest with checks of its parity."""
    return depth if depth < DEPTHS else DEPTHS - 2 + depth % 2


@kernel
def check_depth(line, depth, check, ply):
    """Returns the depth of a ProbCut check before a search of `depth` plies; 0 for no check."""
    row = check_row(depth)
    shallow = int(line.cuts[phase(line, ply), row, check, 0])
    return shallow + depth - row if shallow > 0 else 0


@kernel
def check_bound(line, depth, check, ply, alpha, beta, above):
    """Returns the threshold for the shallow search.

    Beyond it the deep search probably fails high (with `above`) or low. Deep values are
    a * shallow value + b, with an error whose standard deviation is sigma.
    """
    stage = phase(line, ply)
    deep = check_row(depth)
    a = line.cuts[stage, deep, check, 1]
    b = line.cuts[stage, deep, check, 2]
    margin = line.cut_width * line.cuts[stage, deep, check, 3]
    return (beta + margin - b) / a if above else (alpha - margin - b) / a


@kernel
def may_cut(line, depth, ply, quiet, wide, beta):
    """Returns whether ProbCut applies: the position is quiet and the window narrow."""
    if line.cut_width <= 0.0 or not quiet or wide or line.excluded[ply] != NONE:
        return False
    return abs(beta) < PROVEN and check_depth(line, depth, 0, ply) > 0


@kernel
def may_be_singular(line, depth, ply, hint_depth, hint_value):
    """Returns whether to test by a shallow search that the table's move is singular.

    hint_depth: the depth of the table's entry.
    hint_value: a lower bound of the move's value.

    A line is extended to at most twice the completed depth.
    """
    return (
        depth >= line.singular_from
        and hint_depth >= depth - 3
        and line.excluded[ply] == NONE
        and abs(hint_value) < PROVEN
        and ply <= 2 * line.completed
    )

"""Conditions of selective search: reductions and extensions.

A selective search may miss a line that a full search of the same depth sees, but looks further in
the same time. `search.alphabeta.techniques` describes each technique and names its source.
"""

from __future__ import annotations

from games.kernels import kernel
from games.values import PROVEN
from search.line import NONE
from search.sizes import DEPTHS


@kernel
def reduction(line, depth, tried, wide):
    """Returns the plies by which a quiet move is reduced; `tried` moves were searched before it."""
    plies = line.reductions[min(depth, DEPTHS - 1), min(tried, DEPTHS - 1)]
    return plies - 1 if wide and plies > 0 else plies


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

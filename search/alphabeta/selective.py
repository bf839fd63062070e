"""Conditions of selective search: reductions, ProbCut, extensions, beams and the end of a line.

A selective search may miss a line that a full search of the same depth sees, but looks further in
the same time. `search.alphabeta.techniques` describes each technique and names its source.
"""

from __future__ import annotations

from games.kernels import kernel
from games.values import PROVEN
from search.alphabeta.line import MOST_PLIES, NONE
from search.native import (
    TACTICAL,
    has_room,
    legal_moves,
    move_at,
    phase,
    play,
    status,
)
from search.sizes import DEPTHS

#: Plies beyond the minimum ply at which every line ends: Samuel's 20 for a minimum of 3.
LONGEST_PAST = 17


@kernel
def reduction(line, depth, tried, wide):
    """Returns the plies by which a quiet move is reduced; `tried` moves were searched before it."""
    plies = line.reductions[min(depth, DEPTHS - 1), min(tried, DEPTHS - 1)]
    return plies - 1 if wide and plies > 0 else plies


@kernel
def breadth(line, count, quiet):
    """Returns the number of moves that are searched."""
    return min(count, line.beam) if quiet and line.beam > 0 else count


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
def may_deepen(line, depth, ply, hint):
    """Returns whether internal iterative deepening applies: deep enough, without a table move."""
    return hint == NONE and depth >= line.deepen_from and line.excluded[ply] == NONE


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


@kernel
def offers_exchange(line, ply):
    """Returns whether a move allows the opponent a capture that can be answered by a capture."""
    if ply + 2 >= MOST_PLIES or not has_room(line, ply):
        return False
    count = legal_moves(line, ply)
    for i in range(count):
        play(line, ply, move_at(line, line.first[ply] + i))
        if status(line, ply + 1) == TACTICAL and has_room(line, ply + 1):
            replies = legal_moves(line, ply + 1)
            for j in range(replies):
                play(line, ply + 1, move_at(line, line.first[ply + 1] + j))
                if status(line, ply + 2) == TACTICAL:
                    return True
    return False


@kernel
def goes_on(line, past, ply, kind):
    """Returns whether a line goes on `past` plies beyond the minimum ply (Samuel 1959).

    kind: the status of the position at `ply`.

    It goes on while a jump is pending; at the minimum ply also if the last move was a jump; and
    there and one ply later also if an exchange is on offer.
    """
    if kind == TACTICAL:
        return past < LONGEST_PAST
    if past == 0 and ply > 0 and status(line, ply - 1) == TACTICAL:
        return True
    return past <= 1 and offers_exchange(line, ply)

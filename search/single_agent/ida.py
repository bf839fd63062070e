"""Iterative-deepening A* (Korf 1985): one source, native or plain.

Depth-first searches that go no further than a bound on f = g + h; the next bound is the least f
beyond it.
"""

from __future__ import annotations

from games.kernels import kernel
from search.single_agent.native import child_estimate, children, cost_of, is_solved
from search.single_agent.record import MOST_PLIES

#: Sums of costs may be off by this much, as floats are.
ROUNDING = 1e-9


@kernel
def search_within(record, root_estimate, places, counts, following, spent, estimates):
    """Search with the bound `record.bound` from the position in block 0; whether a goal was found.

    places: [plies] the place in its block of the position at each ply, read where a goal was found.
    counts, following: [plies] how many children a ply has, and which of them is next.
    spent, estimates: [plies] cost so far, and heuristic value, of the position at each ply.

    Sets `record.goal` to the plies of the solution and `record.beyond` to the least f beyond the
    bound. Ends early where `stop` is set or `node_limit` positions have been expanded.
    """
    bound = record.bound + ROUNDING
    beyond = float("inf")
    ply = 0
    places[0], spent[0], estimates[0] = 0, 0.0, root_estimate
    counts[0], following[0] = children(record, 0, 0), 0
    record.expanded += 1
    while ply >= 0:
        place = following[ply]
        if place == counts[ply]:
            ply -= 1
            continue
        following[ply] = place + 1
        record.generated += 1
        cost = spent[ply] + cost_of(record, ply + 1, place)
        value = child_estimate(record, ply + 1, places[ply], place, estimates[ply])
        if cost + value > bound:
            beyond = min(beyond, cost + value)
            continue
        if is_solved(record, ply + 1, place):
            places[ply + 1], spent[ply + 1] = place, cost
            record.goal = ply + 1
            return True
        if ply + 2 >= MOST_PLIES:
            record.too_deep = 1
            continue
        if record.stop != 0 or record.expanded >= record.node_limit:
            return False
        ply += 1
        places[ply], spent[ply], estimates[ply] = place, cost, value
        counts[ply], following[ply] = children(record, ply, place), 0
        record.expanded += 1
        record.largest = max(record.largest, ply)
    record.beyond = beyond
    return False

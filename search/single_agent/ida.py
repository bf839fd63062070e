"""Iterative-deepening A* (Korf 1985): one source, native or plain.

It repeats a depth-first search limited by a bound on f = g + h; the next bound is the least f that
exceeded it.
"""

from __future__ import annotations

from games.kernels import kernel
from search.single_agent.native import float_of, int_of, promising
from search.single_agent.record import MOST_PLIES


@kernel
def search_within(record, root_estimate, places, counts, following, rests, spent):
    """Search within `record.bound` from the position in block 0. Returns whether it found a goal.

    root_estimate: heuristic value of the position.
    places: [plies] the place in its block of the position at each ply, valid if a goal was found.
    counts: [plies] number of children within the bound.
    following: [plies] the next of these children to visit.
    rests: [plies] number of children after the last one within the bound.
    spent: [plies] cost so far of the position at each ply.

    Sets `record.goal` to the plies of the solution and `record.beyond` to the least f beyond the
    bound. Ends early if `stop` is set or `node_limit` positions have been expanded.
    """
    record.beyond = float("inf")
    ply = 0
    places[0], spent[0], following[0] = 0, 0.0, 0
    counts[0] = promising(record, 0, 0, 0.0, root_estimate)
    rests[0] = record.rest
    record.expanded += 1
    while ply >= 0:
        place = following[ply]
        if place == counts[ply]:
            record.generated += rests[ply]
            ply -= 1
            continue
        following[ply] = place + 1
        counted = int_of(record, record.counted, ply + 1, place)
        record.generated += counted >> 1
        cost = spent[ply] + float_of(record, record.costs, ply + 1, place)
        if counted & 1:
            places[ply + 1], spent[ply + 1] = place, cost
            record.goal = ply + 1
            return True
        if ply + 2 >= MOST_PLIES:
            record.too_deep = 1
            continue
        if record.stop != 0 or record.expanded >= record.node_limit:
            return False
        ply += 1
        places[ply], spent[ply], following[ply] = place, cost, 0
        counts[ply] = promising(
            record, ply, place, cost, float_of(record, record.values, ply, place)
        )
        rests[ply] = record.rest
        record.expanded += 1
        record.largest = max(record.largest, ply)
    return False

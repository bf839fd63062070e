"""Best-first search with a table of all positions met: A*, weighted A*, greedy; native or plain.

Positions wait in buckets by f = cost_weight * g + heuristic_weight * h, rounded down to a fraction
of 1, and within equal f by h. The position that seems nearest to the goal is taken first, and of
equals the one that came last.
"""

from __future__ import annotations

from games.kernels import kernel
from search.single_agent.native import (
    back_of,
    cost_of,
    estimate,
    find,
    move_of,
    put_into_table,
    store,
    stored_children,
    stored_solved,
)

#: Number of levels for each unit of f, and of buckets in each level, one for each unit of h.
RESOLUTION, NEARNESS = 8, 128
#: Marks the cost of a node to which a cheaper path was found.
DEAD = -1.0


@kernel
def bucket_of(record, cost, value):
    """Returns the bucket of a position: the level of its f, and within it the bucket of its h.

    Positions beyond the last level wait in it until `spread` adds levels.
    """
    f = record.cost_weight * cost + record.heuristic_weight * value
    level = int(min(f * RESOLUTION + 1e-6, float(record.levels - 1)))
    return level * NEARNESS + int(min(value, NEARNESS - 1.0))


@kernel
def store_root(record, slots):
    """Store the position of block 0; returns its number, 0."""
    find(record, slots, 0, 0)
    return store(record, slots, 0, 0)


@kernel
def fill_table(record, slots, costs):
    """Put all stored positions that are still useful into an empty table."""
    for node in range(record.nodes):
        if costs[node] >= 0.0:
            put_into_table(record, slots, node)


@kernel
def insert(record, slots, block, place, cost, value, parent, nodes, moves, costs, values, heads):
    """Store a position of a block in its bucket; rows of `nodes` are (parent, next in bucket)."""
    node = store(record, slots, block, place)
    moves[node, 0] = move_of(record, block, place)
    moves[node, 1] = back_of(record, block, place)
    costs[node], values[node] = cost, value
    bucket = bucket_of(record, cost, value)
    nodes[node, 0], nodes[node, 1] = parent, heads[bucket]
    heads[bucket] = node
    return bucket


@kernel
def spread(record, nodes, costs, values, old, heads):
    """Move all positions from the buckets `old` into `heads`, which has more levels."""
    for bucket in range(len(old) - NEARNESS, len(old)):
        node = old[bucket]
        while node >= 0:
            following = nodes[node, 1]
            if costs[node] >= 0.0:
                new = bucket_of(record, costs[node], values[node])
                nodes[node, 1] = heads[new]
                heads[new] = node
            node = following


@kernel
def best_first(record, slots, nodes, moves, costs, values, heads, lowest):
    """Expand waiting positions until a goal is met or none waits. Returns whether a goal was met.

    Sets `record.goal` to the number of the goal's node. Ends early if `stop` is set, `node_limit`
    positions have been expanded, no room is left (`full`) or all levels but the last are empty;
    `record.lowest` is then the bucket to continue from.

    lowest: all buckets below this one are empty.
    """
    waiting = record.waiting
    while lowest < (record.levels - 1) * NEARNESS:
        node = heads[lowest]
        if node < 0:
            lowest += 1
            continue
        if record.nodes + record.most_moves > record.room:
            record.full = 1
            break
        heads[lowest] = nodes[node, 1]
        waiting -= 1
        cost = costs[node]
        if cost < 0.0:
            continue
        if stored_solved(record, node):
            record.goal = node
            return True
        if record.stop != 0 or record.expanded >= record.node_limit:
            return False
        record.expanded += 1
        count = stored_children(record, node, moves[node, 1])
        for place in range(count):
            record.generated += 1
            total = cost + cost_of(record, 1, place)
            known = find(record, slots, 1, place)
            if known >= 0:
                if costs[known] <= total:
                    continue
                costs[known] = DEAD
            value = estimate(record, 1, place)
            bucket = insert(
                record, slots, 1, place, total, value, node, nodes, moves, costs, values, heads
            )
            lowest = min(lowest, bucket)
            waiting += 1
        record.largest = max(record.largest, waiting)
        record.waiting, record.lowest = waiting, lowest  # for reports on the way
    record.waiting, record.lowest = waiting, lowest
    return False

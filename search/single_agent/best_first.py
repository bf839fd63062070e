"""Best-first search with a table of all positions met: A*, weighted A*, greedy; native or plain.

Positions wait in buckets: one for each pair of f = cost_weight * g + heuristic_weight * h and h, as
exactly as these numbers are known, and a heap holds the buckets. The least f is taken first, of
equals the least h, and of these the position that came last. Where costs are whole numbers there
are few buckets and the heap is small; where they are any numbers a bucket holds one position.
"""

from __future__ import annotations

from games.kernels import kernel
from search.single_agent.native import (
    bucket_hash,
    estimate,
    expect,
    find,
    float_of,
    int_of,
    put_into_table,
    store,
    stored_children,
    stored_solved,
)

#: Marks the cost of a node to which a cheaper path was found.
DEAD = -1.0
#: The first node of a bucket that is empty, and of one that has left the heap too.
EMPTY, AWAY = -1, -2


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
def slot_of(record, keys, places, f, value):
    """Returns the slot of `places` that holds a bucket's number plus 1, or 0 without one."""
    mask = len(places) - 1
    slot = bucket_hash(record, f, value) & mask
    while places[slot] != 0:
        bucket = places[slot] - 1
        if keys[bucket, 0] == f and keys[bucket, 1] == value:
            break
        slot = (slot + 1) & mask
    return slot


@kernel
def fill_places(record, keys, places):
    """Put all buckets into an empty table."""
    for bucket in range(record.buckets):
        places[slot_of(record, keys, places, keys[bucket, 0], keys[bucket, 1])] = bucket + 1


@kernel
def is_before(keys, one, other):
    """Returns whether the positions of a bucket are taken before those of another."""
    if keys[one, 0] == keys[other, 0]:
        return keys[one, 1] < keys[other, 1]
    return keys[one, 0] < keys[other, 0]


@kernel
def join_heap(record, keys, heap, bucket):
    """Put a bucket into the heap."""
    place = record.heaped
    record.heaped += 1
    while place > 0:
        above = (place - 1) >> 1
        if not is_before(keys, bucket, heap[above]):
            break
        heap[place] = heap[above]
        place = above
    heap[place] = bucket


@kernel
def leave_heap(record, keys, heap):
    """Take the first bucket out of the heap."""
    record.heaped -= 1
    size = record.heaped
    last = heap[size]
    place = 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and is_before(keys, heap[below + 1], heap[below]):
            below += 1
        if not is_before(keys, heap[below], last):
            break
        heap[place] = heap[below]
        place = below
    heap[place] = last


@kernel
def begin(record, values, keys, heads, heap, places):
    """Let the first position wait, in the first bucket."""
    values[0] = estimate(record, 0, 0)
    keys[0, 0], keys[0, 1] = record.heuristic_weight * values[0], values[0]
    heads[0], heap[0] = 0, 0
    record.waiting, record.buckets, record.heaped = 1, 1, 1
    fill_places(record, keys, places)


@kernel
def best_first(record, slots, nodes, moves, costs, values, keys, heads, heap, places):
    """Expand waiting positions until a goal is met or none waits. Returns whether a goal was met.

    Sets `record.goal` to the number of the goal's node. Ends early if `stop` is set, `node_limit`
    positions have been expanded or no room is left (`full`), and can then be called again.

    nodes: (parent, next in its bucket) of each node.
    keys: (f, h) of each bucket.
    heads: the first node of each bucket.
    heap: the buckets; `record.heaped` of them.
    places: the table of buckets by (f, h).
    """
    waiting = record.waiting
    while record.heaped > 0:
        bucket = heap[0]
        node = heads[bucket]
        if node < 0:
            heads[bucket] = AWAY
            leave_heap(record, keys, heap)
            continue
        most = record.most_moves
        if record.nodes + most > record.room or record.buckets + most > len(heads):
            record.full = 1
            break
        heads[bucket] = nodes[node, 1]
        waiting -= 1
        cost = costs[node]
        if cost < 0.0:
            continue
        record.least = max(record.least, keys[bucket, 0])
        if stored_solved(record, node):
            record.goal = node
            return True
        if record.stop != 0 or record.expanded >= record.node_limit:
            return False
        record.expanded += 1
        count = stored_children(record, node, moves[node, 1])
        expect(record, slots, 1, count)
        for place in range(count):
            record.generated += 1
            total = cost + float_of(record, record.costs, 1, place)
            known = find(record, slots, 1, place)
            if known >= 0:
                if costs[known] <= total:
                    continue
                costs[known] = DEAD
            value = estimate(record, 1, place)
            new = store(record, slots, 1, place)
            nodes[new, 0], moves[new, 0] = node, int_of(record, record.moves, 1, place)
            moves[new, 1] = int_of(record, record.backs, 1, place)
            costs[new], values[new] = total, value
            f = record.cost_weight * total + record.heuristic_weight * value
            slot = slot_of(record, keys, places, f, value)
            bucket = places[slot] - 1
            if bucket < 0:
                bucket = record.buckets
                record.buckets += 1
                places[slot] = bucket + 1
                keys[bucket, 0], keys[bucket, 1], heads[bucket] = f, value, AWAY
            if heads[bucket] == AWAY:
                heads[bucket] = EMPTY
                join_heap(record, keys, heap, bucket)
            nodes[new, 1], heads[bucket] = heads[bucket], new
            waiting += 1
        record.largest = max(record.largest, waiting)
        record.waiting = waiting  # for reports on the way
    record.waiting = waiting
    return False

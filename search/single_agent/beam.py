"""Beam search, breadth first with only the best positions of each depth; native or plain."""

from __future__ import annotations

from games.kernels import kernel
from search.single_agent.native import (
    estimate,
    expect,
    find,
    float_of,
    int_of,
    is_solved,
    store,
    stored_children,
)


@kernel
def next_layer(record, slots, nodes, moves, costs, values, layer):
    """Expand the nodes of a layer and store their new children. Returns whether a goal was met.

    `record.goal` is then the goal's node. Begins at place `record.begun` of the layer, and sets it
    if it ends early because `stop` is set, `node_limit` positions have been expanded or no room is
    left (`full`).

    values: [nodes] the f of each new node, which this function writes.
    """
    for place in range(record.begun, len(layer)):
        node = layer[place]
        record.begun = place
        if record.stop != 0 or record.expanded >= record.node_limit:
            return False
        if record.nodes + record.most_moves > record.room:
            record.full = 1
            return False
        record.expanded += 1
        count = stored_children(record, node, moves[node, 1])
        expect(record, slots, 1, count)
        for child in range(count):
            record.generated += 1
            if find(record, slots, 1, child) >= 0:
                continue
            total = costs[node] + float_of(record, record.costs, 1, child)
            new = store(record, slots, 1, child)
            moves[new, 0] = int_of(record, record.moves, 1, child)
            moves[new, 1] = int_of(record, record.backs, 1, child)
            nodes[new, 0], costs[new] = node, total
            if is_solved(record, 1, child):
                record.goal = new
                return True
            value = estimate(record, 1, child)
            values[new] = record.cost_weight * total + record.heuristic_weight * value
    return False

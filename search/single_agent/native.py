"""Binds a problem and a heuristic into the search for a goal; no other module knows how.

As in `search.native`, each function's Python body serves the plain search, and compiled code gets
the native function below it, which enters generated code by an address in the record.
"""

from __future__ import annotations

from typing import Any

from games.kernels import product
from games.kernels.bits import native
from games.kernels.memory import (
    load_float,
    load_int,
    native_function,
    prefetch,
    read_position,
    store_float,
    store_int,
)
from games.problem import KernelProblem
from search.native import call_float, call_int, key_address
from search.single_agent.record import NONE, PlainSearch

# --- blocks of children ----------------------------------------------------------------------


def _write_children(record, position, back, block):
    problem = record.problem
    moves = [move for move in problem.legal_moves(position) if move != back]
    record.moves[block] = moves
    record.positions[block] = [problem.play(position, move) for move in moves]
    record.backs[block] = [_back(problem, position, move) for move in moves]
    record.costs[block] = [problem.cost(position, move) for move in moves]
    return len(moves)


def _back(problem, position, move):
    try:
        return problem.undo(position, move)
    except TypeError:
        return NONE


def int_of(record, rows, block, place):
    """Returns the entry for a position of a block in one of the record's lists of integers."""
    return rows[block][place]


@native(int_of)
def _int_of(record, rows, block, place):
    return load_int(rows, record.most_moves * block + place)


def float_of(record, rows, block, place):
    """Returns the element of a list of floats."""
    return rows[block][place]


@native(float_of)
def _float_of(record, rows, block, place):
    return load_float(rows, record.most_moves * block + place)


def read_move(record: Any, block: int, place: int) -> Any:
    """Returns the move that led to a position of a block, when called from Python."""
    if isinstance(record, PlainSearch):
        return record.moves[block][place]
    return int(record.pinned["moves"][record.most_moves * block + place])


def is_solved(record, block, place):
    """Returns whether a position of a block is a goal."""
    return record.problem.solved(record.positions[block][place])


@native(is_solved)
def _is_solved(record, block, place):
    here = record.most_moves * block + place
    return call_int(record.solved_at, (record.positions + 8 * record.width * here,)) != 0


def estimate(record, block, place):
    """Returns the heuristic's value of a position of a block, at least 0."""
    return max(float(record.evaluate(record.positions[block][place])), 0.0)


@native(estimate)
def _estimate(record, block, place):
    here = record.most_moves * block + place
    position = record.positions + 8 * record.width * here
    return max(call_float(record.evaluate_at, (record.evaluator, position)), 0.0)


def promising(record, block, place, spent, before):
    """Put the children within `record.bound` into the next block. Returns their number.

    spent: cost of the path to the position.
    before: heuristic value of the position.

    The children's heuristic values go to `values`. For each child, `counted` is twice the number of
    children visited since the previous one within the bound, plus 1 if the child is a goal. Sets
    `record.beyond` to the least f beyond the bound, and `record.rest` to the number of children
    after the last one within it.
    """
    problem, position = record.problem, record.positions[block][place]
    back, there = record.backs[block][place], block + 1
    for rows in (record.moves, record.positions, record.backs, record.costs, record.values):
        rows[there] = []
    record.counted[there] = []
    looked_at = 0
    for move in problem.legal_moves(position):
        if move == back:
            continue
        looked_at += 1
        after, step = problem.play(position, move), problem.cost(position, move)
        value = max(float(record.evaluate(after)), 0.0)
        if spent + step + value > record.bound:
            record.beyond = min(record.beyond, spent + step + value)
            continue
        record.moves[there].append(move)
        record.positions[there].append(after)
        record.backs[there].append(_back(problem, position, move))
        record.costs[there].append(step)
        record.values[there].append(value)
        record.counted[there].append(2 * looked_at + problem.solved(after))
        looked_at = 0
    record.rest = looked_at
    return len(record.moves[there])


@native(promising)
def _promising(record, block, place, spent, before):
    here = record.most_moves * block + place
    there = 8 * record.most_moves * (block + 1)
    store_float(record.report, 0, record.beyond)
    count = call_int(
        record.promising_at,
        (
            record.positions + 8 * record.width * here,
            load_int(record.backs, here),
            record.positions + record.width * there,
            record.moves + there,
            record.backs + there,
            record.costs + there,
            record.values + there,
            record.counted + there,
            record.evaluate_at,
            record.evaluator,
            record.report,
            spent,
            before,
            record.bound,
        ),
    )
    record.beyond = load_float(record.report, 0)
    record.rest = load_int(record.report, 1)
    return count


# --- stored positions ------------------------------------------------------------------------


def stored_children(record, node, back):
    """Put the children of a stored position into block 1. Returns their number."""
    return _write_children(record, record.stored[node], back, 1)


@native(stored_children)
def _stored_children(record, node, back):
    there = 8 * record.most_moves
    return call_int(
        record.children_at,
        (
            record.stored + 8 * record.width * node,
            back,
            record.positions + record.width * there,
            record.moves + there,
            record.backs + there,
            record.costs + there,
        ),
    )


def stored_solved(record, node):
    """Returns whether a stored position is a goal."""
    return record.problem.solved(record.stored[node])


@native(stored_solved)
def _stored_solved(record, node):
    return call_int(record.solved_at, (record.stored + 8 * record.width * node,)) != 0


def find(record, slots, block, place):
    """Returns the stored position equal to one of a block; -1 if it is new, and `store` adds it."""
    return record.table.get(record.positions[block][place], -1)


@native(find)
def _find(record, slots, block, place):
    width = record.width
    position = record.positions + 8 * width * (record.most_moves * block + place)
    slot = call_int(record.key_at, (position,)) & record.mask
    while slots[slot] != 0:
        node = slots[slot] - 1
        stored = record.stored + 8 * width * node
        same = True
        for i in range(width):
            if load_int(stored, i) != load_int(position, i):
                same = False
                break
        if same:
            record.slot = slot
            return node
        slot = (slot + 1) & record.mask
    record.slot = slot
    return -1


def expect(record, slots, block, count):
    """Prefetch what `find` reads first for each of the first `count` positions of a block."""


@native(expect)
def _expect(record, slots, block, count):
    width = record.width
    for here in range(record.most_moves * block, record.most_moves * block + count):
        key = call_int(record.key_at, (record.positions + 8 * width * here,))
        prefetch(slots.ctypes.data, key & record.mask)


def store(record, slots, block, place):
    """Store a position of a block in the slot that `find` reached last. Returns its number."""
    node = record.nodes
    record.nodes += 1
    record.stored.append(record.positions[block][place])
    record.table[record.positions[block][place]] = node
    return node


@native(store)
def _store(record, slots, block, place):
    node = record.nodes
    record.nodes += 1
    width = record.width
    position = record.positions + 8 * width * (record.most_moves * block + place)
    stored = record.stored + 8 * width * node
    for i in range(width):
        store_int(stored, i, load_int(position, i))
    slots[record.slot] = node + 1
    return node


def put_into_table(record, slots, node):
    """Put a stored position into the table; in a plain search it is already there."""


@native(put_into_table)
def _put_into_table(record, slots, node):
    key = call_int(record.key_at, (record.stored + 8 * record.width * node,))
    slot = key & record.mask
    while slots[slot] != 0:
        slot = (slot + 1) & record.mask
    slots[slot] = node + 1


# --- buckets ---------------------------------------------------------------------------------


def bucket_hash(record, f, value):
    """Returns an integer that depends on both numbers."""
    return hash((f, value))


@native(bucket_hash)
def _bucket_hash(record, f, value):
    store_float(record.report, 0, f)
    store_float(record.report, 1, value)
    mixed = product(load_int(record.report, 0), 0x1E3779B97F4A7C15)
    mixed ^= product(load_int(record.report, 1), 0x3C79AC492BA7B653)
    # of whole numbers only the upper bits differ
    return product(mixed ^ (mixed >> 32), 0x1E3779B97F4A7C15) >> 32


# --- generated code for a problem ------------------------------------------------------------


def problem_addresses(problem: KernelProblem, change: Any = None) -> dict[str, int]:
    """Returns the addresses of the native code between the search and a problem's kernels.

    change: the kernel `change(position, move)` of the heuristic; None if it does not have one.
    """
    rules = problem.problem
    width = len(problem.start())
    position = read_position(width)
    stores = "\n".join(
        f"        store_int(target, {width} * count + {i}, int(after[{i}]))" for i in range(width)
    )
    cost = "float(cost(position, move))" if rules.cost else "1.0"
    undo = "int(undo(position, move))" if rules.undo else str(NONE)
    text = f"""
def children_at(source, back, target, moves, backs, costs):
    position = {position}
    listed = array_at(int64_pointer(moves), ({problem.most_moves},))
    count = 0
    for i in range(int(legal_moves(position, listed))):
        move = listed[i]
        if move == back:
            continue
        after = play(position, move)
{stores}
        store_int(moves, count, move)
        store_int(backs, count, {undo})
        store_float(costs, count, {cost})
        count += 1
    return count
"""
    scope = {"legal_moves": rules.legal_moves, "play": rules.play}
    scope |= {
        name: kernel
        for name, kernel in (("cost", rules.cost), ("undo", rules.undo))
        if kernel is not None
    }
    keep = f"""
        store_int(moves, count, move)
        store_int(backs, count, {undo})
        store_float(costs, count, step)
        store_float(values, count, value)
        store_int(counted, count, 2 * looked_at + (1 if solved(after) else 0))
        looked_at = 0
        count += 1"""
    play = f"after = play(position, move)\n{stores}"
    if change is None:
        valued = f"""{play}
        value = max(call_float(evaluate_at, (evaluator, target + {8 * width} * count)), 0.0)"""
        placed = ""
    else:
        valued, placed = "value = before + float(change(position, move))", play
    promising = f"""
def promising_at(source, back, target, moves, backs, costs, values, counted,
                 evaluate_at, evaluator, report, spent, before, bound):
    position = {position}
    listed = array_at(int64_pointer(moves), ({problem.most_moves},))
    count, looked_at, beyond = 0, 0, load_float(report, 0)
    for i in range(int(legal_moves(position, listed))):
        move = listed[i]
        if move == back:
            continue
        looked_at += 1
        step = {cost}
        {valued}
        if spent + step + value > bound:
            beyond = min(beyond, spent + step + value)
            continue
        {placed}{keep}
    store_float(report, 0, beyond)
    store_int(report, 1, looked_at)
    return count
"""
    names = {**scope, "solved": rules.solved, "call_float": call_float}
    if change is not None:
        names["change"] = change
    solved = f"def solved_at(source):\n    return 1 if solved({position}) else 0\n"
    return {
        "children_at": native_function(
            "children_at", text, scope, "int64(int64, int64, int64, int64, int64, int64)"
        ),
        "promising_at": native_function(
            "promising_at",
            promising,
            names,
            f"int64({'int64, ' * 11}float64, float64, float64)",
        ),
        "solved_at": native_function("solved_at", solved, {"solved": rules.solved}, "int64(int64)"),
        "key_at": key_address(rules.key, width),
    }

"""Binds a game with dice, its evaluators and memory into the search.

As in `search.native`, each function's Python body serves the plain search (a `PlainDiceLine`, any
Python objects), and compiled code gets the native function below it.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from games.contract import DiceGame
from games.kernels import float_bits, kernel, product, uncompiled
from games.kernels.bits import native
from games.kernels.memory import (
    load_float,
    load_int,
    native_function,
    read_arrays,
    read_position,
    store_int,
)
from games.kernels.record import address_of, record_reader
from search.expectiminimax.line import DICE_LINE, RATES
from search.lookups.lookup import Lookup
from search.native import call_float, call_int, rules_addresses, static_value
from search.sizes import WIDTH

__all__ = ["dice_addresses", "known_address", "search_address"]


# --- memory: an address in native code, a list in plain ------------------------------------------


def int_at(memory, place):
    """Returns an integer (or, in a plain search, a move) of a list."""
    return memory[place]


@native(int_at)
def _int_at(memory, place):
    return load_int(memory, place)


def put_int(memory, place, value):
    """Change an integer, or a move, of a list."""
    memory[place] = value


@native(put_int)
def _put_int(memory, place, value):
    return store_int(memory, place, value)


def float_at(memory, place):
    """Returns a number of a list."""
    return memory[place]


@native(float_at)
def _float_at(memory, place):
    return load_float(memory, place)


def put_float(memory, place, value):
    """Change a number of a list."""
    memory[place] = value


@native(put_float)
def _put_float(memory, place, value):
    return store_int(memory, place, float_bits(value))


# --- the rules -----------------------------------------------------------------------------------


def list_moves(line, ply, roll):
    """Put the legal moves with a roll on the stack from `line.top` on.

    Returns their number. The gains that the rules state go to the same places of `line.order`.
    """
    position, top = line.positions[ply], line.top
    moves = line.game.legal_moves(position, roll)
    line.moves[top:] = moves
    line.order[top:] = [line.game.gain(position, move) for move in moves]
    return len(moves)


@native(list_moves)
def _list_moves(line, ply, roll):
    source, top = line.positions + 8 * WIDTH * ply, 8 * line.top
    return call_int(line.legal_at, (source, roll, line.moves + top, line.order + top))


def outcome_here(line, ply):
    """Returns the outcome of the position for the side to move; NaN if the game is not over."""
    value = line.game.outcome(line.positions[ply])
    return float("nan") if value is None else float(value)


@native(outcome_here)
def _outcome_here(line, ply):
    return call_float(line.outcome_at, (line.positions + 8 * WIDTH * ply,))


def search_key(line, ply, depth):
    """Returns the key of a search of the position to a depth: 63 bits; plain, a pair."""
    return line.positions[ply], depth


@native(search_key)
def _search_key(line, ply, depth):
    key = call_int(line.key_at, (line.positions + 8 * WIDTH * ply,))
    return (key ^ product(depth, 0x1E3779B97F4A7C15)) & 0x7FFFFFFFFFFFFFFF


def sorting_value(line, ply):
    """Returns the position's value by the prefilter."""
    return float(line.sort(line.positions[ply]))


@native(sorting_value)
def _sorting_value(line, ply):
    return call_float(line.sorter_at, (line.sorter, line.positions + 8 * WIDTH * ply))


# --- the search itself, entered by address as well: compiled once, and not with each that calls it


def searched(line, depth, alpha, beta, ply, roll):
    """Returns the value of `search.expectiminimax.expectimax.expectiminimax`."""
    return line.search(line, depth, alpha, beta, ply, roll)


@native(searched)
def _searched(line, depth, alpha, beta, ply, roll):
    return call_float(
        line.search_at,
        (address_of(line), int(depth), float(alpha), float(beta), int(ply), int(roll)),
    )


def search_address(expectiminimax: Any) -> int:
    """Returns the address of the native search, for `searched`."""
    text = """
def search_at(address, depth, alpha, beta, ply, roll):
    return expectiminimax(line_at(address), depth, alpha, beta, ply, roll)
"""
    scope = {"expectiminimax": expectiminimax, "line_at": record_reader(DICE_LINE)}
    signature = "float64(int64, int64, float64, float64, int64, int64)"
    return native_function("search_at", text, scope, signature)


# --- the root ------------------------------------------------------------------------------------


def clear_root(line, count):
    """Make room for `count` root moves."""
    line.root_moves, line.root_values, line.root_ranks = [0] * count, [0.0] * count, [0] * count


@native(clear_root)
def _clear_root(line, count):
    return None


def take(line):
    """Returns the number of the next root move, or roll, that no thread has taken yet."""
    line.shared[0] += 1
    return int(line.shared[0]) - 1


@native(take)
def _take(line):
    return fetch_add(line.shared, 1)


@intrinsic
def fetch_add(typingctx: Any, address: Any, number: Any) -> Any:
    """Add to the integer at an address atomically. Returns its previous value."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("add", place, arguments[1], "monotonic")

    return types.int64(types.int64, types.int64), codegen


def begin_shares(line):
    """Reset what threads share: no root move is taken, and no value is known."""
    line.shared[:] = [0, -float("inf")]


@native(begin_shares)
def _begin_shares(line):
    store_int(line.shared, 0, 0)
    for thread in range(line.threads):
        store_int(line.shared, 1 + thread, float_bits(-float("inf")))


def keep_outcomes(line, number, ply):
    """Keep the outcomes at `ply` as those of root move `number`."""
    line.root_outcomes[number:] = [line.outcomes[ply][:]]


@native(keep_outcomes)
def _keep_outcomes(line, number, ply):
    for i in range(line.outcome_count):
        value = load_int(line.outcomes, ply * line.outcome_count + i)
        store_int(line.root_outcomes, number * line.outcome_count + i, value)


def keep_root(line, with_outcomes):
    """Keep the root moves and values, and the outcomes of the first moves, as settled."""
    line.settled_moves, line.settled_values = line.root_moves[:], line.root_values[:]
    line.settled_outcomes = line.root_outcomes[:with_outcomes]


@native(keep_root)
def _keep_root(line, with_outcomes):
    for i in range(line.root_count):
        store_int(line.settled_moves, i, load_int(line.root_moves, i))
        store_int(line.settled_values, i, load_int(line.root_values, i))
    for i in range(with_outcomes * line.outcome_count):
        store_int(line.settled_outcomes, i, load_int(line.root_outcomes, i))


def set_position(line, positions, number):
    """Make one of many positions the root."""
    line.positions[0] = positions[number]


@native(set_position)
def _set_position(line, positions, number):
    for i in range(line.width):
        store_int(line.positions, i, positions[number, i])


def get_position(line, ply, positions, number):
    """Copy the position at a ply into an array of positions."""
    positions[number] = line.positions[ply]


@native(get_position)
def _get_position(line, ply, positions, number):
    for i in range(line.width):
        positions[number, i] = load_int(line.positions, ply * WIDTH + i)


# --- outcomes ------------------------------------------------------------------------------------


def get_outcomes(line, ply, outcomes, number):
    """Write the outcomes at a ply to the row `number` of `outcomes`."""
    outcomes[number] = line.outcomes[ply]


@native(get_outcomes)
def _get_outcomes(line, ply, outcomes, number):
    for i in range(line.outcome_count):
        outcomes[number, i] = load_float(line.outcomes, ply * line.outcome_count + i)


def static_outcomes(line, ply):
    """Write the outcomes of the position: of a finished game, a lookup or the evaluator."""
    position = line.positions[ply]
    if line.game.outcome(position) is None:
        line.outcomes[ply] = [float(p) for p in line.find_outcomes(position)]
    else:
        line.outcomes[ply] = [0.0] * line.outcome_count
        uncompiled(line.game.outcomes.finished)(position, line.outcomes[ply])


@native(static_outcomes)
def _static_outcomes(line, ply):
    source = line.positions + 8 * WIDTH * ply
    target = line.outcomes + 8 * line.outcome_count * ply
    value = call_float(line.outcome_at, (source,))
    if value == value:
        call_int(line.finished_at, (source, target))
    elif line.known_at == 0 or call_int(line.known_at, (line.tables, source, target)) == 0:
        call_int(line.outcomes_at, (line.outcomes_data, source, target))


def rated_value(line, ply, key):
    """As `static_value`; in a search that is `rating` the position's outcomes are kept, too.

    The value is then what the outcomes pay, which is that of every evaluator that gives outcomes.
    """
    return static_value(line, ply)


@native(rated_value)
def _rated_value(line, ply, key):
    if line.rating == 0:
        return static_value(line, ply)
    place = rates_at(line, key)
    source = line.positions + 8 * WIDTH * ply
    call_int(line.outcomes_at, (line.outcomes_data, source, place + 8))
    store_int(place, 0, key)
    value = line.base
    for i in range(line.outcome_count):
        value += load_float(line.payoffs, i) * load_float(place, 1 + i)
    return value


@kernel
def rates_at(line, key):
    """Returns the address of the outcomes that are kept for a key, or for another one."""
    return line.rates + 8 * (1 + line.outcome_count) * (key & (RATES - 1))


def retain(line, key, ply):
    """Keep the outcomes at a ply for a key."""


@native(retain)
def _retain(line, key, ply):
    place = rates_at(line, key)
    store_int(place, 0, key)
    for i in range(line.outcome_count):
        store_int(place, 1 + i, load_int(line.outcomes, ply * line.outcome_count + i))


def recall(line, key, ply):
    """Returns whether outcomes are kept for a key; if so, they are written to those at a ply."""
    return False


@native(recall)
def _recall(line, key, ply):
    place = rates_at(line, key)
    if line.rating == 0 or load_int(place, 0) != key:
        return False
    for i in range(line.outcome_count):
        store_int(line.outcomes, ply * line.outcome_count + i, load_int(place, 1 + i))
    return True


def clear_outcomes(line, ply):
    """Set the sum of outcomes at a ply to 0."""
    line.outcomes[ply] = [0.0] * line.outcome_count


@native(clear_outcomes)
def _clear_outcomes(line, ply):
    for i in range(line.outcome_count):
        store_int(line.outcomes, ply * line.outcome_count + i, 0)


def add_turned(line, ply, chance):
    """Add the outcomes of the next ply, turned to this side, with the weight `chance`."""
    turn_outcomes(line, ply + 1)
    for i, probability in enumerate(line.outcomes[ply + 1]):
        line.outcomes[ply][i] += chance * probability


@native(add_turned)
def _add_turned(line, ply, chance):
    turn_outcomes(line, ply + 1)
    here = ply * line.outcome_count
    for i in range(line.outcome_count):
        more = chance * load_float(line.outcomes, here + line.outcome_count + i)
        total = load_float(line.outcomes, here + i) + more
        store_int(line.outcomes, here + i, float_bits(total))


def turn_outcomes(line, ply):
    """Turn the outcomes at a ply into those of the other side."""
    uncompiled(line.game.outcomes.turn)(line.outcomes[ply])


@native(turn_outcomes)
def _turn_outcomes(line, ply):
    return call_int(line.turn_at, (line.outcomes + 8 * line.outcome_count * ply,))


# --- generated code for a game -------------------------------------------------------------------


def dice_addresses(game: DiceGame) -> dict[str, int]:
    """Returns the addresses of the native code between the search and a game's kernels, by name."""
    addresses = rules_addresses(game)
    if game.outcomes is None:
        return addresses
    width, count = len(game.start()), len(game.outcomes)
    block = f"array_at(float64_pointer(target), ({count},))"
    finished = f"""
def finished_at(source, target):
    finished({read_position(width)}, {block})
    return 0
"""
    turn = f"def turn_at(target):\n    turn({block})\n    return 0\n"
    kinds = game.outcomes
    scope = {"finished": kinds.finished}
    addresses["finished_at"] = native_function(
        "finished_at", finished, scope, "int64(int64, int64)"
    )
    addresses["turn_at"] = native_function("turn_at", turn, {"turn": kinds.turn}, "int64(int64)")
    return addresses


def known_address(lookup: Lookup, width: int, count: int) -> int:
    """Returns the address of a native int64(tables, position, target).

    It returns whether the lookup knows the position, and then writes its outcomes.
    """
    _, tables = read_arrays(lookup.tables)
    target = f"array_at(float64_pointer(target), ({count},))"
    text = f"""
def known_at(data, source, target):
    return 1 if known({tables}, {read_position(width)}, {target}) else 0
"""
    return native_function(
        "known_at", text, {"known": lookup.outcomes}, "int64(int64, int64, int64)"
    )

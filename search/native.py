"""Binds a game, an evaluator and lookups into the search; no other module knows how.

The search calls one of these functions wherever it needs the game, the evaluator or a lookup. The
Python body serves the plain search (a `PlainLine`, any Python objects); compiled code gets the
native function below it, which enters generated code by the address in the line's record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from games.contract import DiceGame, Game
from games.kernels import float_bits, product
from games.kernels.bits import native
from games.kernels.memory import (
    load_float,
    load_int,
    native_function,
    read_position,
    store_int,
)
from games.values import LIMIT
from search.limits import UNLIMITED
from search.sizes import STACK, WIDTH
from search.table import expect_probe

QUIET, TACTICAL, FINISHED = 0, 1, 2


# --- entering code by address ----------------------------------------------------------------


def _caller(result: Any) -> Any:
    @intrinsic
    def call(typingctx: Any, address: Any, arguments: Any) -> Any:
        """Call the C function at an address with a tuple of integers."""

        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            items = [builder.extract_value(values[1], i) for i in range(signature.args[1].count)]
            kind = ir.FunctionType(context.get_value_type(result), [i.type for i in items])
            return builder.call(builder.inttoptr(values[0], kind.as_pointer()), items)

        return result(types.int64, arguments), codegen

    return call


call_int = _caller(types.int64)
call_float = _caller(types.float64)


# --- the rules -------------------------------------------------------------------------------


def legal_moves(line, ply):
    """Put the legal moves at `ply` on the stack from `line.first[ply]` on.

    Returns the number of moves. The gains that the rules state go to the same places of
    `line.order`, and the next ply's moves will follow behind these.
    """
    first = line.first[ply]
    moves = line.game.legal_moves(line.positions[ply])
    line.moves[first:] = moves
    line.order[first:] = [line.game.gain(line.positions[ply], move) for move in moves]
    line.first[ply + 1] = first + len(moves)
    return len(moves)


@native(legal_moves)
def _legal_moves(line, ply):
    first = line.first[ply]
    count = call_int(
        line.legal_at,
        (line.positions + 8 * WIDTH * ply, line.moves + 8 * first, line.order + 8 * first),
    )
    line.first[ply + 1] = first + count
    return count


def has_room(line, ply):
    """Returns whether the stack has room for another list of moves."""
    return True


@native(has_room)
def _has_room(line, ply):
    return line.first[ply] + line.most_moves <= STACK


def play(line, ply, move):
    """Put the position after a move at the next ply. Returns whether the move is irreversible."""
    position = line.positions[ply]
    line.positions[ply + 1] = line.game.play(position, move)
    return line.game.irreversible is None or line.game.irreversible(position, move)


@native(play)
def _play(line, ply, move):
    source = line.positions + 8 * WIDTH * ply
    return call_int(line.play_at, (source, move, source + 8 * WIDTH)) != 0


def status(line, ply):
    """Returns QUIET, TACTICAL (the game's `noisy`) or FINISHED."""
    position = line.positions[ply]
    if line.game.outcome(position) is not None:
        return FINISHED
    return TACTICAL if line.game.noisy(position) else QUIET


@native(status)
def _status(line, ply):
    return call_int(line.status_at, (line.positions + 8 * WIDTH * ply,))


def outcome(line, ply):
    """Returns the outcome of a finished game for the side to move."""
    return float(line.game.outcome(line.positions[ply]))


@native(outcome)
def _outcome(line, ply):
    return call_float(line.outcome_at, (line.positions + 8 * WIDTH * ply,))


def plies_left(line, ply):
    """Returns the plies that the game still lasts by its rule `left`, or UNLIMITED without one."""
    rules = line.game.rules
    if rules is None or rules.left is None:
        return UNLIMITED
    return int(rules.left(line.positions[ply]))


@native(plies_left)
def _plies_left(line, ply):
    if line.left_at == 0:
        return UNLIMITED
    return call_int(line.left_at, (line.positions + 8 * WIDTH * ply,))


def position_key(line, ply):
    """Returns the key of a position: a hash, or in a plain search the position itself."""
    return line.positions[ply]


@native(position_key)
def _position_key(line, ply):
    return call_int(line.key_at, (line.positions + 8 * WIDTH * ply,))


def expect_move(line, ply, move):
    """Prefetch what the table has of the position after a move that may be searched next."""


@native(expect_move)
def _expect_move(line, ply, move):
    source = line.positions + 8 * WIDTH * ply
    after = source + 16 * WIDTH  # two plies on, where the move that is searched leaves room
    call_int(line.play_at, (source, move, after))
    return expect_probe(line, call_int(line.key_at, (after,)))


def move_slot(move):
    """Returns the place of a move in the history table, below 4096."""
    return hash(move) & 4095


@native(move_slot)
def _move_slot(move):
    return move & 4095


def fade(line):
    """Forget the killers of earlier searches, and multiply their history by a quarter."""
    line.killers[:] = None
    line.history *= 0.25


@native(fade)
def _fade(line):
    line.killers[:] = -1
    for i in range(line.history.size):
        line.history[i] *= 0.25


# --- stacks of moves -------------------------------------------------------------------------


def move_at(line, place):
    """Returns the move at a place of the stack."""
    return line.moves[place]


@native(move_at)
def _move_at(line, place):
    return load_int(line.moves, place)


def order_at(line, place):
    """Returns the move-ordering score of the move at a place of the stack."""
    return line.order[place]


@native(order_at)
def _order_at(line, place):
    return load_float(line.order, place)


def set_order(line, place, score):
    """Change the move-ordering score of the move at a place of the stack."""
    line.order[place] = score


@native(set_order)
def _set_order(line, place, score):
    return store_int(line.order, place, float_bits(score))


# --- evaluators and lookups ------------------------------------------------------------------


def static_value(line, ply):
    """Returns the evaluator's value of the position, limited to -LIMIT to LIMIT."""
    return min(max(float(line.evaluate(line.positions[ply])), -LIMIT), LIMIT)


@native(static_value)
def _static_value(line, ply):
    value = call_float(line.evaluate_at, (line.evaluator, line.positions + 8 * WIDTH * ply))
    return min(max(value, -LIMIT), LIMIT)


def probe_lookup(line, ply):
    """Returns whether the lookup knows the position.

    If so, `hit_value` and `hit_depth` are set.
    """
    if line.probe is None:
        return False
    line.lookups += 1
    known, value, depth = line.probe(line.positions[ply])
    if known:
        line.lookup_hits += 1
        line.hit_value, line.hit_depth = value, depth
    return known


@native(probe_lookup)
def _probe_lookup(line, ply):
    if line.lookup_at == 0:
        return False
    line.lookups += 1
    if not call_int(
        line.lookup_at,
        (line.tables, line.positions + 8 * WIDTH * ply, line.scratch),
    ):
        return False
    line.lookup_hits += 1
    line.hit_value = load_float(line.scratch, 0)
    line.hit_depth = load_int(line.scratch, 1)
    return True


# --- generated code for a game ---------------------------------------------------------------


def rules_addresses(game: Game) -> dict[str, int]:
    """Returns the addresses of the functions of `rules_texts`, compiled, by their names."""
    return {name: native_function(name, *made) for name, made in rules_texts(game).items()}


def rules_texts(game: Game) -> dict[str, tuple[str, dict[str, Any], str]]:
    """Returns the native code between the search and a game's kernels, by name.

    Each entry is a source text, the names that it refers to, and its signature.

    Raises TypeError if the game has no kernels, ValueError if its positions are too wide.
    """
    rules = game.rules
    if rules is None:
        raise TypeError(f"{game.name} has no kernels: it is searched in plain Python")
    width = len(game.start())
    if width > WIDTH:
        raise ValueError(
            f"{game.name}: expected at most {WIDTH} integers a position, found {width}"
        )
    position = read_position(width)
    stores = "\n".join(f"    store_int(target, {i}, int(after[{i}]))" for i in range(width))
    gain = "float(gain(position, moves[i]))" if rules.gain else "0.0"
    roll = "roll, " if isinstance(game, DiceGame) else ""
    legal = f"""
def legal_at(source, {roll}stack, order):
    position = {position}
    moves = array_at(int64_pointer(stack), ({getattr(game, "most_moves", 256)},))
    count = int(legal_moves(position, {roll}moves))
    for i in range(count):
        store_float(order, i, {gain})
    return count
"""
    irreversible = "int(irreversible(position, move))" if rules.irreversible else "1"
    play = f"""
def play_at(source, move, target):
    position = {position}
    after = play(position, move)
{stores}
    return {irreversible}
"""
    noisy = "1 if noisy(position) else 0" if rules.noisy else "0"
    status = f"""
def status_at(source):
    position = {position}
    value = float(outcome(position))
    if value == value:
        return 2
    return {noisy}
"""
    outcome = f"""
def outcome_at(source):
    return float(outcome({position}))
"""
    left = f"""
def left_at(source):
    return int(left({position}))
"""
    texts = {
        "legal_at": (
            legal, _scope(legal_moves=rules.legal_moves, gain=rules.gain),
            f"int64(int64, {'int64, ' if roll else ''}int64, int64)",
        ),
        "play_at": (
            play, _scope(play=rules.play, irreversible=rules.irreversible),
            "int64(int64, int64, int64)",
        ),
        "status_at": (status, _scope(outcome=rules.outcome, noisy=rules.noisy), "int64(int64)"),
        "outcome_at": (outcome, _scope(outcome=rules.outcome), "float64(int64)"),
        "key_at": (*_key(rules.key, width), "int64(int64)"),
        "left_at": (left, _scope(left=rules.left), "int64(int64)"),
    }  # fmt: skip
    return texts if rules.left else {name: texts[name] for name in [*texts][:-1]}


def key_address(key: Callable[..., Any] | None, width: int) -> int:
    """Returns the address of native code that hashes a position.

    key: the rules' own hash. Default: a general one.
    width: number of integers in a position.
    """
    return native_function("key_at", *_key(key, width), "int64(int64)")


def _key(key: Callable[..., Any] | None, width: int) -> tuple[str, dict[str, Any]]:
    if key is not None:
        return (
            f"def key_at(source):\n    return int(key({read_position(width)}))",
            _scope(key=key),
        )
    text = f"""
def key_at(source):
    mixed = {width}
    for i in range({width}):
        mixed = product(mixed ^ load_int(source, i), 0x1E3779B97F4A7C15)
        mixed ^= (mixed >> 31) & 0x1FFFFFFFF
    mixed = product(mixed ^ (mixed >> 29) & 0x7FFFFFFFF, 0x3C79AC492BA7B653)
    return (mixed ^ (mixed >> 32) & 0xFFFFFFFF) & 0x7FFFFFFFFFFFFFFF
"""
    return text, {"product": product}


def _scope(**kernels: Any) -> dict[str, Any]:
    return {name: kernel for name, kernel in kernels.items() if kernel is not None}

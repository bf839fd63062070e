"""The best reply to a roll by static values: GNU Backgammon's 0-ply, in one native call.

Learners and matches at depth 0 play games with dice by it, and it is the innermost part of
rollouts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from games.contract import DiceGame
from games.kernels import NativeRecord
from games.kernels.memory import native_function, read_position
from games.kernels.record import word
from games.kernels.vectors import stack_block
from search.evaluators.evaluator import MOST_KEPT, Evaluator, Fail, Prefilter
from search.lookups.lookup import Lookup
from search.native import call_float, call_int

__all__ = ["MOST_KEPT", "Prefilter", "Replies", "static_native"]

#: The record that native code reads to choose a reply; it writes the chosen move.
REPLIES = np.dtype(
    [
        (name, np.int64)
        for name in (
            # addresses: the function; static values and their data; room for a list of moves
            "reply_at evaluate_at evaluator moves"
            # the prefilter: its static values and their data, how many it keeps, room for values
            " cheap_at cheap keep cheap_values best_values"
            # the move that was chosen
            " move"
        ).split()
    ]
    # a random number, at least 0 and below 1, for random replies; the margin of the prefilter
    + [("chance", np.float64), ("margin", np.float64)],
    align=True,
)

Native = tuple[int, int, Any]


class Replies(NativeRecord):
    """The replies of one side: a record, and the native function `reply_at` that reads it.

    float64 reply_at(record, position, roll, target), all integers, chooses a legal move. It writes
    the position after the move to `target` (which may be `position`) and the move to the field
    `move`, and returns the value for the side that moved. The move is the one with the smallest
    value for the other side, of equal moves the first. The game must not be over at `position`.

    game: a game written as kernels.
    native: static values, as `Evaluator.native` or `static_native` returns them. None for random
        replies, drawn by the field `chance`; reply_at then returns 0.
    prefilter: chooses the replies that are valued. Default: all.
    lookup: known values, by which the prefilter ranks replies, or None.
    fail: called with an exception that the prefilter's evaluator raised.

    It must not be used by two threads at once.
    """

    def __init__(
        self,
        game: DiceGame,
        native: Native | None,
        prefilter: Prefilter | None = None,
        *,
        lookup: Lookup | None = None,
        fail: Fail,
    ) -> None:
        super().__init__(REPLIES)
        most = int(getattr(game, "most_moves", 256))
        self.pin(moves=np.zeros(most, dtype=np.int64))
        text = _random
        if native is not None:
            self.bind("evaluate_at", "evaluator", native)
            text = _best
        if prefilter is not None:
            cheap = static_native(game, prefilter.evaluator, lookup, fail)
            self.bind("cheap_at", "cheap", cheap)
            self.pin(cheap_values=np.zeros(most), best_values=np.zeros(MOST_KEPT))
            self.put(keep=prefilter.keep, margin=prefilter.margin)
            text = _best_of_kept
        self.put(reply_at=_reply_address(game.rules, len(game.start()), most, text))


def static_native(
    game: DiceGame, evaluator: Evaluator, lookup: Lookup | None, fail: Fail
) -> Native:
    """Returns native static values of unfinished positions, in the form of `Evaluator.native`.

    game: the game.
    evaluator: the evaluator of positions that the lookup does not know.
    lookup: known values, or None.
    fail: called with an exception that the evaluator raised.
    """
    native = evaluator.native(fail)
    if lookup is None:
        return native
    record = NativeRecord(_ASKED)
    record.bind("evaluate_at", "evaluator", native)
    record.bind("lookup_at", "tables", lookup.native(game))
    return _asked_address(), record.address, record


# --- generated code --------------------------------------------------------------------------

_ASKED = np.dtype([(n, np.int64) for n in "evaluate_at evaluator lookup_at tables".split()])


def _field(name: str, dtype: np.dtype[Any] = REPLIES) -> str:
    return f"load_int(record, {word(dtype, name)})"


@functools.cache
def _asked_address() -> int:
    evaluate_at, evaluator, lookup_at, tables = (
        _field(name, _ASKED) for name in _ASKED.names or ()
    )
    text = f"""
def asked_at(record, source):
    answer = stack_block(64)
    if call_int({lookup_at}, ({tables}, source, answer)):
        return load_float(answer, 0)
    return call_float({evaluate_at}, ({evaluator}, source))
"""
    scope = {"call_int": call_int, "call_float": call_float, "stack_block": stack_block}
    return native_function("asked_at", text, scope, "float64(int64, int64)")


@functools.cache
def _reply_address(rules: Any, width: int, most: int, body: Callable[[int, int], list[str]]) -> int:
    """Returns the address of `reply_at`; `body` returns the text that chooses the move."""
    text = "\n".join(
        [
            "def reply_at(record, source, roll, target):",
            f"    position = {read_position(width)}",
            f"    moves = array_at(int64_pointer({_field('moves')}), ({most},))",
            "    count = int(legal_moves(position, roll, moves))",
            *body(width, most),
        ]
    )
    scope = dict(
        legal_moves=rules.legal_moves,
        play=rules.play,
        outcome=rules.outcome,
        call_float=call_float,
        stack_block=stack_block,
    )
    return native_function("reply_at", text, scope, "float64(int64, int64, int64, int64)")


def _random(width: int, most: int) -> list[str]:
    return [
        f"    move = moves[int(load_float(record, {word(REPLIES, 'chance')}) * count)]",
        "    after = play(position, move)",
        *_chosen(width, "move", "    "),
        "    return 0.0",
    ]


def _best(width: int, most: int) -> list[str]:
    return [
        f"    block = stack_block({8 * width})",
        "    best = -1e300",
        "    for i in range(count):",
        *_valued(width, _call("evaluate_at", "evaluator"), "        "),
        "        if i == 0 or value > best:",
        "            best = value",
        *_chosen(width, "moves[i]", "            "),
        "    return best",
    ]


def _best_of_kept(width: int, most: int) -> list[str]:
    return [
        f"    block = stack_block({8 * width})",
        f"    keep = {_field('keep')}",
        f"    margin = load_float(record, {word(REPLIES, 'margin')})",
        "    ranked = count if count > keep or (margin < 1e300 and count > 1) else 0",
        f"    values = array_at(float64_pointer({_field('cheap_values')}), ({most},))",
        f"    kept = array_at(float64_pointer({_field('best_values')}), ({MOST_KEPT},))",
        # the best values so far, the lowest of them last
        "    for i in range(keep):",
        "        kept[i] = -1e300",
        "    for i in range(ranked):",
        *_valued(width, _call("cheap_at", "cheap"), "        "),
        "        values[i] = value",
        "        place = keep",
        "        while place > 0 and kept[place - 1] < value:",
        "            if place < keep:",
        "                kept[place] = kept[place - 1]",
        "            place -= 1",
        "        if place < keep:",
        "            kept[place] = value",
        "    least = max(kept[keep - 1], kept[0] - margin)",
        "    best = -1e300",
        "    first = True",
        "    for i in range(count):",
        "        if ranked > 0 and values[i] < least:",
        "            continue",
        *_valued(width, _call("evaluate_at", "evaluator"), "        "),
        "        if first or value > best:",
        "            first = False",
        "            best = value",
        *_chosen(width, "moves[i]", "            "),
        "    return best",
    ]


def _valued(width: int, call: str, indent: str) -> list[str]:
    """Returns text that plays move i and values it for the side that moves."""
    lines = [
        "after = play(position, moves[i])",
        "value = float(outcome(after))",
        *(f"store_int(block, {i}, int(after[{i}]))" for i in range(width)),
        "if value != value:",
        f"    value = {call}",
        "value = -value",
    ]
    return [indent + line for line in lines]


def _call(evaluate_at: str, evaluator: str) -> str:
    """Returns text that values `block` by an evaluator of the record."""
    return f"call_float({_field(evaluate_at)}, ({_field(evaluator)}, block))"


def _chosen(width: int, move: str, indent: str) -> list[str]:
    """Returns text that writes the position `after` a move, and the move."""
    return [
        f"{indent}store_int(record, {word(REPLIES, 'move')}, {move})",
        *(f"{indent}store_int(target, {i}, int(after[{i}]))" for i in range(width)),
    ]

"""The best move with a roll by static values: GNU Backgammon's 0-ply, in one native call.

It is what games with dice are played by while evaluators learn, and the innermost part of all that
looks further ahead.
"""

from __future__ import annotations

import functools
from typing import Any

from games.contract import DiceGame
from games.native import native_function, read_position
from games.vectors import stack_block
from search.native import call_float

__all__ = ["check_address", "outcome_address", "reply_address"]


def reply_address(game: DiceGame) -> int:
    """The address of a native function that plays the best move with a roll.

    float64(position, roll, moves, evaluate_at, evaluator, target): of the positions that legal
    moves lead to, the one that is worth least to the other side is written to `target`; the first
    of equals. The result is its value for the side that moved. `moves` is the address of room for
    `most_moves` integers. The game must not be over.
    """
    return _reply(game.rules, len(game.start()), int(getattr(game, "most_moves", 256)))


@functools.cache
def _reply(rules: Any, width: int, most: int) -> int:
    stores = [f"        store_int(block, {i}, int(after[{i}]))" for i in range(width)]
    copies = [f"            store_int(target, {i}, int(after[{i}]))" for i in range(width)]
    text = "\n".join(
        [
            "def reply_at(source, roll, stack, evaluate_at, evaluator, target):",
            f"    position = {read_position(width)}",
            f"    moves = array_at(int64_pointer(stack), ({most},))",
            "    count = int(legal_moves(position, roll, moves))",
            f"    block = stack_block({8 * width})",
            "    best = -1e300",
            "    for i in range(count):",
            "        after = play(position, moves[i])",
            "        value = float(outcome(after))",
            *stores,
            "        if value != value:",
            "            value = call_float(evaluate_at, (evaluator, block))",
            "        if i == 0 or -value > best:",
            "            best = -value",
            *copies,
            "    return best",
        ]
    )
    scope = dict(
        legal_moves=rules.legal_moves,
        play=rules.play,
        outcome=rules.outcome,
        call_float=call_float,
        stack_block=stack_block,
    )
    kinds = ", ".join(["int64"] * 6)
    return native_function("reply_at", text, scope, f"float64({kinds})")


def check_address(game: DiceGame) -> int:
    """The address of a native function that tells whether a game was played by the rules.

    int64(positions, rolls, plies, moves): 1 where each of the plies + 1 positions after the first
    is what a legal move with its roll leads to, and the game is over in the last and in no other.
    The first must be one that the rules know, and the rolls of the game; `moves` as in
    `reply_address`.
    """
    width, rules = len(game.start()), game.rules
    same = " and ".join(f"int(after[{i}]) == load_int(source, {width + i})" for i in range(width))
    text = "\n".join(
        [
            "def check_at(source, rolls, plies, stack):",
            f"    moves = array_at(int64_pointer(stack), ({getattr(game, 'most_moves', 256)},))",
            "    for ply in range(plies):",
            f"        position = {read_position(width)}",
            "        value = float(outcome(position))",
            "        legal = False",
            "        if value != value:",
            "            for i in range(int(legal_moves(position, load_int(rolls, ply), moves))):",
            "                after = play(position, moves[i])",
            f"                legal = legal or ({same})",
            "        if not legal:",
            "            return 0",
            f"        source += {8 * width}",
            f"    value = float(outcome({read_position(width)}))",
            "    return 1 if value == value else 0",
        ]
    )
    rule: Any = rules
    scope = dict(legal_moves=rule.legal_moves, play=rule.play, outcome=rule.outcome)
    return native_function("check_at", text, scope, "int64(int64, int64, int64, int64)")


def outcome_address(game: DiceGame) -> int:
    """The address of a native float64(position): the outcome, NaN while the game goes on."""
    width = len(game.start())
    text = f"def outcome_at(source):\n    return float(outcome({read_position(width)}))\n"
    rules: Any = game.rules
    return native_function("outcome_at", text, {"outcome": rules.outcome}, "float64(int64)")

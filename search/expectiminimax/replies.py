"""The best move with a roll by static values: GNU Backgammon's 0-ply, in one native call.

It is what games with dice are played by while evaluators learn, and the innermost part of all that
looks further ahead.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from games.contract import DiceGame
from games.kernels.memory import native_function, read_position
from games.kernels.vectors import stack_block
from search.evaluators.evaluator import Evaluator, Fail
from search.native import call_float

__all__ = ["MOST_KEPT", "Replies", "Sift", "check_address", "outcome_address", "reply_address"]


@dataclass(frozen=True, eq=False)
class Sift:
    """Only the replies that are best by a cheaper evaluator are asked of the dearer one.

    Kept are those that are worth no less than the `keep`th by the values of `evaluator`.
    """

    evaluator: Evaluator
    keep: int = 8

    def __post_init__(self) -> None:
        if not 1 <= self.keep <= MOST_KEPT:
            raise ValueError(f"keep: expected 1 to {MOST_KEPT}, found {self.keep}")


#: Replies that a sift can keep.
MOST_KEPT = 1024


class Replies:
    """How native code finds the best reply: the three numbers that `reply_address` speaks of.

    address: of the function; evaluate_at and evaluator: what it is called with. They hold as long
    as this object lives. evaluate_at, data: native code of static values, see `Evaluator.native`.
    """

    def __init__(
        self, game: DiceGame, evaluate_at: int, data: int, sift: Sift | None = None,
        *, fail: Fail,
    ) -> None:  # fmt: skip
        self.evaluate_at = evaluate_at
        self.evaluator = data
        if sift is None:
            self.address = reply_address(game)
            return
        cheap_at, cheap_data, self._kept = sift.evaluator.native(fail)
        most = int(getattr(game, "most_moves", 256))
        self._values = np.zeros(most + MOST_KEPT)
        self._record = np.array(
            [cheap_at, cheap_data, sift.keep, self._values.ctypes.data, data], dtype=np.int64
        )
        self.address = _sifted(game.rules, len(game.start()), most)
        self.evaluator = int(self._record.ctypes.data)


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
    text = "\n".join(
        [
            "def reply_at(source, roll, stack, evaluate_at, evaluator, target):",
            *_moves(width, most),
            "    best = -1e300",
            "    for i in range(count):",
            *_valued(width, "evaluate_at", "evaluator"),
            "        if i == 0 or value > best:",
            "            best = value",
            *(f"            store_int(target, {i}, int(after[{i}]))" for i in range(width)),
            "    return best",
        ]
    )
    kinds = ", ".join(["int64"] * 6)
    return native_function("reply_at", text, _scope(rules), f"float64({kinds})")


@functools.cache
def _sifted(rules: Any, width: int, most: int) -> int:
    """As `_reply`, where `evaluator` is the address of the integers of `Replies`."""
    text = "\n".join(
        [
            "def sifted_at(source, roll, stack, evaluate_at, record, target):",
            *_moves(width, most),
            "    keep = load_int(record, 2)",
            f"    values = array_at(float64_pointer(load_int(record, 3)), ({most},))",
            # the best values so far, the worst of them last
            f"    last = load_int(record, 3) + {8 * most}",
            f"    kept = array_at(float64_pointer(last), ({MOST_KEPT},))",
            "    for i in range(keep):",
            "        kept[i] = -1e300",
            "    for i in range(count if count > keep else 0):",
            *_valued(width, "load_int(record, 0)", "load_int(record, 1)"),
            "        values[i] = value",
            "        place = keep",
            "        while place > 0 and kept[place - 1] < value:",
            "            if place < keep:",
            "                kept[place] = kept[place - 1]",
            "            place -= 1",
            "        if place < keep:",
            "            kept[place] = value",
            "    best = -1e300",
            "    found = False",
            "    for i in range(count):",
            "        if count > keep and values[i] < kept[keep - 1]:",
            "            continue",
            *_valued(width, "evaluate_at", "load_int(record, 4)"),
            "        if not found or value > best:",
            "            found = True",
            "            best = value",
            *(f"            store_int(target, {i}, int(after[{i}]))" for i in range(width)),
            "    return best",
        ]
    )
    kinds = ", ".join(["int64"] * 6)
    return native_function("sifted_at", text, _scope(rules), f"float64({kinds})")


def _moves(width: int, most: int) -> list[str]:
    """Text that lists the legal moves."""
    return [
        f"    position = {read_position(width)}",
        f"    moves = array_at(int64_pointer(stack), ({most},))",
        "    count = int(legal_moves(position, roll, moves))",
        f"    block = stack_block({8 * width})",
    ]


def _valued(width: int, evaluate_at: str, evaluator: str) -> list[str]:
    """Text that plays move i and values it for the side that moves."""
    return [
        "        after = play(position, moves[i])",
        "        value = float(outcome(after))",
        *(f"        store_int(block, {i}, int(after[{i}]))" for i in range(width)),
        "        if value != value:",
        f"            value = call_float({evaluate_at}, ({evaluator}, block))",
        "        value = -value",
    ]


def _scope(rules: Any) -> dict[str, Any]:
    return dict(
        legal_moves=rules.legal_moves,
        play=rules.play,
        outcome=rules.outcome,
        call_float=call_float,
        stack_block=stack_block,
    )


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

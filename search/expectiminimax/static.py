"""Depth 0 in games with dice: the move with the best static value, one decision at a time.

GNU Backgammon calls it 0-ply: for the roll at hand, the positions after each legal move are valued
and nothing further is looked at.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from games import kernels
from games.contract import DiceGame, first_rolls
from games.kernels import kernel
from games.kernels.chance import cumulative
from games.kernels.memory import load_float, load_int, native_function, read_position
from search.evaluators.evaluator import Evaluator
from search.expectiminimax.replies import outcome_address
from search.lookups.lookup import Lookup
from search.native import call_float, call_int
from search.sizes import WIDTH

__all__ = ["DiceTable", "StaticChoice", "best_move"]

#: Rolls that native code has room for.
MOST_ROLLS = 64

_NUMBERS = (
    # addresses: rules; memory for a position, another one and moves
    "legal_at play_at outcome_at here after stack scratch"
    # addresses of what the loop plays and logs
    " streams moves rolls plies reasons outcomes"
    # the game, and how much to play
    " width roll_count most_turns room pairs"
    # what was played: games and turns; whether to stop
    " games turns stop"
).split()
_CHANCES = "weights first_weights limits first_limits".split()
TABLE = np.dtype(
    [(name, np.int64) for name in _NUMBERS]
    + [(name, np.float64, (MOST_ROLLS,)) for name in _CHANCES]
    + [("value", np.float64)],
    align=True,
)
#: A player at static values; without `evaluate_at` it plays at random.
SEAT = np.dtype([(n, np.int64) for n in "evaluate_at evaluator lookup_at tables".split()])


@kernel
def worth(table, seat, place):
    """The value of the position at an address to its side to move, as a seat sees it."""
    value = call_float(table.outcome_at, (place,))
    if value == value:
        return value
    if seat.lookup_at != 0 and call_int(seat.lookup_at, (seat.tables, place, table.scratch)):
        return load_float(table.scratch, 0)
    return call_float(seat.evaluate_at, (seat.evaluator, place))


@kernel
def best_move(table, seat, place, roll, forced):
    """The first of the best moves with a roll by static values; its own is left in `value`.

    With `forced`, an only move is not valued.
    """
    count = call_int(table.legal_at, (place, roll, table.stack))
    chosen = load_int(table.stack, 0)
    if count == 1 and forced:
        return chosen
    for i in range(count):
        move = load_int(table.stack, i)
        call_int(table.play_at, (place, move, table.after))
        value = -worth(table, seat, table.after)
        if i == 0 or value > table.value:
            chosen = move
            table.value = value
    return chosen


@functools.cache
def _addresses(rules: Any, width: int, most_moves: int) -> dict[str, int]:
    """The native code that stands between the loop and the kernels of a game with dice."""
    position = read_position(width)
    stores = "\n".join(f"    store_int(target, {i}, int(after[{i}]))" for i in range(width))
    legal = f"""
def legal_at(source, roll, stack):
    moves = array_at(int64_pointer(stack), ({most_moves},))
    return int(legal_moves({position}, roll, moves))
"""
    play = f"def play_at(source, move, target):\n    after = play({position}, move)\n{stores}\n"
    three = "int64(int64, int64, int64)"
    return {
        "legal_at": native_function("legal_at", legal, {"legal_moves": rules.legal_moves}, three),
        "play_at": native_function("play_at", play + "    return 0\n", {"play": rules.play}, three),
    }


class DiceTable:
    """A native game with dice in memory: its rules, dice, and room for a position and its moves."""

    def __init__(self, game: DiceGame) -> None:
        if game.rules is None or not kernels.compiled:
            raise TypeError(f"{game.name} is not compiled: expected a game written as kernels")
        start = game.start()
        if len(start) > WIDTH or len(game.rolls) > MOST_ROLLS:
            raise ValueError(
                f"{game.name}: expected at most {WIDTH} integers a position and {MOST_ROLLS} rolls,"
                f" found {len(start)} and {len(game.rolls)}"
            )
        self.game = game
        self.width = len(start)
        most_moves = getattr(game, "most_moves", 256)
        self.record = np.zeros(1, dtype=TABLE)
        self._memory = np.zeros(2 * WIDTH + 8 + most_moves, dtype=np.int64)
        at = self._memory.ctypes.data
        self.here = self._memory[: self.width]
        self.errors: list[BaseException] = []
        self.put(
            **_addresses(game.rules, self.width, most_moves),
            outcome_at=outcome_address(game),
            here=at,
            after=at + 8 * WIDTH,
            scratch=at + 16 * WIDTH,
            stack=at + 16 * WIDTH + 64,
            width=self.width,
            roll_count=len(game.rolls),
        )
        for kind, weights in (("", game.rolls), ("first_", first_rolls(game))):
            self.record[f"{kind}limits"][0, : len(weights)] = cumulative(weights)
            self.record[f"{kind}weights"][0, : len(weights)] = weights

    def put(self, **values: Any) -> None:
        """Set numbers of the record."""
        for name, value in values.items():
            self.record[name] = value

    def seat(self, evaluator: Evaluator | None, lookup: Lookup | None = None) -> tuple[Any, Any]:
        """The record of a player, and what keeps its memory alive; None plays at random."""
        record, kept = np.zeros(1, dtype=SEAT), []
        if evaluator is not None:
            address, data, keep = evaluator.native(self._fail)
            record["evaluate_at"], record["evaluator"] = address, data
            kept.append(keep)
        if lookup is not None:
            address, data, keep = lookup.native(self.game)
            record["lookup_at"], record["tables"] = address, data
            kept.append(keep)
        return record, kept

    def _fail(self, error: BaseException) -> None:
        self.errors.append(error)
        self.put(stop=1)

    def check(self) -> None:
        """Raise what an evaluator raised."""
        if self.errors:
            error = self.errors[0]
            self.errors.clear()
            self.put(stop=0)
            raise error


class StaticChoice:
    """Depth 0 for one decision at a time: `choose(position, roll)`, natively where that can be.

    The move whose position has the best static value for the side that makes it, outcomes and the
    lookup before the evaluator; the first of equals in the game's order. `value` then says how
    much that is. Not to be used by two threads at once.
    """

    def __init__(self, game: DiceGame, evaluator: Evaluator, lookup: Lookup | None = None) -> None:
        self.game = game
        self.evaluator = evaluator
        self.value = 0.0
        self._probe = lookup.plain() if lookup is not None else None
        self.native = game.rules is not None and kernels.compiled
        if self.native:
            self._table = DiceTable(game)
            self._seat, self._kept = self._table.seat(evaluator, lookup)

    def choose(self, position: Any, roll: int) -> Any:
        """The best move; ValueError where there is none, and what the evaluator raises."""
        if not self.native:
            return self._choose_slowly(position, roll)
        if self.game.outcome(position) is not None or not 0 <= roll < len(self.game.rolls):
            raise ValueError(f"expected a position with moves and a roll, found {position}, {roll}")
        table = self._table
        table.here[:] = position
        record = table.record[0]
        move = int(best_move(record, self._seat[0], int(record["here"]), roll, False))
        table.check()
        self.value = float(record["value"])
        return move

    def _choose_slowly(self, position: Any, roll: int) -> Any:
        moves = self.game.legal_moves(position, roll)
        if not moves:
            raise ValueError(f"expected a position with moves, found {position}")
        values = [-self.worth(self.game.play(position, move)) for move in moves]
        self.value = max(values)
        return moves[values.index(self.value)]

    def worth(self, position: Any) -> float:
        """The value of a position for its side to move: outcome, lookup or evaluator."""
        value = self.game.outcome(position)
        if value is not None:
            return float(value)
        if self._probe is not None:
            found, known, *_ = self._probe(position)
            if found:
                return float(known)
        return float(self.evaluator(position))

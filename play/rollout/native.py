"""Games rolled out from a position, a block of them at a time: natively in one call at depth 0.

Luck is taken off each game by one look ahead (D. Montgomery, "Variance reduction", GammOnLine,
2000; GNU Backgammon): what the best move with the roll is worth by static values, less the average
of the same over all rolls. The average luck of a position is 0 whatever the evaluator, so that the
mean is the same without it; the better the evaluator, the less the games still scatter. The move to
be played at depth 0 is one of those looked at.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import DiceGame
from games.kernels import kernel
from games.kernels.chance import drawn, next_state, uniform
from games.kernels.memory import (
    load_float,
    load_int,
    native_function,
    read_arrays,
    read_position,
    store_float,
    store_int,
)
from play.rollout.dice import RolloutDice
from play.rollout.plain import (
    CERTAIN,
    Block,
    BlockDice,
    PlainTable,
    RolloutTable,
)
from search import EXACT, Evaluator, Lookup
from search.expectiminimax.native import call_nothing, dice_addresses
from search.expectiminimax.static import DiceTable, best_move, worth
from search.native import call_float, call_int

__all__ = ["NativeTable", "rollout_table"]

ROLLOUT = np.dtype(
    [
        (name, np.int64)
        for name in (
            # addresses: outcomes of positions, and numbers for each of them and the value
            "outcomes_at outcomes_data known_at finished_at turn_at rated mean actual luck"
            # how many outcomes; longest game; whether to look ahead; who the results are for
            " outcome_count most_plies look later"
        ).split()
    ],
    align=True,
)

Floats = NDArray[np.float64]


@kernel
def certain(table, seat, place):
    """Whether the lookup knows exactly what the position at an address is worth."""
    if seat.lookup_at == 0:
        return False
    if not call_int(seat.lookup_at, (seat.tables, place, table.scratch)):
        return False
    return load_int(table.scratch, 1) >= CERTAIN and load_int(table.scratch, 2) == EXACT


@kernel
def rate(table, seat, own, place, value, target):
    """Write the outcomes of the position at an address, for its side to move, and its value."""
    count = own.outcome_count
    if count > 0:
        outcome = call_float(table.outcome_at, (place,))
        if outcome == outcome:
            call_int(own.finished_at, (place, target))
        elif own.known_at == 0 or call_int(own.known_at, (seat.tables, place, target)) == 0:
            call_nothing(own.outcomes_at, (own.outcomes_data, place, target))
    store_float(target, count, value)


@kernel
def turn_all(own, target):
    """Make outcomes and value those of the other side."""
    count = own.outcome_count
    if count > 0:
        call_int(own.turn_at, (target,))
    store_float(target, count, -load_float(target, count))


@kernel
def look_ahead(table, seat, own, place, roll, later):
    """The best move with a roll at depth 0; adds to `luck` what the roll brought.

    `later`: whether the results are for the side that is not to move.
    """
    numbers = own.outcome_count + 1
    for k in range(numbers):
        store_float(own.mean, k, 0.0)
    chosen = 0
    for other in range(table.roll_count):
        chance = table.weights[other]
        if chance > 0.0:
            move = best_move(table, seat, place, other, False)
            value = table.value
            call_int(table.play_at, (place, move, table.after))
            rate(table, seat, own, table.after, -value, own.rated)
            turn_all(own, own.rated)
            for k in range(numbers):
                number = load_float(own.rated, k)
                store_float(own.mean, k, load_float(own.mean, k) + chance * number)
                if other == roll:
                    store_float(own.actual, k, number)
            if other == roll:
                chosen = move
    if later:
        turn_all(own, own.actual)
        turn_all(own, own.mean)
    for k in range(numbers):
        more = load_float(own.actual, k) - load_float(own.mean, k)
        store_float(own.luck, k, load_float(own.luck, k) + more)
    return chosen


@kernel
def roll_out(table, seat, own, state, rolls, game):
    """Play a game from the position `here` to its end; returns plies, -1 where it was stopped.

    `rated` is then what it came to, for the side that the results are for, `luck` its luck.
    """
    here = table.here
    for k in range(own.outcome_count + 1):
        store_float(own.luck, k, 0.0)
    ply = 0
    while ply < own.most_plies:
        value = call_float(table.outcome_at, (here,))
        if value == value or certain(table, seat, here):
            break
        if table.stop != 0:
            return -1
        state = next_state(state)
        roll = drawn(uniform(state), table.limits)
        if ply < rolls.shape[1] and rolls[game, ply] >= 0:
            roll = rolls[game, ply]
        if own.look != 0:
            move = look_ahead(table, seat, own, here, roll, (ply + own.later) % 2 != 0)
        else:
            move = best_move(table, seat, here, roll, True)
        call_int(table.play_at, (here, move, table.after))
        for i in range(table.width):
            store_int(here, i, load_int(table.after, i))
        ply += 1
    rate(table, seat, own, here, worth(table, seat, here), own.rated)
    if (ply + own.later) % 2 != 0:
        turn_all(own, own.rated)
    return -1 if table.stop != 0 else ply


@kernel
def roll_out_block(table, seat, own, position, streams, rolls, results, plies):
    """Play as many games as there are streams; returns how many, fewer where it was stopped."""
    for game in range(len(streams)):
        for i in range(table.width):
            store_int(table.here, i, position[i])
        plies[game] = roll_out(table, seat, own, streams[game], rolls, game)
        if plies[game] < 0:
            return game
        for k in range(own.outcome_count + 1):
            results[game, k] = load_float(own.rated, k) - load_float(own.luck, k) + 0.0
    return len(streams)


class NativeTable:
    """A `RolloutTable` in native code."""

    def __init__(self, game: DiceGame, evaluator: Evaluator, lookup: Lookup | None) -> None:
        self.game = game
        self._table = DiceTable(game)
        self._seat, self._kept = self._table.seat(evaluator, lookup)
        self._own = np.zeros(1, dtype=ROLLOUT)
        self.count = len(game.outcomes) if evaluator.gives_outcomes and game.outcomes else 0
        self._numbers = np.zeros((4, self.count + 1))
        names = ("rated", "mean", "actual", "luck")
        for name, numbers in zip(names, self._numbers, strict=True):
            self._put(**{name: numbers.ctypes.data})
        if self.count:
            addresses = dice_addresses(game)
            outcomes_at, data, kept = evaluator.native_outcomes()
            self._kept.append(kept)
            self._put(
                outcome_count=self.count,
                outcomes_at=outcomes_at,
                outcomes_data=data,
                finished_at=addresses["finished_at"],
                turn_at=addresses["turn_at"],
            )
            if lookup is not None and lookup.outcomes is not None:
                self._put(known_at=_known_address(lookup, self._table.width, self.count))

    def _put(self, **values: int) -> None:
        for name, value in values.items():
            self._own[name] = value

    def _records(self) -> tuple[Any, Any, Any]:
        return self._table.record[0], self._seat[0], self._own[0]

    def block(
        self, position: Any, dice: BlockDice, *, later: bool, most_plies: int, look: bool
    ) -> Block | None:
        """As `RolloutTable.block`."""
        streams, rolls = dice
        self._put(later=int(later), most_plies=most_plies, look=int(look))
        results = np.zeros((len(streams), self.count + 1))
        plies = np.zeros(len(streams), dtype=np.int64)
        start = np.array(position, dtype=np.int64)
        done = roll_out_block(*self._records(), start, streams, rolls, results, plies)
        self._table.check()
        return (results, plies) if done == len(streams) else None

    def ends(self, position: Any) -> bool:
        """As `RolloutTable.ends`."""
        if self.game.outcome(position) is not None:
            return True
        self._table.here[:] = position
        table, seat, _ = self._records()
        return bool(certain(table, seat, int(table["here"])))

    def rate(self, position: Any) -> Floats:
        """As `RolloutTable.rate`."""
        self._table.here[:] = position
        table, seat, own = self._records()
        here = int(table["here"])
        rate(table, seat, own, here, worth(table, seat, here), int(own["rated"]))
        self._table.check()
        return np.array(self._numbers[0])

    def luck(self, position: Any, roll: int, later: bool) -> Floats:
        """As `RolloutTable.luck`."""
        self._table.here[:] = position
        self._numbers[3] = 0.0
        table, seat, own = self._records()
        look_ahead(table, seat, own, int(table["here"]), roll, later)
        self._table.check()
        return np.array(self._numbers[3])

    def turn(self, numbers: Floats) -> None:
        """As `RolloutTable.turn`."""
        turn_all(self._own[0], numbers.ctypes.data)

    def stop(self) -> None:
        """As `RolloutTable.stop`."""
        self._table.put(stop=1)


def _known_address(lookup: Lookup, width: int, count: int) -> int:
    """The native int64(tables, position, target) that writes the outcomes a lookup knows."""
    _, tables = read_arrays(lookup.tables)
    target = f"array_at(float64_pointer(target), ({count},))"
    text = f"""
def known_at(data, source, target):
    return 1 if known({tables}, {read_position(width)}, {target}) else 0
"""
    return native_function(
        "known_at", text, {"known": lookup.outcomes}, "int64(int64, int64, int64)"
    )


def rollout_table(
    game: DiceGame, evaluator: Evaluator, lookup: Lookup | None, dice: RolloutDice
) -> RolloutTable:
    """A native table where that can be, else one in Python."""
    if game.rules is not None and kernels.compiled:
        return NativeTable(game, evaluator, lookup)
    return PlainTable(game, evaluator, lookup, dice)

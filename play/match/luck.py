"""Luck: what the dice gave each side of a game, so that it can be taken off the result.

The luck of a roll is the value of the best play of it, less the average of the same over all rolls,
both by one look ahead: the static values of the positions after each move. Whatever the evaluator,
the average luck of a position is 0, so that a result without luck is as unbiased as the result;
the better the evaluator, the less it scatters. (D. Montgomery, "Variance reduction", GammOnLine,
2000; GNU Backgammon's luck analysis.)
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import DiceGame, first_rolls
from games.kernels import kernel
from games.kernels.memory import load_int, store_float, store_int
from play.match.dice_record import DiceRecord
from search import Evaluator, Lookup
from search.expectiminimax.static import DiceTable, StaticChoice, best_move
from search.native import call_int

__all__ = ["Luck"]


@kernel
def _luck_of_turns(table, seat, rolls, moves, luck, turns):
    """Replay a game from the position `here`; writes the luck of each turn."""
    for turn in range(turns):
        roll = load_int(rolls, turn)
        mean = 0.0
        actual = 0.0
        for other in range(table.roll_count):
            weight = table.first_weights[other] if turn == 0 else table.weights[other]
            if weight > 0.0:
                best_move(table, seat, table.here, other, False)
                mean += weight * table.value
                if other == roll:
                    actual = table.value
        store_float(luck, turn, actual - mean)
        call_int(table.play_at, (table.here, load_int(moves, turn), table.after))
        for i in range(table.width):
            store_int(table.here, i, load_int(table.after, i))


class Luck:
    """What an evaluator calls luck. Not to be used by two threads at once."""

    def __init__(self, game: DiceGame, evaluator: Evaluator, lookup: Lookup | None = None) -> None:
        self.game = game
        self.native = game.rules is not None and kernels.compiled
        if self.native:
            self._table = DiceTable(game)
            self._seat, self._kept = self._table.seat(evaluator, lookup)
        else:
            self._choice = StaticChoice(game, evaluator, lookup)

    def turns(self, record: DiceRecord) -> NDArray[np.float64]:
        """The luck of the side that rolled, for each turn of a game, [turns]."""
        if not self.native:
            return self._turns_slowly(record)
        rolls = np.array(record.rolls, dtype=np.int64)
        moves = np.array(record.moves, dtype=np.int64)
        luck = np.zeros(len(moves), dtype=np.float64)
        table = self._table
        table.here[:] = self.game.start()
        at = [array.ctypes.data for array in (rolls, moves, luck)]
        _luck_of_turns(table.record[0], self._seat[0], at[0], at[1], at[2], len(moves))
        table.check()
        return luck

    def total(self, record: DiceRecord) -> float:
        """How much more luck the side that begins had, in points."""
        luck = self.turns(record)
        return float(luck[0::2].sum() - luck[1::2].sum())

    def _turns_slowly(self, record: DiceRecord) -> NDArray[np.float64]:
        game, found = self.game, []
        for turn, (position, roll) in enumerate(
            zip(record.positions()[:-1], record.rolls, strict=True)
        ):
            weights = game.rolls if turn else first_rolls(game)
            mean = actual = 0.0
            for other, weight in enumerate(weights):
                if weight > 0.0:
                    self._choice.choose(position, other)
                    mean += weight * self._choice.value
                    if other == roll:
                        actual = self._choice.value
            found.append(actual - mean)
        return np.array(found, dtype=np.float64)

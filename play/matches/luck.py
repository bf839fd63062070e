"""The luck of the dice in a game, by which its result is luck-adjusted.

The luck of a roll is the value of its best move minus the average of this value over all rolls,
both by the static values of the positions after each move. The average luck of a position is 0 for
any evaluator, so the luck-adjusted result is as unbiased as the result; the better the evaluator,
the smaller its variance. (D. Montgomery, "Variance reduction", GammOnLine, 2000; GNU Backgammon's
luck analysis.)
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import starts
from games.kernels import kernel
from games.kernels.memory import store_float
from games.record import GameRecord
from search import Evaluator, Lookup
from search.expectiminimax.static import StaticChoice
from search.expectiminimax.turn import NativeTurn, best_reply

__all__ = ["StaticLuck"]


@kernel
def _best_values(turn, replies, values):
    """Write the value of the best move with each roll in the position `here`."""
    for roll in range(turn.roll_count):
        store_float(values, roll, best_reply(replies, turn.here, roll, turn.after))


class StaticLuck:
    """The luck of rolls by static values, without a cube. Not to be used by two threads at once."""

    def __init__(self, game: Any, evaluator: Evaluator, lookup: Lookup | None = None) -> None:
        self.game = game
        self._in_units = evaluator.in_units
        self.native = game.rules is not None and kernels.compiled
        if self.native:
            self._turn = NativeTurn(game)
            self._replies = self._turn.replies(evaluator, lookup)
        else:
            self._choice = StaticChoice(game, evaluator, lookup)

    def __call__(self, position: Any) -> NDArray[np.float64]:
        """Returns the luck [rolls] of each roll, in the game's unit; 0 if it cannot be rolled."""
        game = self.game
        first = position == starts(game)[game.to_move(position)]
        chances = np.array(game.dice.first if first else game.rolls)
        values = np.zeros(len(chances))
        if self.native:
            self._turn.position = position
            _best_values(self._turn.row, self._replies.row, values.ctypes.data)
            self._turn.check()
        else:
            for roll in np.flatnonzero(chances).tolist():
                self._choice.choose(position, roll)
                values[roll] = self._choice.value
        luck = np.array([self._in_units(value) for value in values])
        return np.where(chances > 0.0, luck - luck @ chances, 0.0)

    def turns(self, record: GameRecord) -> NDArray[np.float64]:
        """Returns the luck of the side that rolled, for each turn of a game, [turns]."""
        turns = zip(record.positions[:-1], record.rolls, strict=True)
        return np.array([self(position)[roll] for position, roll in turns], dtype=np.float64)

    def total(self, record: GameRecord) -> float:
        """Returns the luck of side 0 minus that of side 1, in points."""
        luck, begins = self.turns(record), self.game.to_move(record.start)
        return float(luck[begins::2].sum() - luck[1 - begins :: 2].sum())

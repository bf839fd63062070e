"""The luck of the dice in a game, by which its result is luck-adjusted.

The luck of a roll is the value of its best move minus the average of this value over all rolls,
both by the static values of the positions after each move. The average luck of a position is 0 for
any evaluator, so the luck-adjusted result is as unbiased as the result; the better the evaluator,
the smaller its variance. (D. Montgomery, "Variance reduction", GammOnLine, 2000; GNU Backgammon's
luck analysis.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import starts
from games.record import GameRecord
from search import Engine, Evaluator, Lookup

__all__ = ["StaticLuck"]


class StaticLuck:
    """The luck of rolls by static values, without a cube. Not to be used by two threads at once."""

    def __init__(self, game: Any, evaluator: Evaluator, lookup: Lookup | None = None) -> None:
        self.game = game
        self._in_units = evaluator.in_units
        self._engine = Engine(game, evaluator, lookup=lookup, table_mib=0.001)

    def __call__(self, position: Any) -> NDArray[np.float64]:
        """Returns the luck [rolls] of each roll, in the game's unit; 0 if it cannot be rolled."""
        game = self.game
        first = position == starts(game)[game.to_move(position)]
        chances = np.array(game.dice.first if first else game.rolls)
        search = self._engine.dice_search
        afters, counts = search.afters([position])
        values = -np.minimum.reduceat(search.values(afters, 0), np.cumsum(counts) - counts[0])
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

"""The luck of the dice in a game, by which its result is luck-adjusted.

The luck of a roll is the value of its best move minus the average of this value over all rolls,
both by the static values of the positions after each move. The average luck of a position is 0 for
any evaluator, so the luck-adjusted result is as unbiased as the result; the better the evaluator,
the smaller its variance. (D. Montgomery, "Variance reduction", GammOnLine, 2000; GNU Backgammon's
luck analysis.)
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import DiceGame, first_rolls
from games.kernels import NativeRecord, kernel
from games.kernels.memory import load_int, store_float
from games.record import GameRecord
from search import Evaluator, Lookup
from search.expectiminimax.static import StaticChoice
from search.expectiminimax.turn import NativeTurn, best_reply
from search.native import call_int

__all__ = ["Luck"]

#: A game to replay: addresses of its moves and rolls, and of room for the luck of each turn.
GAME = np.dtype([(name, np.int64) for name in ("rolls", "moves", "luck", "turns")])


@kernel
def _luck_of_turns(turn, replies, game):
    """Replay a game from the position `here`; writes the luck of each turn."""
    for ply in range(game.turns):
        roll = load_int(game.rolls, ply)
        mean = 0.0
        actual = 0.0
        for other in range(turn.roll_count):
            chance = turn.first_chances[other] if ply == 0 else turn.chances[other]
            if chance > 0.0:
                value = best_reply(replies, turn.here, other, turn.after)
                mean += chance * value
                if other == roll:
                    actual = value
        store_float(game.luck, ply, actual - mean)
        call_int(turn.play_at, (turn.here, load_int(game.moves, ply), turn.here))


class Luck:
    """The luck of rolls by an evaluator's static values. Not to be used by two threads at once."""

    def __init__(self, game: DiceGame, evaluator: Evaluator, lookup: Lookup | None = None) -> None:
        self.game = game
        self.native = game.rules is not None and kernels.compiled
        if self.native:
            self._turn = NativeTurn(game)
            self._replies = self._turn.replies(evaluator, lookup)
            self._game = NativeRecord(GAME)
        else:
            self._choice = StaticChoice(game, evaluator, lookup)

    def turns(self, record: GameRecord) -> NDArray[np.float64]:
        """Returns the luck of the side that rolled, for each turn of a game, [turns]."""
        if not self.native:
            return self._turns_plainly(record)
        luck = np.zeros(len(record.moves))
        self._game.pin(
            rolls=np.array(record.rolls, dtype=np.int64),
            moves=np.array(record.moves, dtype=np.int64),
            luck=luck,
        )
        self._game.put(turns=len(luck))
        self._turn.position = self.game.start()
        _luck_of_turns(self._turn.row, self._replies.row, self._game.row)
        self._turn.check()
        return luck

    def total(self, record: GameRecord) -> float:
        """Returns the luck of the side that begins minus the other side's, in points."""
        luck = self.turns(record)
        return float(luck[0::2].sum() - luck[1::2].sum())

    def _turns_plainly(self, record: GameRecord) -> NDArray[np.float64]:
        game, luck = self.game, []
        for turn, (position, roll) in enumerate(
            zip(record.positions[:-1], record.rolls, strict=True)
        ):
            weights = game.rolls if turn else first_rolls(game)
            mean = actual = 0.0
            for other, weight in enumerate(weights):
                if weight > 0.0:
                    self._choice.choose(position, other)
                    mean += weight * self._choice.value
                    if other == roll:
                        actual = self._choice.value
            luck.append(actual - mean)
        return np.array(luck, dtype=np.float64)

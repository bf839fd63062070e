"""Games with dice that an evaluator plays against itself and learns from, in native code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.chance import cumulative, drawn, next_state, stream, uniform
from games.contract import DiceGame
from games.kernel import kernel
from games.native import store_int
from learner.descent import sweep_address
from search.native import call_float
from search.outcome_network import OutcomeNetwork
from search.replies import outcome_address, reply_address

__all__ = ["MOST_PLIES", "Table"]

#: A game that goes on for longer is dropped; backgammon of any sense takes some sixty plies.
MOST_PLIES = 1023

# the fields of a table's integers
(
    REPLY_AT, OUTCOME_AT, EVALUATE_AT, EVALUATOR, SWEEP_AT, NUMBERS_AT, STACK_AT, MEMORY_AT,
    WIDTH, ROOM, ROLLS_AT, REPLAYS, KEPT, NEXT, STATE, PLIES, UPDATES,
) = range(17)  # fmt: skip


@kernel
def play_game(table, limits, first_limits, game):
    """Play a game into a place of the memory; returns its plies, 0 where it had no end."""
    step = 8 * table[WIDTH]
    source = game
    for ply in range(MOST_PLIES):
        table[STATE] = next_state(table[STATE])
        roll = drawn(uniform(table[STATE]), first_limits if ply == 0 else limits)
        store_int(table[ROLLS_AT], ply, roll)
        call_float(
            table[REPLY_AT],
            (source, roll, table[STACK_AT], table[EVALUATE_AT], table[EVALUATOR], source + step),
        )
        source += step
        outcome = call_float(table[OUTCOME_AT], (source,))
        if outcome == outcome:
            return ply + 1
    return 0


@kernel
def play_and_learn(table, limits, first_limits, lengths, games):
    """Play games, and learn from each and from some of those in memory; returns squared errors.

    The memory holds the last `ROOM` games, each from the start position on; a new game takes the
    place of the oldest.
    """
    size = 8 * table[WIDTH] * (MOST_PLIES + 1)
    error = 0.0
    for _ in range(games):
        place = table[NEXT]
        plies = play_game(table, limits, first_limits, table[MEMORY_AT] + place * size)
        if plies == 0:
            continue
        lengths[place] = plies
        table[NEXT] = (place + 1) % table[ROOM]
        table[KEPT] = max(table[KEPT], place + 1)
        for replay in range(table[REPLAYS] + 1):
            if replay > 0:
                table[STATE] = next_state(table[STATE])
                place = int(uniform(table[STATE]) * table[KEPT])
            error += call_float(
                table[SWEEP_AT],
                (table[EVALUATOR], table[MEMORY_AT] + place * size, lengths[place],
                 table[NUMBERS_AT]),
            )  # fmt: skip
            table[UPDATES] += lengths[place]
        table[PLIES] += plies
    return error


class Table:
    """Where one worker plays and learns: an evaluator of its own, a memory of games, its dice.

    `room`: games in memory; `replays`: how many of them are learned from again after each game.
    """

    def __init__(
        self, evaluator: OutcomeNetwork, *, seed: tuple[int, ...], room: int, replays: int
    ) -> None:
        game = evaluator.game
        assert isinstance(game, DiceGame)
        self.evaluator = evaluator
        self.width = len(game.start())
        evaluate_at, data, self._kept = evaluator.native(_never)
        self._limits = cumulative(game.rolls)
        self._first_limits = cumulative(game.first_rolls or game.rolls)
        self._stack = np.zeros(int(getattr(game, "most_moves", 256)), dtype=np.int64)
        self._rolls = np.zeros(MOST_PLIES, dtype=np.int64)
        self.memory = np.zeros((room, MOST_PLIES + 1, self.width), dtype=np.int64)
        self.memory[:, 0] = game.start()
        self.lengths = np.zeros(room, dtype=np.int64)
        #: rate of learning, that of the last layer, lambda
        self.numbers = np.zeros(3)
        self._table = np.zeros(17, dtype=np.int64)
        self._table[:REPLAYS] = (
            reply_address(game),
            outcome_address(game),
            evaluate_at,
            data,
            sweep_address(evaluator),
            self.numbers.ctypes.data,
            self._stack.ctypes.data,
            self.memory.ctypes.data,
            self.width,
            room,
            self._rolls.ctypes.data,
        )
        self._table[REPLAYS] = replays
        self._table[STATE] = stream(*seed)

    def play(self, games: int, *, rate: float, last_rate: float, decay: float) -> float:
        """Play games and learn from them; returns the mean squared error of the outputs."""
        self.numbers[:] = rate, last_rate, decay
        before = self.updates
        error = play_and_learn(self._table, self._limits, self._first_limits, self.lengths, games)
        return float(error) / max(1, (self.updates - before) * len(self.evaluator.kinds))

    @property
    def updates(self) -> int:
        """Positions learned from so far."""
        return int(self._table[UPDATES])

    @property
    def plies(self) -> int:
        """Plies played so far."""
        return int(self._table[PLIES])

    def last_game(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The positions of the last game, [plies + 1, integers], and the rolls between them."""
        place = (int(self._table[NEXT]) - 1) % len(self.memory)
        plies = int(self.lengths[place])
        return self.memory[place, : plies + 1].copy(), self._rolls[:plies].copy()

    def get_state(self) -> dict[str, Any]:
        """Memory, dice and counts, from which `set_state` goes on to the same bits."""
        kept = int(self._table[KEPT])
        games = [self.memory[i, : self.lengths[i] + 1].reshape(-1) for i in range(kept)]
        return {
            "games": np.concatenate(games) if games else np.zeros(0, dtype=np.int64),
            "lengths": self.lengths.copy(),
            "table": self._table[REPLAYS + 1 :].copy(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from a state; ValueError where it does not fit."""
        lengths, table = state["lengths"], state["table"]
        if lengths.shape != self.lengths.shape or table.shape != (16 - REPLAYS,):
            raise ValueError("expected a memory of as many games as this one")
        kept = int(table[KEPT - REPLAYS - 1])
        if not (0 <= kept <= len(lengths) and ((lengths >= 0) & (lengths <= MOST_PLIES)).all()):
            raise ValueError("expected lengths of games in memory")
        if len(state["games"]) != int((lengths[:kept] + 1).sum()) * self.width:
            raise ValueError("expected the positions of the games in memory")
        self.lengths[:] = lengths
        self._table[REPLAYS + 1 :] = table
        place = 0
        for i in range(kept):
            size = (int(lengths[i]) + 1) * self.width
            self.memory[i, : lengths[i] + 1] = state["games"][place : place + size].reshape(
                -1, self.width
            )
            place += size


def _never(error: BaseException) -> None:
    raise AssertionError("networks raise nothing") from error

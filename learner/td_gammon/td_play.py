"""Games with dice that an evaluator plays against itself and learns from, in native code."""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.kernels import NativeRecord, kernel
from games.kernels.chance import stream
from games.kernels.memory import store_int
from learner.td_gammon.descent import sweep_address
from search.evaluators.outcome_network import OutcomeNetwork
from search.expectiminimax.replies import Prefilter
from search.expectiminimax.turn import NativeTurn, over, play_turn
from search.native import call_float

__all__ = ["MOST_PLIES", "ActorLearner"]

#: Longer games are dropped; a sensible game of backgammon takes some sixty plies.
MOST_PLIES = 1023

LEARNING = np.dtype(
    [
        (name, np.int64)
        for name in (
            # addresses: what learns from a game and the weights that it changes, the same for the
            # small network of the prefilter (0: none), and the numbers that both read
            "sweep_at weights small_sweep_at small_weights numbers"
            # addresses: positions and rolls of a game
            " positions rolls"
            # plies of the last game, positions learned from
            " length updates"
        ).split()
    ]
)


@kernel
def play_game(turn, replies, game, rolls):
    """Play a game, and keep it; returns its plies, or 0 if it did not end."""
    step = 8 * turn.width
    source = game
    for ply in range(MOST_PLIES):
        play_turn(turn, replies, source, source + step, ply, 1)
        store_int(rolls, ply, turn.roll)
        source += step
        if over(turn, source):
            return ply + 1
    return 0


@kernel
def play_and_learn(turn, replies, learning, games):
    """Play games, and learn from each at its end; returns the sum of the squared errors."""
    error = 0.0
    for _ in range(games):
        plies = play_game(turn, replies, learning.positions, learning.rolls)
        learning.length = plies
        if plies == 0:
            continue
        lesson = (learning.positions, plies, learning.numbers)
        error += call_float(learning.sweep_at, (learning.weights, *lesson))
        if learning.small_sweep_at != 0:
            call_float(learning.small_sweep_at, (learning.small_weights, *lesson))
        learning.updates += plies
    return error


class ActorLearner:
    """One worker that plays and learns: an evaluator of its own, and its dice.

    evaluator: plays and learns.
    seed: seed of the dice.
    prefilter: values only the replies that it keeps; its evaluator, a small network that no other
        worker has, learns too.
    """

    def __init__(
        self,
        evaluator: OutcomeNetwork,
        *,
        seed: tuple[int, ...],
        prefilter: Prefilter | None = None,
    ) -> None:
        game: Any = evaluator.game
        self.evaluator = evaluator
        self.networks = [evaluator]
        self._turn = NativeTurn(game)
        self._turn.put(state=stream(*seed))
        self._replies = [
            self._turn.replies(evaluator, prefilter=candidate) for candidate in (None, prefilter)
        ]
        #: rate of learning, that of the last layer, lambda
        self.numbers = np.zeros(3)
        self._positions = np.zeros((MOST_PLIES + 1, len(game.start())), dtype=np.int64)
        self._positions[0] = game.start()
        self._rolls = np.zeros(MOST_PLIES, dtype=np.int64)
        self._learning = NativeRecord(LEARNING)
        self._learning.pin(
            weights=evaluator.data(),
            numbers=self.numbers,
            positions=self._positions,
            rolls=self._rolls,
        )
        self._learning.put(sweep_at=sweep_address(evaluator))
        if prefilter is not None:
            small = prefilter.evaluator
            assert isinstance(small, OutcomeNetwork)
            self.networks.append(small)
            self._learning.pin(small_weights=small.data())
            self._learning.put(small_sweep_at=sweep_address(small))

    def play(
        self, games: int, *, rate: float, last_rate: float, lambda_: float, prefilter: bool = True
    ) -> float:
        """Play games and learn from them; returns the sum of the squared errors of all outputs.

        rate: step size of gradient descent.
        last_rate: step size of the last layer.
        lambda_: the lambda of TD(lambda).
        prefilter: whether to use the prefilter; otherwise all replies are valued.
        """
        self.numbers[:] = rate, last_rate, lambda_
        replies = self._replies[prefilter]
        return float(play_and_learn(self._turn.row, replies.row, self._learning.row, games))

    @property
    def updates(self) -> int:
        """Positions learned from so far."""
        return int(self._learning.updates)

    def last_game(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns the last game's positions, [plies + 1, integers], and the rolls between."""
        plies = int(self._learning.length)
        return self._positions[: plies + 1].copy(), self._rolls[:plies].copy()

    def get_state(self) -> list[int]:
        """Returns the dice and the count, from which `set_state` continues to the same bits."""
        return [int(self._turn.state), self.updates]

    def set_state(self, state: Any) -> None:
        """Continue from a state of `get_state`; raises ValueError for one that does not fit."""
        dice, updates = (int(number) for number in state)
        if not (0 <= dice < 1 << 62 and updates >= 0):
            raise ValueError(f"expected the dice and the count of a worker, found {state}")
        self._turn.put(state=dice)
        self._learning.put(updates=updates)

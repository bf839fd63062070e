"""A small network by self-play: trained on stored positions, then used in the next games.

It is `learner.rounds.batch` with a network in place of weights: the targets are the same blend of
the game's result and the value that search backed up. The search in the games must be clearly
stronger than the static value, because the network learns only from that difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from learner.fit.targets import expectations
from learner.models.network_model import NetworkModel, network_model
from learner.models.schedule import Schedule
from learner.options import ranged
from learner.positions.packing import pack_weights, unpack_weights
from learner.positions.shards import Rows
from learner.rounds.batch import BatchLearner, scale_of
from learner.self_play import rows_of
from search.evaluators.network import NetworkEvaluator

__all__ = ["NetworkFit"]

#: The last rate of a round as a share of the first.
LAST_SHARE = 0.01


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkFit(BatchLearner):
    """A network with ReLU between its layers, fitted by Adam after each round.

    inputs: an encoding or a feature set, or the name of one.
    hidden: widths of the hidden layers.
    epochs: passes over the positions of each round; every distinct position counts once.
    rate: step size of Adam, which falls to a hundredth over each round.
    batch: positions per step.
    device: where torch trains: "cpu", "cuda", or "auto" for a GPU if there is one.
    scale: the value that is squashed to tanh(1), as in `learner.models.model` (default: the one
    with
        which the values of the first round predict its results best, or 1 if they do not predict
        them).
    """

    inputs: Any = "piece_squares"
    hidden: tuple[int, ...] = (64, 32)
    round_games: int = 200
    keep_rounds: int = 5
    rollouts: int = 0
    rollout_positions: int = 4000
    epochs: int = ranged(1, 1)
    rate: float = ranged(0.001, above=0, high=1)
    batch: int = ranged(256, 1)
    device: str = "cpu"
    scale: float | None = ranged(1.5, above=0)

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        name = type(self).__name__.lower()
        model = network_model(
            self.game_,
            self.inputs,
            self.hidden,
            scale=1.0,
            seed=self.seed,
            start=evaluator,
            name=name,
            device=self.device,
        )
        self._network: NetworkEvaluator = model.evaluator
        self.evaluator_ = self._network

    def _fit_to(self, rows: Rows, number: int) -> dict[str, float]:
        # tanh(x) = 2 sigmoid(2 x) - 1
        scale = self.scale
        if scale is None:
            scale = self.rounds_[0]["scale"] if self.rounds_ else 2.0 / (scale_of(rows) or 2.0)
        model = NetworkModel(self._network, scale=scale, size=self.batch, device=self.device)
        expected = expectations(rows.value, rows.result, scale=2.0 / scale, blend=self.blend)
        targets = 2.0 * expected - 1.0
        inputs = rows_of(model.inputs, rows.positions)
        error = 0.0
        rates = Schedule(self.rate, LAST_SHARE)
        for epoch in range(self.epochs):
            error = model.learn(
                inputs,
                targets,
                targets,
                rate=rates.at(epoch, self.epochs),
                last_rate=rates.at(epoch + 1, self.epochs),
                random=np.random.default_rng((self.seed, number, epoch)),
            )
        return {"scale": scale, "loss": error}

    def _weights(self) -> Any:
        return pack_weights(self._network)

    def _set_weights(self, weights: Any) -> None:
        unpack_weights(weights, self._network)

    def _get_state(self) -> dict[str, Any]:
        return {**super()._get_state(), "scale": self._network.scale}

    def _set_state(self, state: dict[str, Any]) -> None:
        self._network.scale = float(state["scale"])
        super()._set_state(state)

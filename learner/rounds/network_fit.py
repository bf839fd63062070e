"""A small network by self-play: trained on stored positions, then used in the next games.

It learns as `learner.rounds.batch` does, with a network in place of weights: the targets are the
same blend of the game's result and the value that search backed up. The search in the games must be
clearly stronger than the static value, because the network learns only from that difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from games.contract import Game
from games.kinds import WITHOUT_DICE
from learner.models.network_model import NetworkModel, network_model
from learner.models.schedule import Schedule
from learner.options import ranged
from learner.positions.packing import pack_weights, unpack_weights
from learner.positions.shards import Rows
from learner.regression.targets import expectations
from learner.rounds.frame import RoundsLearner, scale_of
from learner.self_play import rows_of

__all__ = ["NetworkFit", "NetworkFitter"]

#: The last rate of a round as a share of the first.
LAST_SHARE = 0.01


class NetworkFitter:
    """The fit of a network with ReLU between its layers to the positions of each round, by Adam.

    options: `inputs`, `hidden`, `seed` and `device` as attributes, for a new network, and `epochs`,
        `rate`, `batch_size`, `scale` and `blend`, for the fits: see `NetworkFit`.
    start: the evaluator whose values the network has at first.

    `evaluator` is the network.
    """

    def __init__(self, game: Game, options: Any, start: Any, name: str) -> None:
        self._options = options
        model = network_model(
            game,
            options.inputs,
            options.hidden,
            scale=1.0,
            seed=options.seed,
            start=start,
            name=name,
            device=options.device,
        )
        self.evaluator = model.evaluator

    def fit(self, rows: Rows, rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Fit the network to the rows of a round; returns figures to report.

        rounds: the figures of the rounds before this one.
        """
        options = self._options
        # tanh(x) = 2 sigmoid(2 x) - 1
        first = (figures["scale"] for figures in rounds if "scale" in figures)
        scale = options.scale or next(first, None) or 2.0 / (scale_of(rows) or 2.0)
        size, device = options.batch_size, options.device
        model = NetworkModel(self.evaluator, scale=scale, size=size, device=device)
        expected = expectations(rows.value, rows.result, scale=2.0 / scale, blend=options.blend)
        targets = 2.0 * expected - 1.0
        inputs = rows_of(model.inputs, rows.positions)
        error = 0.0
        rates = Schedule(options.rate, LAST_SHARE)
        for epoch in range(options.epochs):
            error = model.learn(
                inputs,
                targets,
                targets,
                rate=rates.at(epoch, options.epochs),
                last_rate=rates.at(epoch + 1, options.epochs),
                random=np.random.default_rng((options.seed, len(rounds), epoch)),
            )
        return {"scale": scale, "loss": error}

    def get_state(self) -> dict[str, Any]:
        """Returns the weights and the scale, as plain JSON values."""
        return {"layers": pack_weights(self.evaluator), "scale": self.evaluator.scale}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a state that `get_state` returned."""
        self.evaluator.scale = float(state["scale"])
        unpack_weights(state["layers"], self.evaluator)


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkFit(RoundsLearner):
    """A network, fitted after each round.

    inputs: an encoding or a feature set, or the name of one.
    hidden: widths of the hidden layers.
    epochs: passes over the positions of each round; every distinct position counts once.
    rate: step size of Adam, which falls to a hundredth over each round.
    batch_size: positions per step.
    device: where torch trains: "cpu", "cuda", or "auto" for a GPU if there is one.
    scale: the value that is squashed to tanh(1), as in `learner.models.model` (default: the one
        with which the values of the first round predict its results best, or 1 if they do not
        predict them).
    """

    inputs: Any = "piece_squares"
    hidden: tuple[int, ...] = (64, 32)
    round_games: int = 200
    keep_rounds: int = 5
    epochs: int = ranged(1, 1)
    rate: float = ranged(0.001, above=0, high=1)
    batch_size: int = ranged(256, 1)
    device: str = "cpu"
    scale: float | None = ranged(1.5, above=0)
    _fitter: NetworkFitter = field(init=False)

    kinds = (WITHOUT_DICE,)

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        self._fitter = NetworkFitter(self.game_, self, evaluator, "networkfit")
        self.evaluator_ = self._fitter.evaluator

    def fit_rows(self, rows: Rows) -> dict[str, Any]:
        return self._fitter.fit(rows, self.rounds_)

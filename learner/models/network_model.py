"""Networks that learn: torch calculates gradients, the native search sees every step at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from games.contract import Game
from games.features import Encoding
from learner.models.model import batches, find_input
from learner.models.schedule import Schedule
from learner.models.torch_model import NativeModel, pairs, threads_of_torch
from search import as_evaluator
from search.evaluators.network import NetworkEvaluator
from search.evaluators.samples import sample_positions

__all__ = ["NetworkModel", "forward", "network_model"]


def network_model(
    game: Game,
    inputs: Any,
    hidden: tuple[int, ...],
    *,
    scale: float,
    seed: int,
    start: Any = None,
    name: str = "network",
    device: str = "cpu",
) -> NetworkModel:
    """Returns a new network over a feature set or an encoding, or the name of one.

    `start` is the evaluator whose values the network has at first. A network of the same layers is
    copied. For any other evaluator the best linear function of the inputs is fitted (least squares
    over positions of random play; over piece squares this is exact for material), which the network
    passes on through two units of each layer. Default: 0 everywhere.
    """
    if inputs is None:
        inputs = next(iter({**game.features, **game.encodings}), None)
    chosen = find_input(game, inputs)
    if start is not None:
        start = as_evaluator(game, start)
        same = isinstance(start, NetworkEvaluator) and start.only_relu and start.inputs == chosen
        if same and tuple(len(bias) for _, bias in start.layers[:-1]) == tuple(hidden):
            return NetworkModel(start.copy(), scale=scale, device=device)
    if any(width < 2 for width in hidden):
        raise ValueError(f"hidden: expected widths of at least 2, found {hidden}")
    linear = np.zeros(len(chosen)) if start is None else _linear(chosen, start)
    random = np.random.default_rng((seed, 6))
    widths = [len(chosen), *hidden, 1]
    layers = []
    for number, (width, following) in enumerate(zip(widths, widths[1:], strict=False)):
        # He et al. (2015), for as many inputs as are not 0
        busy = chosen.most if number == 0 and isinstance(chosen, Encoding) else width
        weights = random.normal(0.0, np.sqrt(2.0 / busy), (width, following))
        if number == len(hidden):
            weights[:] = 0.0  # at first only the passed value counts
        if start is not None:
            _pass_on(weights, linear if number == 0 else None, last=number == len(hidden))
        layers.append((weights, np.zeros(following)))
    evaluator = NetworkEvaluator(game, chosen, layers, name=name)
    return NetworkModel(evaluator, scale=scale, device=device)


def _pass_on(weights: NDArray[np.float64], linear: NDArray[np.float64] | None, last: bool) -> None:
    """Make the first two units carry a value and its negative, and the output their difference."""
    if linear is not None:
        weights[:, 0] = linear
        if not last:
            weights[:, 1] = -linear
        return
    weights[:, 0] = 0.0
    weights[0, 0] = 1.0
    if last:
        weights[1, 0] = -1.0
    else:
        weights[:, 1] = 0.0
        weights[1, 1] = 1.0


def _linear(inputs: Any, start: Any) -> NDArray[np.float64]:
    """Returns the linear function of the inputs that is nearest to an evaluator."""
    # kings reach every square only in many positions; inputs that never occur keep the weight 0
    few = len(inputs) <= 1024
    positions = sample_positions(start.game, 6000 if few else 256)
    measure = inputs.dense if isinstance(inputs, Encoding) else inputs.measure
    rows, values = np.asarray(measure(positions), dtype=np.float64), start.values(positions)
    if few:  # the same answer from fewer equations
        rows, values = rows.T @ rows, rows.T @ values
    solution, *_ = np.linalg.lstsq(rows, values, rcond=1e-12 if few else 1e-6)
    return np.asarray(np.round(solution, 6), dtype=np.float64)


def forward(layers: list[tuple[Any, Any]], rows: Any, *, sparse: bool) -> Any:
    """Returns the outputs of a network for rows of its inputs, [rows].

    rows: active indices padded with the number of inputs if `sparse`, else values of terms.
    """
    (weights, bias), *others = layers
    if sparse:
        active = rows < len(weights)
        counts = active.sum(dim=1)
        offsets = torch.cumsum(counts, dim=0) - counts
        hidden = torch.nn.functional.embedding_bag(rows[active], weights, offsets, mode="sum")
        hidden = hidden + bias
    else:
        hidden = rows @ weights + bias
    for weights, bias in others:
        hidden = torch.relu(hidden) @ weights + bias
    return hidden[:, 0]


class NetworkModel(NativeModel):
    """A network that follows targets by gradient steps of Adam; see `learner.models.model.Model`.

    size: positions per batch.
    device: "cpu", "cuda", or "auto" for a GPU if there is one.

    Every lesson begins from the evaluator's weights, and changes them.
    """

    evaluator: NetworkEvaluator

    def __init__(
        self, evaluator: NetworkEvaluator, *, scale: float, size: int = 256, device: str = "cpu"
    ) -> None:
        self.evaluator = evaluator
        self.inputs = evaluator.inputs
        self.scale = scale
        self.size = size
        self.sparse = isinstance(self.inputs, Encoding)
        self._begin(evaluator.nets[0].arrays, device)
        self.layers = pairs(self.parameters)

    def _rows(self, rows: NDArray[Any]) -> Any:
        return self._tensor(rows if self.sparse else rows.astype(np.float32))

    def learn(
        self,
        rows: NDArray[Any],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        *,
        rate: float,
        random: np.random.Generator,
        last_rate: float | None = None,
    ) -> float:
        """As in `Model`; rows: active indices of an encoding, or values of terms.

        The rate goes linearly to `last_rate`, if that is given.
        """
        total = 0.0
        self.read()
        given = self._rows(rows)
        least, most = (self._tensor(ends.astype(np.float32)) for ends in (low, high))
        cut = batches(len(rows), self.size, random)
        rates = Schedule.between(rate, last_rate)
        with threads_of_torch():
            for number, chosen in enumerate(cut):
                index = self._tensor(chosen)
                output = self.evaluator.scale * forward(
                    self.layers, given[index], sparse=self.sparse
                )
                predicted = torch.tanh(output / self.scale)
                target = torch.clamp(predicted.detach(), least[index], most[index])
                loss = torch.mean((predicted - target) ** 2)
                self.descend(loss, rates.at(number, len(cut)))
                total += float(loss.detach()) * len(chosen)
        self.write()
        return total / max(1, len(rows))

    def get_state(self) -> dict[str, Any]:
        return {**super().get_state(), "scale": self.evaluator.scale}

    def set_state(self, state: dict[str, Any]) -> None:
        """As in `TorchModel`; the evaluator keeps its arrays."""
        scale = float(state["scale"])
        super().set_state(state)
        self.write()
        self.evaluator.scale = scale

"""Networks of integers that learn: torch trains weights through their rounding.

The forward pass calculates with the same integers as `search.evaluators.quantised`: weights are
rounded, units clipped at 0 and 255. The backward pass ignores the rounding (the straight-through
estimator, Bengio et al. 2013; for whole networks Jacob et al. 2018). Training therefore sees the
error of rounding, and the exported network is the one that was trained.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from games.contract import Game
from games.features import Encoding
from learner.models.model import batches, find_input
from learner.models.schedule import Schedule
from learner.models.torch_model import TorchModel, pairs, threads_of_torch
from learner.self_play import pick
from search.evaluators.files.layers import MOST_UNITS
from search.evaluators.quantised import FIRST_SHIFT, HIGHEST, SHIFT, UNIT, QuantisedNetwork

__all__ = ["QuantisedModel"]

#: The integers that stand for 1 in the first layer and in the weights of later ones.
FIRST_UNIT, WEIGHT_UNIT = HIGHEST << FIRST_SHIFT, 1 << SHIFT
#: The bias of the first layer lies between this and its negative; the rest is for the weights.
MOST_BIAS = 2048
#: Positions whose outputs are calculated at a time.
AT_A_TIME = 8192


class QuantisedModel(TorchModel):
    """A network of integers that follows expectations by gradient steps of Adam.

    inputs: an encoding, or the name of one of the game's.
    hidden: widths of the hidden layers.
    phases: as in `QuantisedNetwork`.
    scale: as in `QuantisedNetwork`: the expectation of a position, 0 for a lost game and 1 for a
        won one, is 1 / (1 + exp(-value / scale)).
    seed: seed of the first weights.
    size: positions per step.
    start: a network of the same inputs and widths to continue from (default: random weights). It
        may have fewer phases, each of which is then split into equal ones.
    device: "cpu", "cuda", or "auto" for a GPU if there is one.

    `loss_` is the mean squared error of expectations in the last epoch of `fit`, each position's
    before its step. The same calls give the same bits, because torch calculates in one thread.
    """

    def __init__(
        self,
        game: Game,
        inputs: Encoding | str,
        hidden: tuple[int, ...],
        *,
        phases: tuple[int, ...] = (),
        scale: float = 1.0,
        seed: int = 0,
        size: int = 4096,
        start: QuantisedNetwork | None = None,
        device: str = "cpu",
    ) -> None:
        self.game = game
        self.inputs: Encoding = find_input(game, inputs, Encoding)
        self.hidden = tuple(hidden)
        self.phases = tuple(phases)
        self.scale = scale
        self.seed = seed
        self.size = size
        whole = all(type(width) is int and 1 <= width <= MOST_UNITS for width in hidden)
        if not hidden or not whole or size < 1 or not 0 < scale < np.inf:
            raise ValueError(
                f"expected hidden layers of 1 to {MOST_UNITS} units, positions in a step and a"
                f" finite scale above 0, found hidden={hidden}, size={size}, scale={scale}"
            )
        self._limits = [(1 << 15) - 1 - MOST_BIAS, 127]
        self._limits[0] //= self.inputs.most
        layers = self._drawn() if start is None else self._of(start)
        self._begin(chain.from_iterable(layers), device)
        self._keep_limits()
        self.evaluator()  # raises ValueError for invalid widths and phases

    def _drawn(self) -> list[tuple[Any, Any]]:
        """Returns random weights to begin with (He et al. 2015); the last layer's are small."""
        random = np.random.default_rng((self.seed, 11))
        widths = [len(self.inputs), *self.hidden, 1]
        layers: list[tuple[Any, Any]] = []
        for number, (before, after) in enumerate(zip(widths, widths[1:], strict=False)):
            lead = (len(self.phases) + 1,) if number else ()
            last = number == len(self.hidden)
            # on a board at most half of the inputs that may be 1 are 1
            busy = before if number else max(1, self.inputs.most // 2)
            size = np.sqrt((2.0 if number else 0.5) / busy) * (0.5 if last else 1.0)
            # the phases begin alike
            weights = np.broadcast_to(
                random.normal(0.0, size, (before, after)), (*lead, before, after)
            )
            bias = np.full((*lead, after), 0.0 if last else 0.1 if number else 0.25)
            layers.append((weights, bias))
        return layers

    def _of(self, start: QuantisedNetwork) -> list[tuple[Any, Any]]:
        """Returns the layers of a network, whose phases split into those of this model."""
        widths = (len(self.inputs), *self.hidden, 1)
        fits = (self.inputs, widths) == (start.encoding, start.widths)
        if not fits or not set(start.phases) <= set(self.phases):
            raise ValueError(
                f"start: expected a network over {self.inputs.name} of widths {widths} and phases"
                f" among {self.phases}, found {start} with {start.phases}"
            )
        part = np.searchsorted(start.phases, [0, *self.phases], side="right")
        return [
            (weights[part] / WEIGHT_UNIT, (bias[part] - half) / UNIT)
            if i
            else (weights / FIRST_UNIT, (bias - half) / FIRST_UNIT)
            for i, ((weights, bias), half) in enumerate(
                zip(start.layers, self._halves(), strict=True)
            )
        ]

    def _halves(self) -> list[int]:
        """Returns each layer's bias offset, with which shifts round to the nearest number."""
        return [
            0 if i == len(self.hidden) else 1 << (SHIFT if i else FIRST_SHIFT) - 1
            for i in range(len(self.hidden) + 1)
        ]

    def _whole(self) -> list[tuple[Any, Any]]:
        """Returns the integer weights and bias of each layer."""
        halves = self._halves()
        return [
            (
                _changed(weights * (WEIGHT_UNIT if i else FIRST_UNIT), torch.round),
                _changed(bias * (UNIT if i else FIRST_UNIT), torch.round) + halves[i],
            )
            for i, (weights, bias) in enumerate(pairs(self.parameters))
        ]

    def descend(self, loss: Any, rate: float) -> None:
        super().descend(loss, rate)
        self._keep_limits()

    def _keep_limits(self) -> None:
        """Clip weights to the range of the integers."""
        with torch.no_grad():
            for i, parameter in enumerate(self.parameters):
                limit = self._limits[0] / FIRST_UNIT if i == 0 else self._limits[1] / WEIGHT_UNIT
                if i == 1:
                    limit = (MOST_BIAS - 1) / FIRST_UNIT
                if i < 2 or i % 2 == 0:
                    parameter.clamp_(-limit, limit)

    def logits(self, positions: Any) -> tuple[Any, NDArray[np.int64]]:
        """Returns the network's outputs over UNIT, and the indices of their positions."""
        rows = self.inputs.active_rows(positions)
        counts = (rows < len(self.inputs)).sum(axis=1)
        phases = np.searchsorted(self.phases, counts, side="right")
        order = np.argsort(phases, kind="stable")
        parts = np.bincount(phases, minlength=len(self.phases) + 1).tolist()
        dense = torch.zeros((len(rows), len(self.inputs) + 1), device=self.device)
        dense.scatter_(1, self._tensor(rows[order]), 1.0)
        (weights, bias), *others = self._whole()
        first = _active(dense[:, :-1] @ weights + bias, FIRST_SHIFT)
        outputs = []
        for phase, hidden in enumerate(torch.split(first, parts)):
            for weights, bias in others[:-1]:
                hidden = _active(hidden @ weights[phase] + bias[phase], SHIFT)
            weights, bias = others[-1]
            outputs.append((hidden @ weights[phase] + bias[phase])[:, 0])
        return torch.cat(outputs) / UNIT, order

    def fit(
        self,
        positions: Any,
        targets: ArrayLike,
        *,
        random: np.random.Generator,
        epochs: int = 1,
        rate: float = 0.001,
        last_rate: float | None = None,
    ) -> QuantisedModel:
        """Pass over positions `epochs` times in random order; returns the model.

        positions: [positions, integers] or a list.
        targets: the expectation of each position, 0 to 1, see
            `learner.regression.targets.expectations`.
        random: draws the order of the positions.
        epochs: number of passes.
        rate, last_rate: the step size goes linearly from `rate` to `last_rate` (default: constant).

        Raises ValueError for targets that do not fit.
        """
        expected = _expected(positions, targets)
        if epochs < 1 or not 0 < rate <= 1 or not 0 < (last_rate or rate) <= 1:
            raise ValueError(
                "expected at least one epoch, rates above 0 and at most 1, found"
                f" epochs={epochs}, rate={rate}, last_rate={last_rate}"
            )
        done = 0
        rates = Schedule.between(rate, last_rate)
        with threads_of_torch():
            for _ in range(epochs):
                cut = batches(len(expected), self.size, random)
                for chosen in cut:
                    logits, order = self.logits(pick(positions, chosen))
                    target = self._tensor(expected[chosen][order])
                    loss = torch.sum((torch.sigmoid(logits) - target) ** 2)
                    rate_now = rates.at(done, epochs * len(cut))
                    self.descend(loss / float(len(chosen)), rate_now)
                    done += 1
        return self

    def expectations(self, positions: Any) -> NDArray[np.float64]:
        """Returns the network's expectation of each position, 0 to 1; [positions]."""
        return np.asarray(1.0 / (1.0 + np.exp(-self.outputs(positions))))

    def outputs(self, positions: Any) -> NDArray[np.float64]:
        """Returns the values of positions over `scale`, as torch calculates them; [positions]."""
        outputs = np.zeros(len(positions))
        with threads_of_torch(), torch.no_grad():
            for first in range(0, len(outputs), AT_A_TIME):
                chosen = np.arange(first, min(first + AT_A_TIME, len(outputs)))
                logits, order = self.logits(pick(positions, chosen))
                outputs[chosen[order]] = logits.double().cpu().numpy()
        return outputs

    def error(self, positions: Any, targets: ArrayLike) -> float:
        """Returns the mean squared error of the expectations."""
        expected = _expected(positions, targets)
        return float(np.mean((self.expectations(positions) - expected) ** 2))

    def evaluator(self, *, name: str = "quantised network") -> QuantisedNetwork:
        """Returns the network of integers as it is now; later steps do not change it."""
        with torch.no_grad():
            layers = [
                (weights.cpu().numpy(), bias.cpu().numpy()) for weights, bias in self._whole()
            ]
        return QuantisedNetwork(
            self.game, self.inputs, layers, phases=self.phases, scale=self.scale, name=name
        )


def _changed(numbers: Any, change: Callable[[Any], Any]) -> Any:
    """Returns numbers rounded by `change`, whose gradient is that of the identity."""
    return numbers + (change(numbers) - numbers).detach()


def _active(sums: Any, shift: int) -> Any:
    """Returns the outputs of units for their sums."""
    down = _changed(sums / (1 << shift), torch.floor)
    return torch.clamp(down, 0.0, float(HIGHEST))


def _expected(positions: Any, targets: ArrayLike) -> NDArray[np.float32]:
    expected = np.asarray(targets, dtype=np.float32)
    if expected.shape != (len(positions),) or not ((expected >= 0) & (expected <= 1)).all():
        raise ValueError(
            f"targets: expected {len(positions)} numbers from 0 to 1, found shape {expected.shape}"
            + (f" from {expected.min()} to {expected.max()}" if expected.size else "")
        )
    return expected

"""Networks as heuristics, of float32 and of small integers, learned as `Bootstrap` learns weights.

They follow the costs along solutions in the same rounds, with the same weight of overestimates and
the same offset; only what is fitted is another model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learner.heuristics.bootstrap import Bootstrap
from learner.heuristics.following import (
    LAST_SHARE,
    SCALE,
    cost_network,
    get_model_state,
    set_model_state,
)
from learner.models.model import squash
from learner.models.quantised_model import QuantisedModel
from learner.models.schedule import Schedule
from learner.positions.packing import packed, unpacked
from search.evaluators.heuristic import NetworkHeuristic

__all__ = ["NetworkFit", "QuantisedFit"]

#: The offset of a network that has learned nothing yet: only the base heuristics count.
BELOW = -1e9


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkFit(Bootstrap):
    """Fits a network with ReLU between its layers to the costs along solutions.

    Options beside those of `Bootstrap`, without `ridge` and `abstractions`:

    hidden: widths of the hidden layers.
    rate: step size of Adam; it falls linearly to a tenth over the `rounds`.
    batch: positions in a step.
    sample: greatest number of examples to learn from in a round, drawn at random.
    """

    hidden: tuple[int, ...] = (64,)
    rate: float = 0.002
    batch: int = 256
    sample: int = 20_000
    over: float = 4.0
    #: fixed values for learners that do not offer these options
    ridge: float = field(default=0.0, init=False)
    abstractions: bool = field(default=False, init=False)

    heuristic_: Any = field(init=False)

    def _check(self) -> None:
        super()._check()
        self._at_least({"batch": 1, "sample": 1})
        if not 0 < self.rate <= 1:
            raise ValueError(f"rate: expected more than 0 and at most 1, found {self.rate}")

    def _begin_model(self) -> None:
        self._model: Any = cost_network(
            self.problem_, self.encoding_, self.hidden, seed=self.seed, size=self.batch
        )
        network = self._model.evaluator
        self.heuristic_ = NetworkHeuristic(self.problem_, network, base=self.base)

    def _random(self) -> np.random.Generator:
        return np.random.default_rng((self.seed, len(self.rounds_)))

    def _sample(
        self, rows: NDArray[Any], costs: NDArray[np.float64], chosen: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Returns the examples to learn from in this round, and the weight of each."""
        if len(chosen) > self.sample:
            chosen = self._random().choice(chosen, self.sample, replace=False)
        counts = np.where(self._sums(rows, chosen) > costs[chosen], self.over, 1.0)
        return chosen, counts

    def _now(self) -> float:
        """Returns the rate of this round."""
        return Schedule(self.rate, LAST_SHARE).at(len(self.rounds_), self.rounds)

    def _fit_to(
        self, rows: NDArray[Any], costs: NDArray[np.float64], chosen: NDArray[np.int64]
    ) -> None:
        chosen, counts = self._sample(rows, costs, chosen)
        targets = squash(costs[chosen], SCALE)
        self._model.learn(
            rows[chosen].astype(np.int64), targets, targets, rate=self._now(),
            random=self._random(), weights=counts,
        )  # fmt: skip

    def _sums(self, rows: NDArray[Any], chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(self._model.values(rows[chosen].astype(np.int64)))

    def _model_state(self) -> dict[str, Any]:
        return get_model_state(self._model)

    def _set_model_state(self, state: dict[str, Any]) -> None:
        set_model_state(self._model, state)


@dataclass(kw_only=True, eq=False, repr=False)
class QuantisedFit(NetworkFit):
    """Fits a network of small integers to the costs along solutions.

    scale: the cost at which the network is most exact; costs beyond five times as much are hardly
        told apart.
    """

    hidden: tuple[int, ...] = (32,)
    scale: float = 20.0

    def _check(self) -> None:
        super()._check()
        if not self.scale > 0:
            raise ValueError(f"scale: expected more than 0, found {self.scale}")

    def _begin_model(self) -> None:
        self._model = QuantisedModel(
            self.problem_, self.encoding_, self.hidden, scale=self.scale, seed=self.seed,
            size=self.batch,
        )  # fmt: skip
        self._show()
        self.heuristic_.offset = BELOW

    def _show(self) -> None:
        """Let searches see the network as it is now."""
        self.heuristic_ = NetworkHeuristic(self.problem_, self._model.evaluator(), base=self.base)

    def _fit_to(
        self, rows: NDArray[Any], costs: NDArray[np.float64], chosen: NDArray[np.int64]
    ) -> None:
        chosen, counts = self._sample(rows, costs, chosen)
        expected = 1.0 / (1.0 + np.exp(-costs[chosen] / self.scale))
        self._model.fit(
            self._examples.positions(chosen), expected, counts, rate=self._now(),
            random=self._random(),
        )  # fmt: skip
        self._show()

    def _sums(self, rows: NDArray[Any], chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(self._model.outputs(self._examples.positions(chosen)) * self.scale)

    def _model_state(self) -> dict[str, Any]:
        arrays: Mapping[str, NDArray[Any]] = self._model.get_state()
        return {name: packed(array) for name, array in arrays.items()}

    def _set_model_state(self, state: dict[str, Any]) -> None:
        shapes = {
            name: (array.dtype, array.shape) for name, array in self._model.get_state().items()
        }
        self._model.set_state(
            {
                name: unpacked(state[name], kind, size=int(np.prod(shape))).reshape(shape)
                for name, (kind, shape) in shapes.items()
            }
        )
        self._show()

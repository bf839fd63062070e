"""Models: evaluators that follow targets, weights over terms here, networks in `network_model`.

The target of a position is an interval of values. If both ends are equal the value should be that;
if they differ (a search that was cut off knows only a bound) any value inside is right. Values are
squashed by tanh(value / scale) before they are compared, so that a queen more or less matters
little in a won game; decided games have the values 1 and -1.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.extras import extra
from games.features import Cells, Encoding, FeatureSet
from games.features.cells import CELL_INPUTS
from search import Evaluator, LinearEvaluator

__all__ = [
    "Adam",
    "LinearModel",
    "Model",
    "batches",
    "find_input",
    "inputs_of",
    "numbers_of",
    "squash",
    "steps_of",
]


class Model(Protocol):
    """An evaluator that can be taught; searches see every change at once."""

    @property
    def evaluator(self) -> Evaluator:
        """The evaluator that learns."""

    @property
    def inputs(self) -> Any:
        """The inputs of positions: a feature set or an encoding."""

    def learn(
        self,
        rows: NDArray[Any],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        *,
        rate: float,
        random: np.random.Generator,
    ) -> float:
        """Pass once over positions, in random batches; returns the mean squared error before.

        rows: [positions, ...], as `rows_of` returned them for the model's inputs.
        low, high: the intervals of squashed values, from -1 to 1.
        rate: the step size.
        random: draws the order of the positions.
        """

    def get_state(self) -> dict[str, Any]:
        """Returns the weights and the state of the optimiser, as plain JSON values."""

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state that `get_state` returned."""


def squash(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Returns values between -1 and 1: tanh(value / scale); wins and losses are 1 and -1."""
    return np.asarray(np.tanh(np.clip(values / scale, -50.0, 50.0)))


def batches(count: int, size: int, random: np.random.Generator) -> list[NDArray[np.int64]]:
    """Returns the numbers below `count` in random order, in batches of about `size`."""
    order = random.permutation(count)
    return np.array_split(order, max(1, round(count / size))) if count else []


def inputs_of(game: Game) -> dict[str, Any]:
    """Returns the feature sets and encodings of a game by their names, the one of its cells too."""
    cells = extra(game, Cells)
    own = {CELL_INPUTS: cells.encoding} if cells is not None and cells.of_a_board else {}
    return {**game.features, **game.encodings, **own}


def find_input(game: Game, inputs: Any, kinds: Any = (FeatureSet, Encoding)) -> Any:
    """Returns the feature set or encoding of a name; an object is returned unchanged.

    kinds: the kinds accepted.

    Raises ValueError if the game does not have it.
    """
    known = inputs_of(game)
    named = known.get(inputs) if isinstance(inputs, str) else inputs
    if not isinstance(named, kinds):
        names = [name for name, one in known.items() if isinstance(one, kinds)]
        raise ValueError(
            f"inputs: expected one of {', '.join(names) or 'none'} for {game.name}, found"
            f" {inputs!r}"
        )
    return named


def numbers_of(values: Any, count: int) -> NDArray[np.float64]:
    """Returns the `count` finite numbers of a list in a state.

    Raises ValueError if it holds anything else.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        finite = int(np.isfinite(numbers).sum())
        raise ValueError(f"expected {count} finite numbers, found {numbers.size}, {finite} finite")
    return numbers


def steps_of(state: dict[str, Any]) -> int:
    """Returns the number of steps that an optimiser has taken.

    Raises ValueError if the state does not hold it.
    """
    steps = state["steps"]
    if type(steps) is not int or steps < 0:
        raise ValueError(f"steps: expected a whole number of at least 0, found {steps!r}")
    return steps


class Adam:
    """Steps along a gradient in units of its own size (Kingma and Ba 2015).

    floor: the least unit, as a share of the root mean square over all weights.
    """

    mean_decay, square_decay = 0.9, 0.999

    def __init__(self, size: int, *, floor: float = 0.0) -> None:
        self.floor = floor
        self.mean = np.zeros(size)
        self.square = np.zeros(size)
        self.steps = 0

    def step(self, gradient: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
        """Returns the change of the weights."""
        self.steps += 1
        self.mean += (1.0 - self.mean_decay) * (gradient - self.mean)
        self.square += (1.0 - self.square_decay) * (gradient * gradient - self.square)
        mean = self.mean / (1.0 - self.mean_decay**self.steps)
        square = self.square / (1.0 - self.square_decay**self.steps)
        size = np.maximum(np.sqrt(square), self.floor * np.sqrt(square.mean()))
        return np.asarray(-rate * mean / (size + 1e-8))


class LinearModel:
    """Weights over terms that follow targets by gradient steps of Adam.

    evaluator: the evaluator that learns.
    learned: whether each weight may change, [terms].
    scale: the value that is squashed to tanh(1).
    size: positions per batch.

    Each term is measured in units of its running root mean square, so that one rate suits them all.
    """

    def __init__(
        self,
        evaluator: LinearEvaluator,
        *,
        learned: NDArray[np.bool_],
        scale: float,
        size: int = 256,
    ) -> None:
        self.evaluator: LinearEvaluator = evaluator
        self.inputs = evaluator.features
        self.learned = learned
        self.scale = scale
        self.size = size
        # a term seen once in many batches must not take a step as large as the others'
        self._adam = Adam(len(evaluator.weights), floor=0.1)
        self._spread = np.ones(len(evaluator.weights))

    def learn(
        self,
        rows: NDArray[Any],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        *,
        rate: float,
        random: np.random.Generator,
    ) -> float:
        """As in `Model`; rows: the values of the terms, [positions, terms]."""
        total = 0.0
        for chosen in batches(len(rows), self.size, random):
            terms = rows[chosen]
            share = 0.01 if self._adam.steps else 1.0
            self._spread += share * ((terms * terms).mean(axis=0) - self._spread)
            unit = np.sqrt(np.maximum(self._spread, 1e-2))
            values = squash(terms @ self.evaluator.weights, self.scale)
            error = values - np.clip(values, low[chosen], high[chosen])
            total += float(error @ error)
            slope = error * (1.0 - values * values)
            gradient = np.where(self.learned, (slope @ terms) / (len(chosen) * unit), 0.0)
            self.evaluator.weights += self._adam.step(gradient, rate) / unit
        return total / max(1, len(rows))

    def get_state(self) -> dict[str, Any]:
        """Returns weights, moments of the gradient and spread of the terms."""
        return {
            "weights": self.evaluator.weights.tolist(),
            "mean": self._adam.mean.tolist(),
            "square": self._adam.square.tolist(),
            "steps": self._adam.steps,
            "spread": self._spread.tolist(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state; the evaluator keeps its array of weights."""
        count = len(self.evaluator.weights)
        parts = {name: numbers_of(state[name], count) for name in ("mean", "square", "spread")}
        steps = steps_of(state)
        self.evaluator.weights[:] = numbers_of(state["weights"], count)
        self._adam.mean[:], self._adam.square[:] = parts["mean"], parts["square"]
        self._spread[:] = parts["spread"]
        self._adam.steps = steps

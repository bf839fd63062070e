"""Layers of a network under construction, from the steps that a model calculates.

A function with two kinks is two ReLUs: clip(x, a, b) = a + relu(x - a) - relu(x - b), and a
leaky ReLU is relu(x) - slope * relu(-x).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from search.evaluators.activations import IDENTITY, RELU
from search.evaluators.files.layers import MOST_UNITS

__all__ = ["Stack", "Sum"]

Values = NDArray[np.float64]


class Sum(NamedTuple):
    """A vector that a model calculates, as a linear function of inputs and units.

    parts: weights [units, width] by source: 0 for the inputs, i + 1 for the units of layer i; None
        for the identity.
    bias: [width]. Default: 0.
    """

    parts: dict[int, Values | None]
    bias: Values | None = None

    def is_source(self, source: int) -> bool:
        """Returns whether the vector is just the units of a layer, or the inputs."""
        return self.bias is None and self.parts.get(source, self) is None


class Stack:
    """Layers, the activations between them, and skips, as `search.evaluators.layers.Net` has them.

    width: the number of inputs.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.layers: list[tuple[Values, Values]] = []
        self.activations: list[str] = []
        self.skips: list[tuple[int, int]] = []
        self.inputs = Sum({0: None})

    def width_of(self, value: Sum) -> int:
        """Returns the length of a vector."""
        if value.bias is not None:
            return len(value.bias)
        (source,) = value.parts
        return self.layers[source - 1][0].shape[1] if source else self.width

    def linear(self, value: Sum, weights: Values, bias: Values | float = 0.0) -> Sum:
        """Returns value @ weights + bias."""
        if len(value.parts) > 1:
            value = self.units(value, IDENTITY)
        ((source, own),) = value.parts.items()
        before = 0.0 if value.bias is None else value.bias @ weights
        total = np.zeros(weights.shape[1]) + before + bias
        return Sum({source: weights if own is None else own @ weights}, total)

    def affine(self, value: Sum, call: Callable[[Values], Any]) -> Sum | None:
        """Returns the result of a function of a vector if it is linear with a bias, else None.

        call: the function, of rows; it is tried on rows drawn at random.
        """
        width = self.width_of(value)
        if width > MOST_UNITS:
            raise ValueError(f"expected at most {MOST_UNITS} inputs of a step, found {width}")
        bias = np.asarray(call(np.zeros((1, width))), np.float64).reshape(-1)
        weights = np.asarray(call(np.eye(width)), np.float64).reshape(width, -1) - bias
        probe = np.random.default_rng(0).normal(0.0, 10.0, (8, width))
        outputs = np.asarray(call(probe), np.float64).reshape(8, -1)
        linear = probe @ weights + bias
        if linear.shape != outputs.shape or not np.allclose(linear, outputs, rtol=1e-6, atol=1e-6):
            return None
        return self.linear(value, weights, bias)

    def units(self, value: Sum, kind: str) -> Sum:
        """Returns the units of a new layer, whose sums are a vector, after an activation."""
        last = len(self.layers)
        if last and value.is_source(last):
            if kind == IDENTITY or kind == self.activations[-1] == RELU:
                return value
        others = {source: own for source, own in value.parts.items() if source != last}
        if last not in value.parts or 0 in others or any(w is not None for w in others.values()):
            raise TypeError("expected layers and skips past some of them, found other branches")
        width = self.width_of(value)
        own = value.parts[last]
        self.skips += [(source - 1, last) for source in others]
        self.layers.append((
            np.eye(width) if own is None else own,
            np.zeros(width) if value.bias is None else value.bias,
        ))  # fmt: skip
        self.activations.append(kind)
        return Sum({last + 1: None})

    def added(self, first: Sum, second: Sum) -> Sum:
        """Returns the sum of two vectors."""
        width = max(self.width_of(first), self.width_of(second))
        parts = dict(first.parts)
        for source, own in second.parts.items():
            both = [np.eye(width) if w is None else w for w in (parts.get(source), own)]
            parts[source] = both[0] + both[1] if source in parts else own
        biases = [value.bias for value in (first, second) if value.bias is not None]
        return Sum(parts, np.zeros(width) + sum(biases))

    def clipped(self, value: Sum, low: float, high: float) -> Sum:
        """Returns a vector whose numbers are clipped to `low` to `high`."""
        width = self.width_of(value)
        one = np.eye(width)
        bias = np.repeat([-low, -high], width)
        both = self.units(self.linear(value, np.hstack([one, one]), bias), RELU)
        return self.linear(both, np.vstack([one, -one]), np.full(width, low))

    def leaky(self, value: Sum, slope: float) -> Sum:
        """Returns a vector whose negative numbers are multiplied by a slope."""
        one = np.eye(self.width_of(value))
        both = self.units(self.linear(value, np.hstack([one, -one])), RELU)
        return self.linear(both, np.vstack([one, -slope * one]))

    def finish(self, value: Sum) -> None:
        """Make a vector the output."""
        if not self.layers and value.is_source(0):
            raise TypeError("expected a model with layers, found no layer")
        if len(value.parts) > 1:
            value = self.units(value, IDENTITY)
        self.units(value, "output")  # the last layer has no activation
        self.activations.pop()

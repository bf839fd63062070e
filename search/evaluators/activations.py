"""Activations of networks, the functions between their layers.

ReLU and the identity cost nothing: the next layer applies them as it reads. All others change the
sums of a layer, an array of float32, in place and calculate in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.kernels import kernel

__all__ = ["EPSILON", "IDENTITY", "KINDS", "NORMALISE", "RELU", "activation_text", "activation_of"]

RELU, IDENTITY, NORMALISE = "relu", "identity", "normalise"
#: Added to the variance in a normalisation.
EPSILON = 1e-5


@kernel
def tanh(value: Any) -> Any:
    """Returns the hyperbolic tangent."""
    return math.tanh(value)


@kernel
def sigmoid(value: Any) -> Any:
    """Returns 1 / (1 + exp(-value)), by a formula that does not overflow."""
    return 0.5 + 0.5 * math.tanh(0.5 * value)


@kernel
def silu(value: Any) -> Any:
    """Returns value / (1 + exp(-value)), which is also called swish."""
    return value * (0.5 + 0.5 * math.tanh(0.5 * value))


@kernel
def gelu(value: Any) -> Any:
    """Returns the value times the normal distribution's share below it."""
    return 0.5 * value * (1.0 + math.erf(value * 0.7071067811865476))


@kernel
def gelu_tanh(value: Any) -> Any:
    """Returns an approximation of `gelu`, which some networks are trained with."""
    inside = 0.7978845608028654 * (value + 0.044715 * value * value * value)
    return 0.5 * value * (1.0 + math.tanh(inside))


@kernel
def screlu(value: Any) -> Any:
    """Returns the square of the value clipped to 0 to 1."""
    clipped = min(max(value, 0.0), 1.0)
    return clipped * clipped


@kernel
def normalise(units: Any) -> Any:
    """Shift and scale the units to mean 0 and variance 1: (x - mean) / sqrt(variance + 1e-5)."""
    mean = 0.0
    for i in range(len(units)):
        mean += float(units[i])
    mean /= len(units)
    variance = 0.0
    for i in range(len(units)):
        variance += (float(units[i]) - mean) * (float(units[i]) - mean)
    factor = 1.0 / math.sqrt(variance / len(units) + EPSILON)
    for i in range(len(units)):
        units[i] = (float(units[i]) - mean) * factor
    return 0


#: Kernels by the names of activations: of a value, but for `NORMALISE`; None where none is needed.
KINDS: Mapping[str, Any] = {
    RELU: None, "tanh": tanh, NORMALISE: normalise, IDENTITY: None,
    "sigmoid": sigmoid, "silu": silu, "screlu": screlu, "gelu": gelu, "gelu_tanh": gelu_tanh,
}  # fmt: skip


def activation_text(kind: str, address: str, width: int) -> list[str]:
    """Returns text that applies an activation to the `width` sums at an address."""
    if KINDS[kind] is None:
        return []
    units = f"array_at(float32_pointer({address}), ({width},))"
    if kind == NORMALISE:
        return [f"normalise({units})"]
    return [
        f"units = {units}",
        f"for i in range({width}):",
        f"    units[i] = {kind}(float(units[i]))",
    ]


def activation_of(kind: str) -> Callable[[NDArray[np.float32]], NDArray[np.float32]]:
    """Returns an activation as a Python function of the sums of a layer."""
    if kind == RELU:
        return lambda sums: np.where(sums > 0, sums, np.float32(0))
    if kind == IDENTITY:
        return lambda sums: sums
    change = kernels.uncompiled(KINDS[kind])

    def changed(sums: NDArray[np.float32]) -> NDArray[np.float32]:
        if kind != NORMALISE:
            return np.array([change(float(x)) for x in sums], dtype=np.float32)
        units = sums.copy()
        change(units)
        return units

    return changed

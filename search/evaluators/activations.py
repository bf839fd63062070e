"""Activations of networks other than ReLU: tanh and normalisation.

Each is a kernel that changes an array of float32 in place and calculates in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.kernels import kernel

__all__ = ["EPSILON", "KINDS", "RELU", "activation_lines", "activation_scope", "plain_activation"]

RELU = "relu"
#: Added to the variance in a normalisation.
EPSILON = 1e-5


@kernel
def tanh_units(units: Any) -> Any:
    """Replace each unit by its hyperbolic tangent."""
    for i in range(len(units)):
        units[i] = math.tanh(float(units[i]))
    return 0


@kernel
def normalise_units(units: Any) -> Any:
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


#: Kernels by the names of activations; None for ReLU, which the next layer applies as it reads.
KINDS: Mapping[str, Any] = {RELU: None, "tanh": tanh_units, "normalise": normalise_units}


def activation_scope(activations: Sequence[str]) -> dict[str, Any]:
    """Returns the kernels that `activation_lines` refers to, by name."""
    return {f"{kind}_units": KINDS[kind] for kind in activations if kind != RELU}


def activation_lines(activations: Sequence[str], number: int, width: int) -> list[str]:
    """Returns text that applies the activation behind layer `number`, from 0, to `width` sums."""
    kind = activations[number] if activations else RELU
    if kind == RELU:
        return []
    address = f"hidden_{number + 1}"
    return [f"{kind}_units(array_at(float32_pointer({address}), ({width},)))"]


def plain_activation(
    activations: Sequence[str], number: int
) -> Callable[[NDArray[np.float32]], NDArray[np.float32]]:
    """Returns the activation behind layer `number`, from 0, as a Python function of its sums."""
    kind = activations[number] if activations else RELU
    if kind == RELU:
        return lambda sums: np.where(sums > 0, sums, np.float32(0))
    change = kernels.uncompiled(KINDS[kind])

    def changed(sums: NDArray[np.float32]) -> NDArray[np.float32]:
        units = sums.copy()
        change(units)
        return units

    return changed

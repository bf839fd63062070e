"""Inputs and layers of networks in files of evaluators."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.features import Encoding, FeatureSet
from search.evaluators.files.arrays import take_array
from search.evaluators.files.header import (
    EvaluatorError,
    describe_input,
    find_input,
    short,
    shortened,
)

__all__ = [
    "MOST_LAYERS",
    "MOST_UNITS",
    "Inputs",
    "Layer",
    "described_inputs",
    "named_layers",
    "parts_of",
    "read_inputs",
    "read_layers",
    "separate",
    "size_of",
]


#: Greatest numbers of units of a layer and of layers, which use the stack of a searching thread.
MOST_UNITS, MOST_LAYERS = 4096, 16

Inputs = Encoding | FeatureSet | tuple[Encoding, FeatureSet]
Layer = tuple[NDArray[Any], NDArray[Any]]


def separate(inputs: Any) -> tuple[Encoding | None, FeatureSet | None]:
    """Returns the encoding and the feature set among inputs; TypeError if they are neither."""
    if isinstance(inputs, Encoding):
        return inputs, None
    if isinstance(inputs, FeatureSet):
        return None, inputs
    if isinstance(inputs, tuple) and [type(part) for part in inputs] == [Encoding, FeatureSet]:
        return inputs
    raise TypeError(
        "inputs: expected an Encoding, a FeatureSet or a tuple of one of each, found"
        f" {short(repr(inputs))}"
    )


def size_of(inputs: Inputs) -> int:
    """Returns the number of inputs."""
    return sum(len(part) for part in separate(inputs) if part is not None)


def described_inputs(game: Game, inputs: Inputs) -> list[dict[str, Any]]:
    """Returns the entry of a file for the inputs of a net."""
    return [describe_input(game, part) for part in separate(inputs) if part is not None]


def parts_of(inputs: Any) -> list[Any] | None:
    """Returns the encoding or the feature set of inputs, or both in this order.

    Inputs that are None stay None.
    """
    return None if inputs is None else [part for part in separate(inputs) if part]


def read_inputs(entries: Sequence[Any], game: Game, own: Sequence[Any] | None = None) -> Inputs:
    """Returns the inputs that `described_inputs` described.

    entries: the descriptions in the file.
    game: the game.
    own: the inputs to use for each entry. Default: the game's own of that name.

    Raises EvaluatorError if they do not fit.
    """
    if not 1 <= len(entries) <= 2:
        raise EvaluatorError(f"expected one or two inputs, found {len(entries)}")
    own = [None] * len(entries) if own is None else own
    if len(own) != len(entries):
        raise EvaluatorError(f"expected {len(own)} kinds of inputs, found {len(entries)}")
    parts = [find_input(*pair) for pair in zip(entries, [game] * 2, own, strict=False)]
    inputs: Any = parts[0] if len(parts) == 1 else tuple(parts)
    return inputs  # type: ignore[no-any-return]


def named_layers(layers: Sequence[Layer], prefix: str = "") -> dict[str, NDArray[Any]]:
    """Returns the arrays of layers by their names in files."""
    arrays: dict[str, NDArray[Any]] = {}
    for number, (weights, bias) in enumerate(layers):
        arrays |= {f"weights_{prefix}{number}": weights, f"bias_{prefix}{number}": bias}
    return arrays


def read_layers(
    arrays: dict[str, NDArray[Any]],
    widths: Sequence[Any],
    inputs: Inputs,
    outputs: int = 1,
    *,
    least: int = 1,
    prefix: str = "",
    phases: int = 0,
) -> list[Layer]:
    """Returns the layers that `named_layers` named, and removes their arrays.

    arrays: the file's arrays by name.
    widths: the inputs in the file, then the units of each layer.
    inputs: the inputs expected.
    outputs: the number of outputs expected.
    least: the smallest number of layers.
    phases: number of phases of layers of integers; 0 for layers of float32.

    Raises EvaluatorError if they do not fit.
    """
    size = size_of(inputs)
    good = (
        least + 1 <= len(widths) <= MOST_LAYERS + 1
        and all(type(width) is int and 1 <= width <= MOST_UNITS for width in widths[1:])
        and (widths[0], widths[-1]) == (size, outputs)
    )
    if not good:
        raise EvaluatorError(
            f"expected the widths of {least} to {MOST_LAYERS} layers, from {size} to"
            f" {outputs}, found {shortened(widths)}"
        )
    layers = []
    for number, shape in enumerate(itertools.pairwise(widths)):
        kinds: Any = (np.float32, np.float32)
        if phases:
            kinds = (np.int8, np.int32) if number else (np.int16, np.int16)
        lead = (phases,) if phases and number else ()
        layers.append((
            take_array(arrays, f"weights_{prefix}{number}", kinds[0], (*lead, *shape)),
            take_array(arrays, f"bias_{prefix}{number}", kinds[1], (*lead, shape[1])),
        ))  # fmt: skip
    return layers

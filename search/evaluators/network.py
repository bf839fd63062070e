"""Small networks as evaluators of the native search: float32, ReLU between the layers.

The first layer over an encoding adds up the rows of the few inputs that are 1; later layers skip
inputs that ReLU made 0. For each architecture a few lines of text are compiled, in which the widths
are literals; weights are read by address, so that new weights compile nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import Game
from games.features import Encoding, FeatureSet
from games.kernels.memory import read_position
from games.kernels.vectors import LANES, add_products, dot, stack_block, sum_rows
from search.evaluators.activations import RELU, activation_lines, plain_activation
from search.evaluators.array_evaluator import ArrayEvaluator
from search.evaluators.array_files import take_array
from search.evaluators.header import (
    EvaluatorError,
    describe_input,
    find_input,
    short,
    shortened,
)
from search.native import call_int

__all__ = [
    "Inputs",
    "NetworkEvaluator",
    "check_widths",
    "hidden_text",
    "in_lanes",
    "kept_layer",
    "named_layers",
    "network_scope",
    "padded",
    "plain_hidden",
    "separate",
    "zeros",
]

#: Greatest numbers of units of a layer and of layers, which use the stack of a searching thread.
MOST_UNITS, MOST_LAYERS = 4096, 16

Inputs = Encoding | FeatureSet | tuple[Encoding, FeatureSet]
Layer = tuple[NDArray[np.float32], NDArray[np.float32]]


class NetworkEvaluator(ArrayEvaluator):
    """A network of layers with ReLU between them: value = scale * output.

    game: the game.
    inputs: an encoding, a feature set, or both as (encoding, features); the terms then follow the
        encoding's inputs.
    layers: pairs of weights [inputs, outputs] and bias [outputs], from the first to the last, which
        has one output; a single layer is a linear function with a bias. The evaluator's own
        `layers` are copies in float32, which may be changed in place while no search runs.
    scale: the factor of the output.
    name: the name of the evaluator.
    provenance: how the layers were obtained; saved with them.

    Everything is calculated in float32 in one order of additions, so that results are the same on
    all machines and equal those of `plain`. Raises ValueError if layers do not fit one another or
    the inputs, or contain NaN or infinity.
    """

    form = "plysmith-network-1"
    fields: ClassVar = {"scale": float, "inputs": list, "widths": list}
    #: The activation behind each layer but the last; () for ReLU everywhere.
    activations: tuple[str, ...] = ()

    def __init__(
        self,
        game: Game,
        inputs: Inputs,
        layers: Sequence[tuple[Any, Any]],
        *,
        scale: float = 1.0,
        name: str = "network",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(game, name, provenance)
        self.inputs = inputs
        self.encoding, self.features = separate(inputs)
        self.layers: tuple[Layer, ...] = tuple(
            kept_layer(number, layer, last=0 < number == len(layers) - 1)
            for number, layer in enumerate(layers)
        )
        self._check()
        # scale, the addresses of each layer's weights and bias, and that of the code that measures
        # the terms
        self._lay_out((array for layer in self.layers for array in layer), before=[0], after=1)
        self.scale = scale

    def _check(self) -> None:
        inputs = (self.encoding, self.features)
        width = sum(len(part) for part in inputs if part is not None)
        if not 1 <= len(self.layers) <= MOST_LAYERS:
            raise ValueError(f"layers: expected 1 to {MOST_LAYERS}, found {len(self.layers)}")
        for number, (weights, bias) in enumerate(self.layers):
            outputs = 1 if number == len(self.layers) - 1 else weights.shape[1]
            if weights.shape != (width, outputs) or bias.shape != (outputs,):
                raise ValueError(
                    f"layer {number}: expected weights of shape {(width, outputs)} and bias of"
                    f" shape {(outputs,)}, found {weights.shape} and {bias.shape}"
                )
            width = outputs

    def __repr__(self) -> str:
        widths = "-".join(map(str, self.widths))
        return f"NetworkEvaluator({self.game.name}, {widths}, {self.name!r})"

    @property
    def widths(self) -> tuple[int, ...]:
        """Inputs, units of each hidden layer, and 1."""
        return (self.layers[0][0].shape[0], *(bias.shape[0] for _, bias in self.layers))

    @property
    def scale(self) -> float:
        """The factor of the output; a finite number."""
        return float(self._data[:1].view(np.float64)[0])

    @scale.setter
    def scale(self, scale: float) -> None:
        if not np.isfinite(scale):
            raise ValueError(f"scale: expected a finite number, found {scale}")
        self._data[:1].view(np.float64)[0] = scale

    def _parts(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.inputs, self.layers), {"scale": self.scale}

    def plain(self) -> Callable[[Any], float]:
        hidden = plain_hidden(self.encoding, self.features, self.layers, self.activations)

        def value(position: Any) -> float:
            with np.errstate(over="ignore", invalid="ignore"):
                total = hidden(position)
                if len(self.layers) > 1:
                    weights, bias = self.layers[-1]
                    inputs = plain_activation(self.activations, len(self.layers) - 2)(total)
                    total = bias + in_lanes(inputs * weights[:, 0])
                return float(total[0]) * self.scale

        return value

    def data(self) -> NDArray[np.int64]:
        if self.features:
            self._data[-1] = self.features.native_terms(len(self.game.start()))
        return self._data

    def _text(self) -> str:
        last = len(self.layers) - 1
        lines = ["def value_at(data, source):"]
        if self.encoding:
            lines.append(f"    position = {read_position(len(self.game.start()))}")
        lines += hidden_text(
            self.encoding, self.features, self.widths, self.activations, place=1,
            terms=len(self._data) - 1,
        )  # fmt: skip
        if last == 0:
            lines.append("    output = array_at(float32_pointer(hidden_1), (1,))[0]")
        else:
            lines += [
                f"    bias = array_at(float32_pointer(load_int(data, {2 * last + 2})), (1,))",
                f"    output = bias[0] + dot(hidden_{last}, load_int(data, {2 * last + 1}),"
                f" {padded(self.widths[last])}, {_positive(self.activations, last - 1)})",
            ]
        lines.append("    return load_float(data, 0) * float(output)")
        return "\n".join(lines)

    def scope(self) -> dict[str, Any]:
        return network_scope(self.encoding, self.features)

    def _saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        inputs = [part for part in (self.encoding, self.features) if part]
        fields = {
            "scale": self.scale,
            "inputs": [describe_input(self.game, part) for part in inputs],
            "widths": list(self.widths),
        }
        return fields, named_layers(self.layers)

    @classmethod
    def _parts_in(
        cls, path: Path, content: Any, arrays: dict[str, NDArray[Any]], game: Game, inputs: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        entries = content["inputs"]
        if not 1 <= len(entries) <= 2:
            raise EvaluatorError(f"{path}: expected one or two inputs, found {len(entries)}")
        own = [None] * len(entries) if inputs is None else [o for o in separate(inputs) if o]
        if len(own) != len(entries):
            raise EvaluatorError(
                f"{path}: expected {len(own)} kinds of inputs, found {len(entries)}"
            )
        parts = [find_input(path, *pair) for pair in zip(entries, [game] * 2, own, strict=False)]
        widths = content["widths"]
        check_widths(path, widths, sum(map(len, parts)), 1, least=1)
        layers = [
            (
                take_array(path, arrays, f"weights_{number}", np.float32, (before, after)),
                take_array(path, arrays, f"bias_{number}", np.float32, (after,)),
            )
            for number, (before, after) in enumerate(zip(widths, widths[1:], strict=False))
        ]
        both: Any = parts[0] if len(parts) == 1 else tuple(parts)
        return (both, layers), {"scale": content["scale"]}


def named_layers(layers: Iterable[Layer], prefix: str = "") -> dict[str, NDArray[Any]]:
    """Returns the arrays of layers by their names in files."""
    arrays: dict[str, NDArray[Any]] = {}
    for number, (weights, bias) in enumerate(layers):
        arrays |= {f"weights_{prefix}{number}": weights, f"bias_{prefix}{number}": bias}
    return arrays


def check_widths(path: Path, widths: Any, inputs: int, outputs: int, *, least: int) -> None:
    """Raises EvaluatorError unless `widths` in a file fit.

    path: the file, for messages.
    widths: the inputs, then the units of each layer.
    inputs: the number of inputs expected.
    outputs: the number of outputs expected.
    least: the smallest number of layers.
    """
    good = (
        least + 1 <= len(widths) <= MOST_LAYERS + 1
        and all(type(width) is int and 1 <= width <= MOST_UNITS for width in widths[1:])
        and (widths[0], widths[-1]) == (inputs, outputs)
    )
    if not good:
        raise EvaluatorError(
            f"{path}: expected the widths of {least} to {MOST_LAYERS} layers, from {inputs} to"
            f" {outputs}, found {shortened(widths)}"
        )


def network_scope(
    encoding: Encoding | None, features: FeatureSet | None, *, active: str = "active"
) -> dict[str, Any]:
    """Returns what the text of `hidden_text` refers to, by name.

    encoding, features: the inputs; None for none.
    active: the name of the encoding's kernel.
    """
    scope: dict[str, Any] = dict(
        stack_block=stack_block, sum_rows=sum_rows, add_products=add_products, dot=dot
    )
    if encoding:
        scope[active] = encoding.active
    if features:
        scope["call_int"] = call_int
    return scope


def hidden_text(
    encoding: Encoding | None,
    features: FeatureSet | None,
    widths: Sequence[int],
    activations: Sequence[str] = (),
    *,
    place: int,
    terms: int,
    active: str = "active",
    indent: str = "    ",
) -> list[str]:
    """Returns text that puts the sums of all layers but the last at `hidden_1`, `hidden_2`, ...

    encoding, features: the inputs; None for none.
    widths: the inputs, then the units of each layer. If there is a single layer, its sums are put
        at `hidden_1`.
    activations: as in `NetworkEvaluator.activations`.
    place: the place in `data` of the address of the first layer's weights, which those of its bias,
        of the second layer's weights and so on follow.
    terms: the place in `data` of the address of `FeatureSet.native_terms`.
    active: the name of the encoding's kernel.
    indent: the indentation of the text.

    The text reads the variables `position` and `source`, the position's address. It sets `places`
    and `count` of the encoding, and the values of the features in the array `terms`.
    """
    width = padded(widths[1])
    rows, bias = f"load_int(data, {place})", f"load_int(data, {place + 1})"
    lines = [f"hidden_1 = stack_block({4 * width})"]
    if encoding:
        most = encoding.most
        lines += [
            f"places = stack_block({8 * most})",
            f"count = int({active}(position, array_at(int64_pointer(places), ({most},))))",
            f"sum_rows(hidden_1, {bias}, {rows}, places, count, {width})",
        ]
        rows, bias = f"{rows} + {4 * width * encoding.size}", "hidden_1"
    if features:
        size = len(features)
        length = padded(size)
        lines += [
            f"room = stack_block({4 * length})",
            f"call_int(load_int(data, {terms}), (source, room))",
            f"terms = array_at(float32_pointer(room), ({length},))",
            *(f"terms[{i}] = 0.0" for i in range(size, length)),
            f"add_products(hidden_1, {bias}, {rows}, room, {length}, {width}, 0)",
        ]
    if len(widths) > 2:
        lines += activation_lines(activations, 0, widths[1])
    for number in range(1, len(widths) - 2):
        weights, bias = (f"load_int(data, {place + 2 * number + part})" for part in (0, 1))
        length, width = padded(widths[number]), padded(widths[number + 1])
        lines += [
            f"hidden_{number + 1} = stack_block({4 * width})",
            f"add_products(hidden_{number + 1}, {bias}, {weights}, hidden_{number},"
            f" {length}, {width}, {_positive(activations, number - 1)})",
            *activation_lines(activations, number, widths[number + 1]),
        ]
    return [indent + line for line in lines]


def _positive(activations: Sequence[str], number: int) -> int:
    """Returns 1 if the sums of layer `number` are read through a ReLU, else 0."""
    return int(not activations or activations[number] == RELU)


def plain_hidden(
    encoding: Encoding | None,
    features: FeatureSet | None,
    layers: Sequence[Layer],
    activations: Sequence[str] = (),
) -> Callable[[Any], NDArray[np.float32]]:
    """Returns a slow twin of `hidden_text`: the sums of the last hidden layer by position.

    The function reads `layers` at each call, so that they may be changed in between.
    """
    active = kernels.uncompiled(encoding.active) if encoding else None
    room = np.zeros(encoding.most if encoding else 1, dtype=np.int64)
    start = encoding.size if encoding else 0

    def hidden(position: Any) -> NDArray[np.float32]:
        first, first_bias = layers[0]
        total = first_bias.copy()
        for place in room[: active(position, room)] if active else ():
            total += first[place]
        terms = features.values(position) if features else []
        for term, row in zip(np.array(terms, np.float32), first[start:], strict=True):
            if term != 0:
                total += term * row
        for number, (weights, bias) in enumerate(layers[1:-1]):
            inputs = plain_activation(activations, number)(total)
            total = bias.copy()
            for unit, row in zip(inputs, weights, strict=True):
                if unit != 0:
                    total += unit * row
        return total

    return hidden


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


def padded(width: int, lanes: int = LANES) -> int:
    """Returns the smallest multiple of `lanes` that is at least `width`."""
    return -(-width // lanes) * lanes


def zeros(count: int, kind: Any = np.float32) -> NDArray[Any]:
    """Returns zeros in memory that begins at a cache line."""
    block = np.zeros(count + 64 // np.dtype(kind).itemsize, dtype=kind)
    skip = -block.ctypes.data % 64 // block.itemsize
    return block[skip : skip + count]


def kept_layer(number: int, layer: Any, *, last: bool) -> Layer:
    """Returns views of weights [inputs, outputs] and bias in memory laid out for native code.

    number: the number of the layer, for messages.
    layer: weights and bias.
    last: whether it is the last layer, whose columns are stored as rows, so that each output is one
        product of rows.

    Rows are padded with zeros to a multiple of `LANES`. Raises ValueError if the layer is invalid.
    """
    try:
        weights, bias = (np.asarray(array, dtype=np.float32) for array in layer)
    except (TypeError, ValueError) as error:
        raise ValueError(f"layer {number}: expected weights and bias, found {error}") from None
    if weights.ndim != 2 or bias.ndim != 1:
        raise ValueError(
            f"layer {number}: expected weights of two dimensions and bias of one, found shapes"
            f" {weights.shape} and {bias.shape}"
        )
    inputs, outputs = weights.shape
    if not 1 <= outputs <= MOST_UNITS:
        raise ValueError(f"layer {number}: expected 1 to {MOST_UNITS} outputs, found {outputs}")
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        raise ValueError(f"layer {number}: expected finite numbers, found NaN or infinity")
    width = padded(outputs)
    if last:
        length = padded(inputs)
        kept = zeros(outputs * length).reshape(outputs, length)[:, :inputs].T
    else:
        kept = zeros(inputs * width).reshape(inputs, width)[:, :outputs]
    kept_bias = zeros(width)[:outputs]
    if kept.shape != weights.shape or kept_bias.shape != bias.shape:  # reported by the caller
        return weights, bias
    kept[:], kept_bias[:] = weights, bias
    return kept, kept_bias


def in_lanes(products: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns the sum [1] of products [units], in the order of `games.kernels.vectors.dot`."""
    lanes = np.zeros((padded(len(products)) // LANES, LANES), dtype=np.float32)
    lanes.reshape(-1)[: len(products)] = products
    total = np.zeros(LANES, dtype=np.float32)
    for row in lanes:
        total += row
    while len(total) > 1:
        total = total[: len(total) // 2] + total[len(total) // 2 :]
    return total

"""Layers of networks in native code: the common part of all networks.

A net is data: its inputs, its layers and the activations between them. What turns its outputs into
the value of a position is its *head*: a scale (`search.evaluators.network`) or the probabilities of
outcomes (`search.evaluators.outcome_network`). `search.evaluators.quantised` has layers of small
integers.

The first layer over an encoding adds up the rows of the few inputs that are 1; later layers skip
inputs that ReLU made 0. For each architecture a few lines of text are compiled, in which the widths
are literals; weights are read by address, so that new weights compile nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.kernels.memory import read_position
from games.kernels.vectors import LANES, add_products, dot, stack_block, sum_rows
from search.evaluators.activations import KINDS, RELU, activation_of, activation_text
from search.evaluators.array_evaluator import ArrayEvaluator
from search.evaluators.evaluator import NativeText
from search.evaluators.files.header import shortened
from search.evaluators.files.layers import MOST_LAYERS, MOST_UNITS, Inputs, Layer, separate, size_of
from search.native import call_int

__all__ = [
    "LayeredNetwork",
    "Net",
    "check_layers",
    "last_of",
    "padded",
    "widths_of",
    "zeros",
]


class Net:
    """Layers of float32 over inputs.

    inputs: an encoding, a feature set, or both as (encoding, features); the terms then follow the
        encoding's inputs.
    layers: pairs of weights [inputs, outputs] and bias [outputs], from the first to the last. The
        net's own `layers` are copies in float32, which may be changed in place while no search
        runs.
    outputs: the number of outputs.
    least: the smallest number of layers.
    activations: the activation behind each layer but the last, of `activations.KINDS`; () for ReLU
        everywhere.
    skips: pairs of layers, counted from 0: the units of the first are added to the sums of the
        second. The last layer has none.

    Everything is calculated in float32 in one order of additions, so that results are the same on
    all machines and equal those of `plain`, but for the last bits of activations other than ReLU.
    Raises ValueError if layers do not fit one another, the inputs or the outputs, or contain NaN or
    infinity, and if activations or skips do not fit the layers.
    """

    def __init__(
        self,
        inputs: Inputs,
        layers: Sequence[tuple[Any, Any]],
        outputs: int = 1,
        *,
        least: int = 1,
        activations: Sequence[str] = (),
        skips: Sequence[Sequence[int]] = (),
    ) -> None:
        self.inputs = inputs
        self.encoding, self.features = separate(inputs)
        last = last_of(layers, least)
        given = [_floats_of(number, layer) for number, layer in enumerate(layers)]
        check_layers(given, size_of(inputs), outputs)
        self.layers: tuple[Layer, ...] = tuple(
            _laid_out(*layer, last=0 < number == last) for number, layer in enumerate(given)
        )
        self.arrays = [array for layer in self.layers for array in layer]
        self.activations = tuple(activations) or (RELU,) * last
        if len(self.activations) != last or not set(self.activations) <= set(KINDS):
            raise ValueError(
                f"activations: expected {last} of {', '.join(KINDS)}, found"
                f" {', '.join(map(str, activations))[:80] or 'none'}"
            )
        self.skips = tuple(tuple(skip) for skip in skips)
        if not all(self._fits(skip) for skip in self.skips):
            raise ValueError(
                f"skips: expected pairs of hidden layers of the same width, from 0 to {last - 1},"
                f" found {shortened(self.skips)}"
            )

    def _fits(self, skip: Sequence[Any]) -> bool:
        whole = len(skip) == 2 and all(type(number) is int for number in skip)
        if not whole or not 0 <= skip[0] < skip[1] < len(self.layers) - 1:
            return False
        return bool(self.widths[skip[0] + 1] == self.widths[skip[1] + 1])

    @property
    def widths(self) -> tuple[int, ...]:
        """Inputs, units of each hidden layer, and outputs."""
        return widths_of(self.layers)

    def plain(self) -> Callable[[Any], NDArray[np.float32]]:
        """Returns a slow twin of `text`: a function of a position that returns the outputs.

        The function reads `layers` at each call, so that they may be changed in between.
        """
        active = kernels.uncompiled(self.encoding.active) if self.encoding else None
        room = np.zeros(self.encoding.most if self.encoding else 1, dtype=np.int64)
        start = self.encoding.size if self.encoding else 0

        def outputs(position: Any) -> NDArray[np.float32]:
            first, bias = self.layers[0]
            total = bias.copy()
            terms = self.features.values(position) if self.features else []
            with np.errstate(over="ignore", invalid="ignore"):
                for place in room[: active(position, room)] if active else ():
                    total += first[place]
                for term, row in zip(np.array(terms, np.float32), first[start:], strict=True):
                    if term != 0:
                        total += term * row
                return self._behind(total[None])[0]  # type: ignore[no-any-return]

        return outputs

    def dense(self, rows: NDArray[np.float32]) -> NDArray[Any]:
        """Returns the outputs [rows, outputs] for values of all inputs, [rows, inputs].

        The arithmetic of the first layer has another order than in play.
        """
        weights, bias = self.layers[0]
        return self._behind(rows @ weights + bias)

    def _behind(self, sums: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns the outputs for sums of the first layer, [rows, units], as native code does."""
        units: list[NDArray[np.float32]] = []
        for kind, (weights, bias) in zip(self.activations, self.layers[1:], strict=True):
            active = activation_of(kind)
            units.append(np.array([active(row) for row in sums]))
            if len(units) == len(self.activations):
                return np.asarray(bias + _in_lanes(units[-1][:, None, :] * weights.T))
            sums = np.repeat(bias[None], len(sums), axis=0)
            for column, row in zip(units[-1].T, weights, strict=True):
                sums += column[:, None] * row
            for earlier in (first for first, later in self.skips if later == len(units)):
                sums += units[earlier]
        return sums

    def scope(self, number: int = 0) -> dict[str, Any]:
        """Returns the functions and constants that `text` refers to, by name."""
        scope: dict[str, Any] = dict(
            stack_block=stack_block, sum_rows=sum_rows, add_products=add_products, dot=dot
        )
        scope |= {kind: KINDS[kind] for kind in self.activations if KINDS[kind] is not None}
        if self.skips:
            scope["float32"] = np.float32
        if self.encoding:
            scope[f"active_{number}"] = self.encoding.active
        if self.features:
            scope["call_int"] = call_int
        return scope

    def text(self, place: int, terms: int, number: int = 0) -> list[str]:
        """Returns text that sets `output_0`, `output_1` and so on.

        place: the place in `data` of the address of the first layer's weights, which those of its
            bias, of the second layer's weights and so on follow.
        terms: the place in `data` of the address of `FeatureSet.native_terms`.
        number: the number of the net, for names.

        The text reads the variables `position` and `source`, the position's address. It sets
        `places` and `count` of the encoding, the values of the features in the array `terms`, and
        the sums of the hidden layers at `hidden_1`, `hidden_2` and so on.
        """
        widths, last = self.widths, len(self.layers) - 1
        width = padded(widths[1])
        rows, bias = f"load_int(data, {place})", f"load_int(data, {place + 1})"
        lines = [f"hidden_1 = stack_block({4 * width})"]
        if self.encoding:
            most = self.encoding.most
            lines += [
                f"places = stack_block({8 * most})",
                f"count = int(active_{number}(position,"
                f" array_at(int64_pointer(places), ({most},))))",
                f"sum_rows(hidden_1, {bias}, {rows}, places, count, {width})",
            ]
            rows, bias = f"{rows} + {4 * width * self.encoding.size}", "hidden_1"
        if self.features:
            size = len(self.features)
            length = padded(size)
            lines += [
                f"room = stack_block({4 * length})",
                f"call_int(load_int(data, {terms}), (source, room))",
                f"terms = {_floats('room', length)}",
                *(f"terms[{i}] = 0.0" for i in range(size, length)),
                f"add_products(hidden_1, {bias}, {rows}, room, {length}, {width}, 0)",
            ]
        if not last:
            return [
                *lines,
                *(f"output_{k} = float({_floats('hidden_1', widths[1])}[{k}])"
                  for k in range(widths[1])),
            ]  # fmt: skip
        positive = [int(kind == RELU) for kind in self.activations]
        for layer, kind in enumerate(self.activations):
            hidden, width = f"hidden_{layer + 1}", padded(widths[layer + 1])
            if layer:
                rows, bias = (f"load_int(data, {place + 2 * layer + part})" for part in (0, 1))
                lines += [
                    f"{hidden} = stack_block({4 * width})",
                    f"add_products({hidden}, {bias}, {rows}, hidden_{layer},"
                    f" {padded(widths[layer])}, {width}, {positive[layer - 1]})",
                ]
            for earlier in (first for first, later in self.skips if later == layer):
                unit = "added[i]" if not positive[earlier] else "max(added[i], float32(0.0))"
                lines += [
                    f"units = {_floats(hidden, widths[layer + 1])}",
                    f"added = {_floats(f'hidden_{earlier + 1}', widths[layer + 1])}",
                    f"for i in range({widths[layer + 1]}):",
                    f"    units[i] += {unit}",
                ]
            lines += activation_text(kind, hidden, widths[layer + 1])
        rows, bias = (f"load_int(data, {place + 2 * last + part})" for part in (0, 1))
        length = padded(widths[last])
        return [
            *lines,
            f"last_bias = {_floats(bias, widths[-1])}",
            *(f"output_{k} = float(last_bias[{k}]"
              f" + dot(hidden_{last}, {rows} + {4 * length * k}, {length}, {positive[-1]}))"
              for k in range(widths[-1])),
        ]  # fmt: skip


class LayeredNetwork(ArrayEvaluator):
    """The base of evaluators that consist of nets; a subclass is their head.

    Native code reads the integers that a head puts first, the addresses of each layer's weights and
    bias, net by net, and for each net the identity of the code that measures its terms.
    """

    nets: tuple[Net, ...]

    def _hold(self, nets: Sequence[Net], before: Sequence[int] = ()) -> None:
        """Lay out nets behind the head's own integers, `before`."""
        self.nets = tuple(nets)
        arrays = (array for net in nets for array in net.arrays)
        self._lay_out(arrays, before=before, after=len(nets))
        self._first = len(before)

    def __repr__(self) -> str:
        widths = " ".join("-".join(map(str, net.widths)) for net in self.nets)
        return f"{type(self).__name__}({self.game.name}, {widths}, {self.name!r})"

    def place(self, net: int) -> int:
        """Returns the place of the addresses of a net's layers in the integers of `data`."""
        return self._first + sum(2 * len(before.layers) for before in self.nets[:net])

    def data(self) -> NDArray[np.int64]:
        """Returns the integers that native code reads; compiles the kernels of the terms first."""
        for number, net in enumerate(self.nets):
            if net.features:
                terms = net.features.native_terms(len(self.game.start()))
                self._data[number - len(self.nets)] = terms
        return self._data

    def native_text(self) -> NativeText:
        terms = {i - len(self.nets): net.features for i, net in enumerate(self.nets)}
        sets = {len(self._data) + i: features for i, features in terms.items() if features}
        return replace(super().native_text(), terms=sets)

    def scope(self) -> dict[str, Any]:
        scope: dict[str, Any] = {}
        for number, net in enumerate(self.nets):
            scope |= net.scope(number)
        return scope

    def net_text(self, number: int) -> list[str]:
        """Returns the text of a net, see `Net.text`."""
        terms = self.place(len(self.nets)) + number
        return self.nets[number].text(self.place(number), terms, number)

    def _position_text(self) -> str:
        return f"position = {read_position(len(self.game.start()))}"


# --- inputs and layers -----------------------------------------------------------------------


def widths_of(layers: Sequence[Layer]) -> tuple[int, ...]:
    """Returns the inputs of layers, the units of each hidden layer, and the outputs."""
    return (layers[0][0].shape[-2], *(bias.shape[-1] for _, bias in layers))


def last_of(layers: Sequence[Any], least: int) -> int:
    """Returns the number of the last of layers; ValueError if there are too few or too many."""
    if not least <= len(layers) <= MOST_LAYERS:
        raise ValueError(f"layers: expected {least} to {MOST_LAYERS}, found {len(layers)}")
    return len(layers) - 1


def check_layers(layers: Sequence[Layer], width: int, outputs: int, phases: int = 0) -> None:
    """Raises ValueError unless layers fit `width` inputs, `outputs` outputs and one another.

    phases: as in `read_layers`.
    """
    for number, (weights, bias) in enumerate(layers):
        lead = (phases,) if phases and number else ()
        units = weights.shape[-1] if weights.ndim else 0
        following = outputs if number == len(layers) - 1 else units
        shapes = (*lead, width, following), (*lead, following)
        if (weights.shape, bias.shape) != shapes:
            raise ValueError(
                f"layer {number}: expected weights of shape {shapes[0]} and bias of shape"
                f" {shapes[1]}, found {weights.shape} and {bias.shape}"
            )
        if not 1 <= following <= MOST_UNITS:
            raise ValueError(f"layer {number}: expected 1 to {MOST_UNITS} units, found {following}")
        width = following


def padded(width: int, lanes: int = LANES) -> int:
    """Returns the smallest multiple of `lanes` that is at least `width`."""
    return -(-width // lanes) * lanes


def zeros(shape: tuple[int, ...], kind: Any = np.float32) -> NDArray[Any]:
    """Returns zeros in memory that begins at a cache line."""
    count = math.prod(shape)
    block = np.zeros(count + 64 // np.dtype(kind).itemsize, dtype=kind)
    skip = -block.ctypes.data % 64 // block.itemsize
    return block[skip : skip + count].reshape(shape)


def _floats_of(number: int, layer: Any) -> Layer:
    """Returns weights and bias as float32; ValueError if layer `number` is invalid."""
    try:
        weights, bias = (np.asarray(array, dtype=np.float32) for array in layer)
    except (TypeError, ValueError) as error:
        raise ValueError(f"layer {number}: expected weights and bias, found {error}") from None
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        raise ValueError(f"layer {number}: expected finite numbers, found NaN or infinity")
    return weights, bias


def _laid_out(weights: NDArray[Any], bias: NDArray[Any], *, last: bool) -> Layer:
    """Returns views of weights [inputs, outputs] and bias in memory laid out for native code.

    last: whether it is the last layer, whose columns are stored as rows, so that each output is one
        product of rows.

    Rows are padded with zeros to a multiple of `LANES`.
    """
    inputs, outputs = weights.shape
    kept = zeros((outputs, padded(inputs)))[:, :inputs].T if last else None
    if kept is None:
        kept = zeros((inputs, padded(outputs)))[:, :outputs]
    kept_bias = zeros((padded(outputs),))[:outputs]
    kept[:], kept_bias[:] = weights, bias
    return kept, kept_bias


def _floats(address: str, size: int) -> str:
    """Returns text for the array of `size` float32 at an address."""
    return f"array_at(float32_pointer({address}), ({size},))"


def _in_lanes(products: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns the sums [...] of products [..., units], in the order of `kernels.vectors.dot`."""
    lanes = np.zeros((*products.shape[:-1], padded(products.shape[-1])), dtype=np.float32)
    lanes[..., : products.shape[-1]] = products
    total = np.zeros((*products.shape[:-1], LANES), dtype=np.float32)
    for first in range(0, lanes.shape[-1], LANES):
        total += lanes[..., first : first + LANES]
    while total.shape[-1] > 1:
        half = total.shape[-1] // 2
        total = total[..., :half] + total[..., half:]
    return np.asarray(total[..., 0])

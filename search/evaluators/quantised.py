"""Quantised networks as evaluators of the native search: small integers, many to a register.

A layer's outputs are 0 to 255, weights are int8 and sums int32; only the first layer, which adds up
the rows of the few inputs that are 1, is int16 (Nasu 2018; for training Jacob et al. 2018). The
layers behind the first may differ between phases of the game, which follow from the number of
inputs that are 1: in checkers, the number of pieces. Integers are added exactly, so the value of a
position is the same on every machine, whatever the order of the additions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import Game
from games.features import Encoding
from games.kernels.vectors import (
    SHORT_LANES,
    clip_products,
    clip_shorts,
    dot_shorts,
    stack_block,
    sum_shorts,
)
from search.evaluators.array_evaluator import NativeNumber
from search.evaluators.files.header import short, shortened
from search.evaluators.files.layers import Layer
from search.evaluators.layers import Net, check_layers, last_of, padded, zeros
from search.evaluators.network import ScaledNetwork

__all__ = ["FIRST_SHIFT", "HIGHEST", "SHIFT", "UNIT", "QuantisedNetwork"]

#: Greatest output of a unit, which stands for 1 in the network that was trained.
HIGHEST = 255
#: Sums of the first layer are shifted down by FIRST_SHIFT bits, those of later ones by SHIFT.
FIRST_SHIFT, SHIFT = 1, 6
#: The integer that stands for 1 in the sums of later layers, and in the output.
UNIT = HIGHEST << SHIFT
#: Greatest number of phases of a network, minus one.
MOST_BORDERS = 63


class IntegerNet(Net):
    """Layers of integers over an encoding, see `QuantisedNetwork`; its numbers are read-only."""

    def __init__(
        self, encoding: Encoding, layers: Sequence[tuple[Any, Any]], phases: Sequence[int]
    ) -> None:
        if not isinstance(encoding, Encoding):
            raise TypeError(f"encoding: expected an Encoding, found {short(repr(encoding))}")
        self.inputs, self.encoding, self.features = encoding, encoding, None
        self.most = encoding.most
        self.phases = _borders(phases)
        last = last_of(layers, 2)
        self.layers = tuple(
            (
                _integers(f"weights of layer {i}", weights, np.int8 if i else np.int16),
                _integers(f"bias of layer {i}", bias, np.int32 if i else np.int16),
            )
            for i, (weights, bias) in enumerate(layers)
        )
        check_layers(self.layers, len(encoding), 1, len(self.phases) + 1)
        self._check_sums()
        self.arrays = [
            array
            for i, layer in enumerate(self.layers)
            for array in _packed(*layer, first=i == 0, last=i == last)
        ]

    def _check_sums(self) -> None:
        for i, (_, bias) in enumerate(self.layers[1:], 1):
            # MOST_UNITS * HIGHEST * 128 is below 2**27: with such a bias no int32 overflows
            if np.abs(bias.astype(np.int64)).max() > 1 << 30:
                raise ValueError(f"layer {i}: expected a bias from -2**30 to 2**30")
        ordered = np.sort(self.layers[0][0].astype(np.int64), axis=0)
        lowest = np.minimum(ordered[: self.most], 0).sum(axis=0) + self.layers[0][1]
        highest = np.maximum(ordered[-self.most :], 0).sum(axis=0) + self.layers[0][1]
        if lowest.min() < -(1 << 15) or highest.max() >= 1 << 15:
            raise ValueError(
                f"layer 0: expected sums of {self.most} inputs from {-(1 << 15)} to"
                f" {(1 << 15) - 1}, found some from {lowest.min()} to {highest.max()}"
            )

    def plain(self) -> Callable[[Any], NDArray[Any]]:
        assert self.encoding is not None
        active = kernels.uncompiled(self.encoding.active)
        room = np.zeros(self.most, dtype=np.int64)
        weights, bias = (array.astype(np.int64) for array in self.layers[0])

        def outputs(position: Any) -> NDArray[Any]:
            places = room[: active(position, room)]
            phase = sum(len(places) >= border for border in self.phases)
            return self._in_phase(phase, bias + weights[places].sum(axis=0))

        return outputs

    def dense(self, rows: NDArray[np.float32]) -> NDArray[Any]:
        """As `Net.dense`, exactly as in play."""
        weights, bias = (array.astype(np.float32) for array in self.layers[0])
        sums, phases = (
            rows @ weights + bias,
            np.searchsorted(self.phases, rows.sum(axis=1), "right"),
        )
        units = np.zeros((len(rows), 1), dtype=np.int64)
        for phase in np.unique(phases):
            units[phases == phase] = self._in_phase(phase, sums[phases == phase].astype(np.int64))
        return units

    def _in_phase(self, phase: int, total: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the outputs for sums of the first layer, [..., units]."""
        shift = FIRST_SHIFT
        for weights, bias in self.layers[1:]:
            units = np.clip(total >> shift, 0, HIGHEST)
            total = units @ weights[phase].astype(np.int64) + bias[phase]
            shift = SHIFT
        return total

    def text(self, place: int, terms: int, number: int = 0) -> list[str]:
        """As `Net.text`; the borders of the phases come before `place`."""
        widths = [padded(width, SHORT_LANES) for width in self.widths[:-1]]
        borders = range(place - len(self.phases), place)
        phase = " + ".join(f"int(count >= load_int(data, {border}))" for border in borders)
        last = len(self.layers) - 1
        lines = [
            f"places = stack_block({8 * self.most})",
            f"count = int(active(position, array_at(int64_pointer(places), ({self.most},))))",
            f"sums = stack_block({2 * widths[1]})",
            f"sum_shorts(sums, load_int(data, {place + 1}), load_int(data, {place}), places, count,"
            f" {widths[1]})",
            f"phase = {phase or '0'}",
            f"hidden_1 = stack_block({2 * widths[1]})",
            f"clip_shorts(hidden_1, sums, {widths[1]}, {FIRST_SHIFT}, {HIGHEST})",
        ]
        for i in range(1, last):
            length, width = widths[i], widths[i + 1]
            lines += [
                f"hidden_{i + 1} = stack_block({2 * width})",
                f"clip_products(hidden_{i + 1}, load_int(data, {place + 2 * i + 1})"
                f" + {4 * width} * phase, load_int(data, {place + 2 * i})"
                f" + {2 * length * width} * phase, hidden_{i}, {length}, {width}, {SHIFT},"
                f" {HIGHEST})",
            ]
        bias = f"int32_pointer(load_int(data, {place + 2 * last + 1}))"
        return [
            *lines,
            f"bias = array_at({bias}, ({len(self.phases) + 1},))",
            f"products = dot_shorts(hidden_{last}, load_int(data, {place + 2 * last})"
            f" + {2 * widths[last]} * phase, {widths[last]})",
            "output_0 = float(int(bias[phase]) + int(products))",
        ]

    def scope(self, number: int = 0) -> dict[str, Any]:
        assert self.encoding is not None
        return dict(
            active=self.encoding.active, stack_block=stack_block, sum_shorts=sum_shorts,
            clip_shorts=clip_shorts, clip_products=clip_products, dot_shorts=dot_shorts,
        )  # fmt: skip


class QuantisedNetwork(ScaledNetwork):
    """A network of integers over an encoding: value = scale * output / UNIT.

    game: the game.
    encoding: the inputs.
    layers: pairs of weights and bias; the evaluator's own `layers` are read-only copies. The first
        pair is int16, [inputs, units] and [units], and its units give sum >> FIRST_SHIFT, clipped
        to 0 to HIGHEST. The later ones are int8 [phases, inputs, units] and int32 [phases, units],
        and their units give sum >> SHIFT within the same bounds. The last layer has one unit, whose
        sum is the output.
    phases: ascending numbers of inputs that are 1, each the first of another phase: (9, 17) makes
        three phases, up to 8, 9 to 16 and more.
    scale: the value of an output of UNIT.
    name: the name of the evaluator.
    provenance: how the layers were obtained; saved with them.

    Raises ValueError if layers do not fit one another, the inputs or the phases, if a number does
    not fit its type, or if some inputs could make a sum of the first layer overflow int16.
    """

    form = "plysmith-quantised-network-1"
    about = "network of whole numbers"
    fields: ClassVar = {**ScaledNetwork.fields, "phases": list}
    scale = NativeNumber(UNIT)
    least = 2
    encoding: Encoding

    def __init__(
        self,
        game: Game,
        encoding: Encoding,
        layers: Sequence[tuple[Any, Any]],
        *,
        phases: Sequence[int] = (),
        scale: float = 1.0,
        name: str = "quantised network",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(game, name, provenance)
        net = IntegerNet(encoding, layers, phases)
        self.phases = net.phases
        self._hold_net(net, scale, self.phases)

    def _shape(self) -> dict[str, Any]:
        return {"phases": list(self.phases)}


def _borders(phases: Sequence[Any]) -> tuple[int, ...]:
    borders = tuple(phases)
    whole = all(type(border) is int and 1 <= border < 1 << 31 for border in borders)
    if not whole or list(borders) != sorted(set(borders)) or len(borders) > MOST_BORDERS:
        raise ValueError(
            f"phases: expected at most {MOST_BORDERS} ascending numbers of at least 1, found"
            f" {shortened(borders)}"
        )
    return borders


def _integers(what: str, numbers: Any, kind: Any) -> NDArray[Any]:
    """Returns a read-only copy of whole numbers in the type `kind`; ValueError if they do not fit.

    what: the name of the numbers, for messages.
    """
    given = np.asarray(numbers)
    with np.errstate(invalid="ignore"):
        stored = given.astype(kind) if given.dtype.kind in "iuf" else None
    if stored is None or not np.array_equal(stored, given):
        limits = np.iinfo(kind)
        raise ValueError(
            f"{what}: expected whole numbers from {limits.min} to {limits.max}, found"
            f" {given.dtype} from {given.min()} to {given.max()}"
        )
    stored = np.array(stored, order="C")
    stored.flags.writeable = False
    return stored


def _packed(weights: NDArray[Any], bias: NDArray[Any], *, first: bool, last: bool) -> Layer:
    """Returns weights and bias as native code reads them, padded with zeros.

    The rows of later layers are in pairs, see `games.kernels.vectors.clip_products`; those of the
    last layer have only one unit.
    """
    inputs, outputs = weights.shape[-2:]
    width = 1 if last else padded(outputs, SHORT_LANES)
    if first:
        rows, start = zeros((inputs, width), np.int16), zeros((width,), np.int16)
        rows[:, :outputs], start[:outputs] = weights, bias
        return rows, start
    phases, length = len(weights), padded(inputs, SHORT_LANES)
    even = np.zeros((phases, length, width), dtype=np.int16)
    even[:, :inputs, :outputs] = weights
    pairs = zeros((phases, length // 2, width, 2), np.int16)
    pairs[:] = even.reshape(phases, length // 2, 2, width).swapaxes(2, 3)
    start = zeros((phases, width), np.int32)
    start[:, :outputs] = bias
    return pairs, start

"""Networks that give the probability of each outcome, one for each phase of a game.

Each net has ReLU between its layers and a logistic function behind the last (Tesauro 1992; GNU
Backgammon has a net for each class of positions). As in `search.evaluators.network`, a few lines of
text are compiled for each architecture, and weights are read by address, so that new weights
compile nothing.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import Game
from games.features import Encoding, FeatureSet
from games.kernels import kernel
from games.kernels.memory import read_position
from search.evaluators.array_evaluator import ArrayEvaluator
from search.evaluators.array_files import take_array
from search.evaluators.evaluator import Prefilter
from search.evaluators.header import (
    EvaluatorError,
    check_fields,
    describe_input,
    find_input,
    short,
    shortened,
)
from search.evaluators.network import (
    MOST_LAYERS,
    Inputs,
    Layer,
    check_widths,
    hidden_text,
    in_lanes,
    kept_layer,
    named_layers,
    network_scope,
    padded,
    plain_hidden,
    separate,
)
from search.evaluators.prefilter import (
    PREFILTER,
    prefilter_arrays,
    prefilter_entry,
    read_prefilter,
)

__all__ = ["Net", "OutcomeNetwork", "logistic"]

OUTCOMES_SIGNATURE = "void(int64, int64, int64)"

_REACH, _STEPS = 16.0, 128  # of the table: -16 to 16 in steps of 1/128
_LOGISTIC = 1.0 / (1.0 + np.exp(-np.arange(-_REACH, _REACH + 2 / _STEPS, 1 / _STEPS)))


@kernel
def logistic(value):
    """Returns 1 / (1 + exp(-value)) from a table, with an error of at most 1e-6.

    Values are limited to -16 to 16; NaN, the result of huge inputs, counts as -16.
    """
    if not value > -_REACH:
        value = -_REACH
    elif value > _REACH:
        value = _REACH
    place = (value + _REACH) * _STEPS
    index = int(place)
    low = _LOGISTIC[index]
    return low + (place - index) * (_LOGISTIC[index + 1] - low)


class Net:
    """The network of one phase.

    inputs: as in `search.evaluators.network.NetworkEvaluator`.
    layers: likewise, but the last layer has an output for each outcome of the game, and there is at
        least one hidden layer.
    outputs: the number of outcomes.

    Raises ValueError if layers do not fit one another, the inputs or the outcomes.
    """

    def __init__(self, inputs: Inputs, layers: Sequence[tuple[Any, Any]], outputs: int) -> None:
        self.inputs = inputs
        self.encoding, self.features = separate(inputs)
        if not 2 <= len(layers) <= MOST_LAYERS:
            raise ValueError(f"layers: expected 2 to {MOST_LAYERS}, found {len(layers)}")
        self.layers: tuple[Layer, ...] = tuple(
            kept_layer(number, layer, last=number == len(layers) - 1)
            for number, layer in enumerate(layers)
        )
        parts = (self.encoding, self.features)
        width = sum(len(part) for part in parts if part is not None)
        for number, (weights, bias) in enumerate(self.layers):
            following = outputs if number == len(layers) - 1 else weights.shape[1]
            if weights.shape != (width, following) or bias.shape != (following,):
                raise ValueError(
                    f"layer {number}: expected weights of shape {(width, following)} and bias of"
                    f" shape {(following,)}, found {weights.shape} and {bias.shape}"
                )
            width = following

    @property
    def widths(self) -> tuple[int, ...]:
        """Inputs, units of each hidden layer, and outputs."""
        return (self.layers[0][0].shape[0], *(bias.shape[0] for _, bias in self.layers))


class OutcomeNetwork(ArrayEvaluator):
    """A net for each phase of a game: value = base + sum of payoff times probability.

    game: a game with outcomes.
    nets: pairs of inputs and layers, in the order of the game's phases; a single pair serves a game
        without phases, or all phases. The layers of the evaluator's own `nets` are copies in
        float32, which may be changed in place while no search runs.
    name: the name of the evaluator.
    provenance: how the nets were obtained; saved with them.
    prefilter: chooses the moves worth valuing; files hold one with a `QuantisedNetwork`. None for
        all moves. Copies have none.

    Raises ValueError if layers do not fit one another or the inputs, contain NaN or infinity, the
    game has no outcomes, or the number of nets is not that of phases.
    """

    form = "plysmith-outcome-network-1"
    fields: ClassVar = {"outcomes": list, "phases": list, "nets": list}
    optional = (PREFILTER,)
    gives_outcomes = True

    def __init__(
        self,
        game: Game,
        nets: Sequence[tuple[Inputs, Sequence[tuple[Any, Any]]]],
        *,
        name: str = "network",
        provenance: Mapping[str, Any] | None = None,
        prefilter: Prefilter | None = None,
    ) -> None:
        if game.outcomes is None:
            raise ValueError(f"expected a game with outcomes, found {game.name}")
        super().__init__(game, name, provenance)
        self.kinds = game.outcomes
        self.prefilter = prefilter
        phases = 1 if game.phases is None else len(game.phases)
        if len(nets) not in (1, phases):
            raise ValueError(f"nets: expected 1 or {phases}, found {len(nets)}")
        self.nets = tuple(Net(inputs, layers, len(self.kinds)) for inputs, layers in nets)
        payoffs = np.array(self.kinds.payoffs)
        low, high = payoffs[payoffs < 0].sum(), payoffs[payoffs > 0].sum()
        self.bounds = (float(self.kinds.base + low), float(self.kinds.base + high))
        # the addresses of each layer's weights and bias, net by net, then for each net that of the
        # code that measures its terms
        arrays = (array for net in self.nets for layer in net.layers for array in layer)
        self._lay_out(arrays, after=len(self.nets))

    @property
    def inputs(self) -> Inputs:
        """The inputs of the first net; for `load_evaluator`, if all nets have the same inputs."""
        return self.nets[0].inputs

    def __repr__(self) -> str:
        widths = " ".join("-".join(map(str, net.widths)) for net in self.nets)
        return f"OutcomeNetwork({self.game.name}, {widths}, {self.name!r})"

    def _parts(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return ([(net.inputs, net.layers) for net in self.nets],), {}

    def place(self, net: int) -> int:
        """Returns the place of the addresses of a net's layers in the integers of `data`."""
        return sum(2 * len(before.layers) for before in self.nets[:net])

    def outcomes(self, positions: Any) -> NDArray[np.float64]:
        if self.game.rules is None or not kernels.compiled:
            outcomes = self._plain_outcomes()
            rows = np.array([outcomes(position) for position in positions])
            return rows.reshape(-1, len(self.kinds))
        import ctypes

        address, data, keep = self.native_outcomes()
        call = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(address)
        width, count = len(self.game.start()), len(self.kinds)
        rows = np.ascontiguousarray(positions, dtype=np.int64)
        if len(rows) and rows.shape[1:] != (width,):
            raise ValueError(
                f"expected positions of {width} integers, found an array of shape {rows.shape}"
            )
        result = np.zeros((len(rows), count))
        source, target = rows.ctypes.data, result.ctypes.data
        for i in range(len(rows)):
            call(data, source + 8 * width * i, target + 8 * count * i)
        del keep
        return result

    def _plain_outcomes(self) -> Callable[[Any], NDArray[np.float64]]:
        phase = kernels.uncompiled(self.game.phases.phase) if self.game.phases else None
        confine = kernels.uncompiled(self.kinds.confine)
        squash = kernels.uncompiled(logistic)
        hidden = [plain_hidden(net.encoding, net.features, net.layers) for net in self.nets]

        def outcomes(position: Any) -> NDArray[np.float64]:
            which = phase(position) if phase and len(self.nets) > 1 else 0
            with np.errstate(over="ignore", invalid="ignore"):
                total = hidden[which](position)
                inputs = np.where(total > 0, total, np.float32(0))
                weights, bias = self.nets[which].layers[-1]
                outputs = [bias[k] + in_lanes(inputs * w)[0] for k, w in enumerate(weights.T)]
            probabilities = np.array([squash(float(output)) for output in outputs])
            confine(position, probabilities)
            return probabilities

        return outcomes

    def plain(self) -> Callable[[Any], float]:
        outcomes = self._plain_outcomes()

        def value(position: Any) -> float:
            total = self.kinds.base
            for payoff, probability in zip(self.kinds.payoffs, outcomes(position), strict=True):
                total += payoff * float(probability)
            return total

        return value

    def _probabilities_text(self) -> list[str]:
        """Returns text that puts the probabilities for `position` into `probabilities`."""
        lines = []
        for number in range(len(self.nets)):
            if len(self.nets) > 1:
                test = "if" if number == 0 else "elif"
                last = number == len(self.nets) - 1
                lines.append("    else:" if last else f"    {test} which == {number}:")
            indent = "        " if len(self.nets) > 1 else "    "
            lines += net_text(self, number, indent)
            lines += [
                f"{indent}probabilities[{k}] = logistic(output_{k})" for k in range(len(self.kinds))
            ]
        return [
            *(["    which = int(phase(position))"] if len(self.nets) > 1 else []),
            *lines,
            "    confine(position, probabilities)",
        ]

    def scope(self) -> dict[str, Any]:
        scope: dict[str, Any] = {"logistic": logistic, "confine": self.kinds.confine}
        if self.game.phases is not None and len(self.nets) > 1:
            scope["phase"] = self.game.phases.phase
        for number, net in enumerate(self.nets):
            scope |= network_scope(net.encoding, net.features, active=f"active_{number}")
        return scope

    def data(self) -> NDArray[np.int64]:
        """Returns the integers that native code reads; compiles the kernels of the terms first."""
        for number, net in enumerate(self.nets):
            if net.features:
                self._data[self.terms_place(number)] = net.features.native_terms(
                    len(self.game.start())
                )
        return self._data

    def terms_place(self, net: int) -> int:
        """Returns the place of the address of the code that measures a net's terms."""
        return self.place(len(self.nets)) + net

    def _text(self) -> str:
        count = len(self.kinds)
        lines = [
            "def value_at(data, source):",
            f"    position = {read_position(len(self.game.start()))}",
            f"    block = stack_block({8 * count})",
            f"    probabilities = array_at(float64_pointer(block), ({count},))",
            *self._probabilities_text(),
            f"    total = {self.kinds.base!r}",
            *(f"    total += {p!r} * probabilities[{k}]" for k, p in enumerate(self.kinds.payoffs)),
            "    return total",
        ]
        return "\n".join(lines)

    def native_outcomes(self) -> tuple[int, int, Any]:
        lines = [
            "def outcomes_at(data, source, target):",
            f"    position = {read_position(len(self.game.start()))}",
            f"    probabilities = array_at(float64_pointer(target), ({len(self.kinds)},))",
            *self._probabilities_text(),
        ]
        return self._compiled("outcomes_at", "\n".join(lines), OUTCOMES_SIGNATURE)

    def _saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        nets: list[dict[str, Any]] = []
        arrays: dict[str, NDArray[Any]] = {}
        for i, net in enumerate(self.nets):
            earlier = next((j for j in range(i) if _alike(self.nets[j], net)), None)
            if earlier is not None:
                nets.append({"net": earlier})
                continue
            inputs = [part for part in (net.encoding, net.features) if part]
            described = [describe_input(self.game, part) for part in inputs]
            nets.append({"inputs": described, "widths": list(net.widths)})
            arrays |= named_layers(net.layers, f"{i}_")
        phases = _phases(self.game, len(self.nets))
        fields = {"outcomes": list(self.kinds.names), "phases": phases, "nets": nets}
        if self.prefilter is not None:
            fields[PREFILTER] = prefilter_entry(self.prefilter)
            arrays |= prefilter_arrays(self.prefilter)
        return fields, arrays

    @classmethod
    def _parts_in(
        cls, path: Path, content: Any, arrays: dict[str, NDArray[Any]], game: Game, inputs: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        names = list(game.outcomes.names) if game.outcomes is not None else []
        entries = content["nets"]
        for field, expected in (("outcomes", names), ("phases", _phases(game, len(entries)))):
            if not names or content[field] != expected:
                raise EvaluatorError(
                    f"{path}: expected the {field} of {game.name}, {expected or 'none'}, found"
                    f" {shortened(content[field])}"
                )
        if len(entries) != max(1, len(content["phases"])):
            raise EvaluatorError(
                f"{path}: expected {max(1, len(content['phases']))} nets, found {len(entries)}"
            )
        own = {}
        if inputs is not None:
            own = {(type(part), part.name): part for part in separate(inputs) if part}
        unused = set(own)
        nets: list[Any] = []
        for i, entry in enumerate(entries):
            if not isinstance(entry, dict):
                raise EvaluatorError(f"{path}: expected a net, found {short(entry)}")
            if "net" in entry:
                check_fields(path, entry, {"net": int})
                if not 0 <= entry["net"] < i:
                    raise EvaluatorError(
                        f"{path}: expected the number of an earlier net, found {entry['net']}"
                    )
                nets.append(nets[entry["net"]])
                continue
            check_fields(path, entry, {"inputs": list, "widths": list})
            widths, listed = entry["widths"], entry["inputs"]
            if not 1 <= len(listed) <= 2:
                raise EvaluatorError(f"{path}: expected one or two inputs, found {len(listed)}")
            parts = []
            for description in listed:
                key = _key(description)
                parts.append(find_input(path, description, game, own.get(key)))
                unused.discard(key)
            check_widths(path, widths, sum(map(len, parts)), len(names), least=2)
            layers = [
                (
                    take_array(path, arrays, f"weights_{i}_{number}", np.float32, (before, after)),
                    take_array(path, arrays, f"bias_{i}_{number}", np.float32, (after,)),
                )
                for number, (before, after) in enumerate(zip(widths, widths[1:], strict=False))
            ]
            nets.append((parts[0] if len(parts) == 1 else tuple(parts), layers))
        if unused:
            missing = ", ".join(sorted(name for _, name in unused))
            raise EvaluatorError(f"{path}: expected nets over {missing}, found none")
        return (nets,), {"prefilter": read_prefilter(path, content, arrays, game)}


def net_text(evaluator: OutcomeNetwork, number: int, indent: str) -> list[str]:
    """Returns text that sets `output_0`, `output_1` and so on, before the logistic function.

    evaluator: the evaluator.
    number: the number of the net.
    indent: the indentation of the text.

    The text reads the same variables as that of `search.evaluators.network.hidden_text`.
    """
    net = evaluator.nets[number]
    place = evaluator.place(number)
    last = len(net.layers) - 1
    weights, bias = (f"load_int(data, {place + 2 * last + part})" for part in (0, 1))
    length = padded(net.widths[last])
    outputs = net.widths[-1]
    lines = hidden_text(
        net.encoding,
        net.features,
        net.widths,
        place=place,
        terms=evaluator.terms_place(number),
        active=f"active_{number}",
        indent=indent,
    )
    lines += [
        f"{indent}last_bias = array_at(float32_pointer({bias}), ({outputs},))",
        *(
            f"{indent}output_{k} = float(last_bias[{k}]"
            f" + dot(hidden_{last}, {weights} + {4 * length * k}, {length}, 1))"
            for k in range(outputs)
        ),
    ]
    return lines


def _alike(first: Net, second: Net) -> bool:
    """Returns whether two nets are equal, so that a file need hold only one of them."""
    arrays = [[array for layer in net.layers for array in layer] for net in (first, second)]
    return (
        (first.encoding, first.features, first.widths)
        == (second.encoding, second.features, second.widths)
        and all(map(np.array_equal, *arrays))
    )  # fmt: skip


def _phases(game: Game, nets: int) -> list[str]:
    return list(game.phases.names) if game.phases is not None and nets > 1 else []


def _key(entry: Any) -> tuple[type, str]:
    """Returns the kind of inputs that an entry of a file describes, and their name."""
    if isinstance(entry, dict) and "features" in entry:
        return FeatureSet, str(entry["features"])
    return Encoding, str(entry.get("encoding")) if isinstance(entry, dict) else ""

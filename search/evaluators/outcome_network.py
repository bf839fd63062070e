"""Networks that give the probability of each outcome, one for each phase of a game.

Each net has ReLU between its layers and a logistic function behind the last (Tesauro 1992; GNU
Backgammon has a net for each class of positions).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import Game
from games.features import Encoding, FeatureSet
from games.kernels import kernel
from search.evaluators.evaluator import Prefilter, rows_of
from search.evaluators.files.header import EvaluatorError, check_fields, short, shortened
from search.evaluators.files.layers import (
    Inputs,
    described_inputs,
    named_layers,
    read_inputs,
    read_layers,
    separate,
)
from search.evaluators.layers import LayeredNetwork, Net
from search.evaluators.prefilter import PREFILTER, prefilter_parts, read_prefilter

__all__ = ["OutcomeNetwork", "by_phase", "logistic"]

OUTCOMES_SIGNATURE = "int64(int64, int64, int64)"

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


class OutcomeNetwork(LayeredNetwork):
    """A net for each phase of a game: value = base + sum of payoff times probability.

    game: a game with outcomes.
    nets: pairs of inputs and layers, see `search.evaluators.layers.Net`, in the order of the game's
        phases; a single pair serves a game without phases, or all phases. The last layer of each
        has an output for each outcome, and there is at least one hidden layer.
    name: the name of the evaluator.
    provenance: how the nets were obtained; saved with them.
    prefilter: chooses the moves worth valuing; files hold one with a `QuantisedNetwork`. None for
        all moves. Copies have none.

    Raises ValueError if layers do not fit one another or the inputs, contain NaN or infinity, the
    game has no outcomes, or the number of nets is not that of phases.
    """

    form = "plysmith-outcome-network-1"
    about = "network of outcomes"
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
        self._hold([Net(inputs, layers, len(self.kinds), least=2) for inputs, layers in nets])
        payoffs = np.array(self.kinds.payoffs)
        low, high = payoffs[payoffs < 0].sum(), payoffs[payoffs > 0].sum()
        self.bounds = (float(self.kinds.base + low), float(self.kinds.base + high))

    @property
    def inputs(self) -> Inputs:
        """The inputs of the first net; for `load_evaluator`, if all nets have the same inputs."""
        return self.nets[0].inputs

    def _parts(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return ([(net.inputs, net.layers) for net in self.nets],), {}

    def outcomes(self, positions: Any) -> NDArray[np.float64]:
        if self.game.rules is None or not kernels.runs_compiled():
            outcomes = self._plain_outcomes()
            rows = np.array([outcomes(position) for position in positions])
            return rows.reshape(-1, len(self.kinds))
        address, data, keep = self.native_outcomes()
        call = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(address)
        rows, count = rows_of(self.game, positions), len(self.kinds)
        result = np.zeros((len(rows), count))
        for i in range(len(rows)):
            call(data, rows.ctypes.data + i * rows.strides[0], result.ctypes.data + 8 * count * i)
        del keep
        return result

    def _plain_outcomes(self) -> Callable[[Any], NDArray[np.float64]]:
        phase = kernels.uncompiled(self.game.phases.phase) if self.game.phases else None
        confine = kernels.uncompiled(self.kinds.confine)
        squash = kernels.uncompiled(logistic)
        nets = [net.plain() for net in self.nets]

        def outcomes(position: Any) -> NDArray[np.float64]:
            which = phase(position) if phase and len(self.nets) > 1 else 0
            probabilities = np.array([squash(float(output)) for output in nets[which](position)])
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
        count = len(self.kinds)
        lines = [f"probabilities[{k}] = logistic(output_{k})" for k in range(count)]
        nets = [[*self.net_text(number), *lines] for number in range(len(self.nets))]
        return [*by_phase(nets), "confine(position, probabilities)"]

    def scope(self) -> dict[str, Any]:
        scope = super().scope() | {"logistic": logistic, "confine": self.kinds.confine}
        if self.game.phases is not None and len(self.nets) > 1:
            scope["phase"] = self.game.phases.phase
        return scope

    def _text(self) -> str:
        count = len(self.kinds)
        lines = [
            "def value_at(data, source):",
            self._position_text(),
            f"block = stack_block({8 * count})",
            f"probabilities = array_at(float64_pointer(block), ({count},))",
            *self._probabilities_text(),
            f"total = {self.kinds.base!r}",
            *(f"total += {p!r} * probabilities[{k}]" for k, p in enumerate(self.kinds.payoffs)),
            "return total",
        ]
        return "\n    ".join(lines)

    def outcomes_text(self) -> str:
        """Returns the text of the native function `outcomes_at(data, source, target)`."""
        lines = [
            "def outcomes_at(data, source, target):",
            self._position_text(),
            f"probabilities = array_at(float64_pointer(target), ({len(self.kinds)},))",
            *self._probabilities_text(),
        ]
        return "\n    ".join(lines)

    def native_outcomes(self) -> tuple[int, int, Any]:
        return self._compiled(
            "outcomes_at", f"{self.outcomes_text()}\n    return 0", OUTCOMES_SIGNATURE
        )

    def _saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        nets: list[dict[str, Any]] = []
        arrays: dict[str, NDArray[Any]] = {}
        for i, net in enumerate(self.nets):
            earlier = next((j for j in range(i) if _alike(self.nets[j], net)), None)
            if earlier is not None:
                nets.append({"net": earlier})
                continue
            described = described_inputs(self.game, net.inputs)
            nets.append({"inputs": described, "widths": list(net.widths)})
            arrays |= named_layers(net.layers, f"{i}_")
        phases = _phases(self.game, len(self.nets))
        fields = {"outcomes": list(self.kinds.names), "phases": phases, "nets": nets}
        if self.prefilter is not None:
            fields[PREFILTER], more = prefilter_parts(self.prefilter)
            arrays |= more
        return fields, arrays

    @classmethod
    def _parts_in(
        cls, content: Any, arrays: dict[str, NDArray[Any]], game: Game, inputs: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        names = list(game.outcomes.names) if game.outcomes is not None else []
        entries = content["nets"]
        for field, expected in (("outcomes", names), ("phases", _phases(game, len(entries)))):
            if not names or content[field] != expected:
                raise EvaluatorError(
                    f"expected the {field} of {game.name}, {expected or 'none'}, found"
                    f" {shortened(content[field])}"
                )
        if len(entries) != max(1, len(content["phases"])):
            raise EvaluatorError(
                f"expected {max(1, len(content['phases']))} nets, found {len(entries)}"
            )
        own = {}
        if inputs is not None:
            own = {(type(part), part.name): part for part in separate(inputs) if part}
        unused = set(own)
        nets: list[Any] = []
        for i, entry in enumerate(entries):
            if not isinstance(entry, dict):
                raise EvaluatorError(f"expected a net, found {short(entry)}")
            if "net" in entry:
                check_fields(entry, {"net": int})
                if not 0 <= entry["net"] < i:
                    raise EvaluatorError(
                        f"expected the number of an earlier net, found {entry['net']}"
                    )
                nets.append(nets[entry["net"]])
                continue
            check_fields(entry, {"inputs": list, "widths": list})
            keys = [_key(description) for description in entry["inputs"]]
            read = read_inputs(entry["inputs"], game, [own.get(key) for key in keys])
            unused -= set(keys)
            layers = read_layers(arrays, entry["widths"], read, len(names), least=2, prefix=f"{i}_")
            nets.append((read, layers))
        if unused:
            missing = ", ".join(sorted(name for _, name in unused))
            raise EvaluatorError(f"expected nets over {missing}, found none")
        return (nets,), {"prefilter": read_prefilter(content, arrays, game)}


def by_phase(nets: Sequence[Sequence[str]]) -> list[str]:
    """Returns text that runs one of several texts, that of the net for the phase of `position`."""
    if len(nets) == 1:
        return list(nets[0])
    lines = ["which = int(phase(position))"]
    for number, text in enumerate(nets):
        test = f"elif which == {number}:" if number else "if which == 0:"
        lines.append("else:" if number == len(nets) - 1 else test)
        lines += [f"    {line}" for line in text]
    return lines


def _alike(first: Net, second: Net) -> bool:
    """Returns whether two nets are equal, so that a file need hold only one of them."""
    return (first.encoding, first.features, first.widths) == (
        second.encoding, second.features, second.widths
    ) and all(map(np.array_equal, first.arrays, second.arrays))  # fmt: skip


def _phases(game: Game, nets: int) -> list[str]:
    return list(game.phases.names) if game.phases is not None and nets > 1 else []


def _key(entry: Any) -> tuple[type, str]:
    """Returns the kind of inputs that an entry of a file describes, and their name."""
    if isinstance(entry, dict) and "features" in entry:
        return FeatureSet, str(entry["features"])
    return Encoding, str(entry.get("encoding")) if isinstance(entry, dict) else ""

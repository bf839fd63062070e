"""Small networks whose value is their one output times a scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from search.evaluators.activations import RELU
from search.evaluators.array_evaluator import NativeNumber
from search.evaluators.files.layers import (
    Inputs,
    Layer,
    described_inputs,
    named_layers,
    parts_of,
    read_inputs,
    read_layers,
)
from search.evaluators.layers import LayeredNetwork, Net

__all__ = ["NetworkEvaluator", "ScaledNetwork"]


class ScaledNetwork(LayeredNetwork):
    """The base of networks with a net of one output: value = scale * output."""

    fields: ClassVar = {"scale": float, "inputs": list, "widths": list}
    scale = NativeNumber()
    #: The smallest number of layers.
    least: ClassVar[int] = 1

    def _hold_net(self, net: Net, scale: float, before: Sequence[int] = ()) -> None:
        """Lay out a net behind the scale and the numbers `before`."""
        self.inputs, self.encoding, self.features = net.inputs, net.encoding, net.features
        self.layers: tuple[Layer, ...] = net.layers
        self._hold([net], before=[0, *before])
        self.scale = scale

    @property
    def factor(self) -> float:
        """The factor by which native code multiplies the output."""
        return float(self._data[:1].view(np.float64)[0])

    @property
    def widths(self) -> tuple[int, ...]:
        """Inputs, units of each hidden layer, and 1."""
        return self.nets[0].widths

    def _shape(self) -> dict[str, Any]:
        """Returns the fields of a file and options of the constructor but layers and scale."""
        return {}

    def _parts(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.inputs, self.layers), {**self._shape(), "scale": self.scale}

    def plain(self) -> Callable[[Any], float]:
        outputs = self.nets[0].plain()
        return lambda position: float(outputs(position)[0]) * self.factor

    def _text(self) -> str:
        lines = [*self.net_text(0), "return load_float(data, 0) * output_0"]
        return "\n    ".join(["def value_at(data, source):", self._position_text(), *lines])

    def _saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        fields = {
            "scale": self.scale,
            "inputs": described_inputs(self.game, self.inputs),
            "widths": list(self.widths),
            **self._shape(),
        }
        return fields, named_layers(self.layers)

    @classmethod
    def _parts_in(
        cls, content: Any, arrays: dict[str, NDArray[Any]], game: Game, inputs: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        read = read_inputs(content["inputs"], game, parts_of(inputs))
        phases = len(content["phases"]) + 1 if "phases" in cls.fields else 0
        layers = read_layers(arrays, content["widths"], read, least=cls.least, phases=phases)
        options = ("scale", "phases", "activations", "skips")
        return (read, layers), {name: content[name] for name in options if name in content}


class NetworkEvaluator(ScaledNetwork):
    """A network of layers of float32: value = scale * output.

    game: the game.
    inputs, layers, activations, skips: see `search.evaluators.layers.Net`; the last layer has one
        output, and a single layer is a linear function with a bias.
    scale: the factor of the output.
    name: the name of the evaluator.
    provenance: how the layers were obtained; saved with them.

    Raises ValueError if something does not fit, see `Net`.
    """

    form = "plysmith-network-1"
    about = "network"
    optional = ("activations", "skips")

    def __init__(
        self,
        game: Game,
        inputs: Inputs,
        layers: Sequence[tuple[Any, Any]],
        *,
        activations: Sequence[str] = (),
        skips: Sequence[Sequence[int]] = (),
        scale: float = 1.0,
        name: str = "network",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(game, name, provenance)
        net = Net(inputs, layers, activations=activations, skips=skips)
        self.activations, self.skips = net.activations, net.skips
        self._hold_net(net, scale)

    @property
    def only_relu(self) -> bool:
        """Whether all activations are ReLU, and no skips lead past layers."""
        return set(self.activations) <= {RELU} and not self.skips

    def _shape(self) -> dict[str, Any]:
        if self.only_relu:
            return {}
        skips = {"skips": [list(skip) for skip in self.skips]} if self.skips else {}
        return {"activations": list(self.activations), **skips}

"""Small networks with other activations than ReLU between the layers: tanh, normalisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from numpy.typing import NDArray

from games.contract import Game
from search.evaluators.activations import KINDS, activation_scope
from search.evaluators.network import Inputs, NetworkEvaluator

__all__ = ["ShapedNetwork"]


class ShapedNetwork(NetworkEvaluator):
    """A network as `NetworkEvaluator`, with a chosen activation behind each layer.

    activations: for each layer but the last, "relu", "tanh" or "normalise"; the latter is
        (x - mean) / sqrt(variance + 1e-5) over the sums of the layer.

    `plain` agrees but for the last bits of float32. Raises ValueError if the number of activations
    is wrong or one is unknown.
    """

    form = "plysmith-network-2"
    fields: ClassVar = {**NetworkEvaluator.fields, "activations": list}

    def __init__(
        self,
        game: Game,
        inputs: Inputs,
        layers: Sequence[tuple[Any, Any]],
        activations: Sequence[str],
        *,
        scale: float = 1.0,
        name: str = "network",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(game, inputs, layers, scale=scale, name=name, provenance=provenance)
        self.activations = tuple(activations)
        if len(activations) != len(self.layers) - 1 or not set(activations) <= set(KINDS):
            raise ValueError(
                f"activations: expected {len(self.layers) - 1} of {', '.join(KINDS)}, found"
                f" {', '.join(map(str, activations))[:80] or 'none'}"
            )

    def _parts(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        (inputs, layers), options = super()._parts()
        return (inputs, layers, self.activations), options

    def scope(self) -> dict[str, Any]:
        return {**super().scope(), **activation_scope(self.activations)}

    def _saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        fields, arrays = super()._saved()
        return {**fields, "activations": list(self.activations)}, arrays

    @classmethod
    def _parts_in(
        cls, path: Path, content: Any, arrays: dict[str, NDArray[Any]], game: Game, inputs: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        (found, layers), options = super()._parts_in(path, content, arrays, game, inputs)
        return (found, layers, content["activations"]), options

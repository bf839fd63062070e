"""Decision trees: the sum of the leaves at which a position ends, one in each tree.

Forests and gradient boosting of other libraries become such trees (`learner.as_native`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.kernels import kernel
from games.kernels.memory import read_position
from games.kernels.vectors import stack_block
from search.evaluators.array_evaluator import ArrayEvaluator
from search.evaluators.files.arrays import take_array
from search.evaluators.files.layers import (
    Inputs,
    described_inputs,
    parts_of,
    read_inputs,
    separate,
    size_of,
)

__all__ = ["TreeEvaluator"]

#: The arrays of trees: their names and types. Native code gets the number of trees in front.
ARRAYS = {"tests": np.int32, "bounds": np.float64, "low": np.int32, "high": np.int32}


@kernel
def sum_of_leaves(inputs, trees, tests, bounds, low, high):
    """Returns the sum of the leaves; the roots of the trees are the first nodes."""
    total = 0.0
    for tree in range(trees):
        node = tree
        while tests[node] >= 0:
            if inputs[tests[node]] <= bounds[node]:
                node = int(low[node])
            else:
                node = int(high[node])
        total += bounds[node]
    return total


class TreeEvaluator(ArrayEvaluator):
    """The sum of the leaves at which a position ends, one in each tree.

    game: the game.
    inputs: an encoding, a feature set, or both as (encoding, features).
    tests: [nodes], the input that a node tests, or -1 at a leaf.
    bounds: [nodes], the greatest value that leads to the `low` node, or the value of a leaf.
    low, high: [nodes], the nodes behind a test, which have greater numbers than its own.
    trees: the number of trees; their roots are the first nodes.
    name: the name of the evaluator.
    provenance: the origin of the trees; saved with them.

    The evaluator's own `weights` are a copy of the bounds. Raises ValueError if the arrays do not
    fit one another or the inputs, or contain NaN or infinity.
    """

    form = "plysmith-trees-1"
    about = "decision trees"
    fields: ClassVar = {"inputs": list, "trees": int, "nodes": int}

    def __init__(
        self,
        game: Game,
        inputs: Inputs,
        tests: Any,
        bounds: Any,
        low: Any,
        high: Any,
        *,
        trees: int,
        name: str = "trees",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(game, name, provenance)
        self.inputs, self.trees = inputs, trees
        self.encoding, self.features = separate(inputs)
        given = zip(ARRAYS.items(), (tests, bounds, low, high), strict=True)
        self.arrays = {key: np.array(array, dtype=kind) for (key, kind), array in given}
        tests, bounds, low, high = self.arrays.values()
        self.weights, nodes = bounds, np.arange(tests.size)
        fitting = all(array.shape == nodes.shape for array in self.arrays.values())
        if not fitting or not 1 <= trees <= tests.size or not np.isfinite(bounds).all():
            raise ValueError("expected four arrays of one length and finite bounds, found others")
        behind = np.stack([low, high])[:, tests >= 0]
        if (
            tests.max() >= size_of(inputs)
            or (behind <= nodes[tests >= 0]).any()
            or (behind >= tests.size).any()
        ):
            raise ValueError("expected tests of the inputs and nodes behind them, found others")
        self._lay_out(self.arrays.values())

    def __repr__(self) -> str:
        return f"TreeEvaluator({self.game.name}, {self.trees} trees, {self.name!r})"

    def plain(self) -> Callable[[Any], float]:
        tests, bounds, low, high = self.arrays.values()

        def value(position: Any) -> float:
            inputs: list[float] = []
            if self.encoding:
                inputs += self.encoding.dense([position])[0].tolist()
            if self.features:
                inputs += map(float, self.features.values(position))
            total = 0.0
            for node in range(self.trees):
                while tests[node] >= 0:
                    node = low[node] if inputs[tests[node]] <= bounds[node] else high[node]
                total += float(bounds[node])
            return total

        return value

    def _text(self) -> str:
        size, start = size_of(self.inputs), self.encoding.size if self.encoding else 0
        lines = [
            "def value_at(data, source):",
            f"    position = {read_position(len(self.game.start()))}",
            f"    inputs = array_at(float64_pointer(stack_block({8 * size})), ({size},))",
        ]
        if self.encoding:
            most = self.encoding.most
            lines += [
                f"    places = array_at(int64_pointer(stack_block({8 * most})), ({most},))",
                f"    for i in range({start}):",
                "        inputs[i] = 0.0",
                "    for i in range(int(active(position, places))):",
                "        inputs[places[i]] = 1.0",
            ]
        if self.features:
            lines += ["    swapped = swap(position)"] if self.features.swap else []
            expressions = map(self.features.expression, range(len(self.features)))
            lines += [f"    inputs[{start + i}] = float({x})" for i, x in enumerate(expressions)]
        count = self.arrays["tests"].size
        arrays = ", ".join(
            f"array_at({np.dtype(kind)}_pointer(load_int(data, {i})), ({count},))"
            for i, kind in enumerate(ARRAYS.values())
        )
        return "\n".join([*lines, f"    return sum_of_leaves(inputs, {self.trees}, {arrays})"])

    def scope(self) -> dict[str, Any]:
        scope: dict[str, Any] = {"sum_of_leaves": sum_of_leaves, "stack_block": stack_block}
        if self.encoding:
            scope["active"] = self.encoding.active
        return scope | (self.features.scope() if self.features else {})

    def _parts(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.inputs, *self.arrays.values()), {"trees": self.trees}

    def _saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        inputs = described_inputs(self.game, self.inputs)
        return {"inputs": inputs, "trees": self.trees, "nodes": self.weights.size}, self.arrays

    @classmethod
    def _parts_in(
        cls, content: Any, arrays: dict[str, NDArray[Any]], game: Game, inputs: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        read = read_inputs(content["inputs"], game, parts_of(inputs))
        shape = (content["nodes"],)
        taken = [take_array(arrays, key, kind, shape) for key, kind in ARRAYS.items()]
        return (read, *taken), {"trees": content["trees"]}

"""n-tuple networks: sums of tables, each indexed by the contents of a group of cells.

Each active input of the encoding adds its row to the indices of all lookups at once, and the value
is the sum of the weights at these indices. New weights compile nothing.

Sources: W. W. Bledsoe and I. Browning, "Pattern Recognition and Reading by Machine" (1959);
S. M. Lucas, "Learning to Play Othello with N-Tuple Systems" (2008); M. Thill, P. Koch and
W. Konen, "Reinforcement Learning with N-tuples on the Game Connect-4" (2012).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.extras import Extra
from games.features.tuples import Group, TupleLayout
from games.kernels import kernel
from games.kernels.memory import read_position
from games.kernels.vectors import stack_block
from search.evaluators.array_evaluator import ArrayEvaluator
from search.evaluators.files.arrays import take_array
from search.evaluators.files.header import describe_input, find_input

__all__ = ["TupleEvaluator", "Tuples", "find_indices"]


@kernel
def find_indices(places, count, turn, starts, offsets, indices):
    """Write the index of each lookup for a position whose `count` active inputs are `places`.

    Returns -1.0 if the input `turn` is among them, so that the sum of the weights is negated, else
    1.0.
    """
    sign = 1.0
    for lookup in range(len(starts)):
        indices[lookup] = starts[lookup]
    for i in range(count):
        place = places[i]
        if place == turn:
            sign = -1.0
        for lookup in range(len(starts)):
            indices[lookup] += offsets[place, lookup]
    return sign


@kernel
def look_up(places, count, turn, starts, offsets, weights, indices):
    """Returns the value of a position: its weights, added in the order of the lookups."""
    sign = find_indices(places, count, turn, starts, offsets, indices)
    total = 0.0
    for lookup in range(len(starts)):
        total += weights[indices[lookup]]
    return sign * total


@dataclass(frozen=True)
class Tuples(Extra):
    """The layouts of n-tuple networks of a game by name, an extra."""

    named: Mapping[str, TupleLayout] = field(default_factory=dict)


class TupleEvaluator(ArrayEvaluator):
    """The sum of the weights that a position's groups of cells look up.

    game: the game.
    layout: the groups; a game's own are its `Tuples`.
    weights: [layout.size]. Default: 0 everywhere. The evaluator's own `weights` are a copy in
        float32, which may be changed in place.
    name: the name of the evaluator.
    provenance: how the weights were obtained; saved with them.

    Raises ValueError if the weights do not fit the layout or contain NaN or infinity.
    """

    form = "plysmith-tuples-1"
    about = "n-tuple network"
    fields: ClassVar = {"inputs": dict, "cells": int, "groups": list, "images": list, "turns": int}

    def __init__(
        self,
        game: Game,
        layout: TupleLayout,
        weights: Any = None,
        *,
        name: str = "tuples",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(game, name, provenance)
        self.layout = layout
        self.weights = np.zeros(layout.size, dtype=np.float32)
        if weights is not None:
            given = np.asarray(weights)
            if given.shape != self.weights.shape or not np.isfinite(given).all():
                raise ValueError(
                    f"weights: expected {layout.size} finite numbers, found an array of shape"
                    f" {given.shape}, {int(np.isfinite(given).sum())} of them finite"
                )
            self.weights[:] = given
        self._lay_out([*layout.lookups, self.weights])

    def __repr__(self) -> str:
        return f"TupleEvaluator({self.game.name}, {len(self.layout.groups)} groups, {self.name!r})"

    def plain(self) -> Callable[[Any], float]:
        encoding, (starts, offsets) = self.layout.encoding, self.layout.lookups

        def value(position: Any) -> float:
            places = [place for place in encoding.places(position) if place >= 0]
            indices = starts + offsets[places].sum(axis=0)
            total = 0.0
            for weight in self.weights[indices].tolist():
                total += weight
            return -total if self.layout.turn in places else total

        return value

    def _text(self) -> str:
        most, lookups = self.layout.encoding.most, len(self.layout.lookups[0])
        inputs = self.layout.encoding.size
        return f"""
def value_at(data, source):
    position = {read_position(len(self.game.start()))}
    places = array_at(int64_pointer(stack_block({8 * most})), ({most},))
    count = int(active(position, places))
    starts = array_at(int32_pointer(load_int(data, 0)), ({lookups},))
    offsets = array_at(int32_pointer(load_int(data, 1)), ({inputs + 1}, {lookups}))
    weights = array_at(float32_pointer(load_int(data, 2)), ({self.layout.size},))
    indices = array_at(int32_pointer(stack_block({4 * lookups})), ({lookups},))
    return look_up(places, count, {self.layout.turn}, starts, offsets, weights, indices)
"""

    def scope(self) -> dict[str, Any]:
        return {
            "active": self.layout.encoding.active,
            "look_up": look_up,
            "stack_block": stack_block,
        }

    def _parts(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.layout, self.weights), {}

    def _saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        layout = self.layout
        fields = {
            "inputs": describe_input(self.game, layout.encoding),
            "cells": layout.cells,
            "groups": [[list(group.cells), list(group.classes)] for group in layout.groups],
            "images": [list(image) for image in layout.images],
            "turns": int(layout.turns),
        }
        return fields, {"weights": self.weights}

    @classmethod
    def _parts_in(
        cls, content: Any, arrays: dict[str, NDArray[Any]], game: Game, inputs: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        encoding: Any = find_input(content["inputs"], game, inputs)
        groups = tuple(Group(_cells(a), _cells(b)) for a, b in content["groups"])
        images = tuple(_cells(image) for image in content["images"])
        (turns,) = _cells([content["turns"]])
        layout = TupleLayout(encoding, content["cells"], groups, images, turns > 0)
        return (layout, take_array(arrays, "weights", np.float32, (layout.size,))), {}


def _cells(numbers: Any) -> tuple[int, ...]:
    """Returns a list of small numbers in a file as a tuple; raises ValueError for anything else."""
    if not isinstance(numbers, list) or not all(
        type(n) is int and 0 <= n <= MOST_NUMBER for n in numbers
    ):
        raise ValueError(f"expected lists of whole numbers, found {str(numbers)[:60]}")
    return tuple(numbers)


#: No encoding has more inputs, and so no cell or class a greater number.
MOST_NUMBER = 1 << 24

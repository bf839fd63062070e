"""Signature tables: terms that interact are looked up together, in three levels.

A polynomial adds its terms independently of each other. Here each term is quantised to a few
levels. The levels of three terms select a cell of a first-level table; its output level and two
others select a cell of a second-level table; and the output levels of these select the cell of the
third-level table with the value. Each phase of the game has its own tables.

Source: A. L. Samuel, "Some Studies in Machine Learning Using the Game of Checkers. II - Recent
Progress", IBM Journal of Research and Development 11 (1967).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from games import kernels
from games.contract import Game
from games.kernels.memory import read_position
from search.evaluators.array_evaluator import ArrayEvaluator
from search.evaluators.files.arrays import take_array
from search.evaluators.files.header import EvaluatorError, describe_input, find_input, short
from search.evaluators.signature_layout import SignatureLayout, layout_of, starts

__all__ = ["SignatureEvaluator", "SignatureLayout", "layout_of"]

#: The arrays of an evaluator; each holds the cells of all tables of a level, one after another.
ARRAYS = ("first", "first_levels", "second", "second_levels", "third")


class SignatureEvaluator(ArrayEvaluator):
    """The value of material plus the scaled coefficient from the tables.

    game: the game.
    layout: how terms are quantised and grouped into tables.
    tables: arrays by the names `first`, `first_levels`, `second`, `second_levels` and `third`, with
        the shapes of `SignatureLayout.empty_tables`; missing ones are neutral. The output levels of
        the first two levels lead to a cell of the third, whose coefficient counts.
    material: weights of the layout's material terms.
    scale: the value of a coefficient of 1.
    name: the name of the evaluator.
    provenance: how the tables were obtained; saved with them.

    Tables, material and scale may be changed in place (`tables[...][:]`, `material[:]`,
    `scale[0]`), which compiles nothing. Raises ValueError if an array does not fit the layout, an
    output level is out of range or a number is not finite.
    """

    form = "plysmith-signature-1"
    about = "signature tables"
    fields: ClassVar = {"scale": float, "material": dict, "inputs": dict, "layout": dict}

    def __init__(
        self,
        game: Game,
        layout: SignatureLayout,
        tables: Mapping[str, Any] | None = None,
        *,
        material: Mapping[str, float] | None = None,
        scale: float = 1.0,
        name: str = "signature",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(game, name, provenance)
        self.layout = layout
        self.tables = layout.empty_tables()
        for key, given in (tables or {}).items():
            if key not in self.tables:
                raise ValueError(f"tables: expected {', '.join(ARRAYS)}, found {key!r}")
            array = np.asarray(given)
            if array.shape != self.tables[key].shape:
                raise ValueError(
                    f"table {key}: expected shape {self.tables[key].shape} for layout"
                    f" {layout.name}, found {array.shape}"
                )
            levels = {"first_levels": layout.first_levels, "second_levels": layout.second_levels}
            if key in levels and not ((array >= 0) & (array < levels[key])).all():
                raise ValueError(f"table {key}: expected levels from 0 to {levels[key] - 1}")
            if not np.isfinite(array).all():
                raise ValueError(f"table {key}: expected finite numbers, found NaN or infinity")
            self.tables[key][:] = array
        given_weights = dict(material or {})
        unknown = [term for term in given_weights if term not in layout.material]
        if unknown:
            raise ValueError(
                f"material: expected {', '.join(layout.material) or 'no terms'}, found"
                f" {', '.join(unknown)}"
            )
        self.material = np.array([given_weights.get(term, 0.0) for term in layout.material], float)
        self.scale = np.array([scale], dtype=np.float64)
        if not (np.isfinite(self.material).all() and np.isfinite(self.scale).all()):
            raise ValueError("material and scale: expected finite numbers, found NaN or infinity")
        own = self.tables
        arrays = [own["first_levels"], own["second_levels"], own["third"]]
        self._lay_out([*arrays, self.scale, self.material])

    def __repr__(self) -> str:
        return f"SignatureEvaluator({self.game.name}, {self.layout.name}, {self.name!r})"

    def _parts(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        options = {"material": self._material_weights(), "scale": float(self.scale[0])}
        return (self.layout, self.tables), options

    def _material_weights(self) -> dict[str, float]:
        return dict(zip(self.layout.material, self.material.tolist(), strict=True))

    def _saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        fields = {
            "scale": float(self.scale[0]),
            "material": self._material_weights(),
            "inputs": describe_input(self.game, self.layout.features),
            "layout": self.layout.description(),
        }
        return fields, self.tables

    def plain(self) -> Callable[[Any], float]:
        layout, tables, features = self.layout, self.tables, self.layout.features
        phase_of = None if layout.phase is None else kernels.uncompiled(layout.phase)
        last = layout.phases - 1

        def value(position: Any) -> float:
            terms = np.array([features.values(position)], dtype=np.float64)
            phase = 0 if phase_of is None else min(max(int(phase_of(position)), 0), last)
            cells = layout.first_cells(terms)
            above = layout.second_cells(tables["first_levels"][phase, cells])
            (cell,) = layout.third_cells(tables["second_levels"][phase, above])
            total = float(self.scale[0]) * float(tables["third"][phase, cell])
            for weight, term in zip(self.material.tolist(), layout.material, strict=True):
                total += weight * float(terms[0, features.names.index(term)])
            return total

        return value

    def _text(self) -> str:
        return _source(self.layout, len(self.game.start()))[0]

    def scope(self) -> dict[str, Any]:
        return _source(self.layout, len(self.game.start()))[1]

    @classmethod
    def _parts_in(
        cls, content: Any, arrays: dict[str, NDArray[Any]], game: Game, inputs: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # `inputs` is the layout
        layout = layout_of(game) if inputs is None else inputs
        if not isinstance(layout, SignatureLayout):
            raise EvaluatorError(f"expected a layout as inputs, found {short(repr(inputs))}")
        expected, stated = layout.description(), dict(content["layout"])
        other = [key for key in {**expected, **stated} if expected.get(key) != stated.get(key)]
        if other:
            raise EvaluatorError(
                f"expected the layout {layout.name}, found one with other"
                f" {', '.join(other)}: {short(stated.get(other[0]))}; pass inputs= for a layout of"
                " your own"
            )
        find_input(content["inputs"], game, layout.features)
        tables = {
            name: take_array(arrays, name, empty.dtype, empty.shape)
            for name, empty in layout.empty_tables().items()
        }
        weights = content["material"]
        if not all(type(weight) in (int, float) for weight in weights.values()):
            raise EvaluatorError(f"expected numbers as material, found {short(weights)}")
        return (layout, tables), {"material": weights, "scale": content["scale"]}


def _source(layout: SignatureLayout, width: int) -> tuple[str, dict[str, Any]]:
    """Returns the text of the native evaluator, and the kernels that it refers to.

    The text has no branches, so that the compiler can share common parts of the terms.
    """
    features, phases = layout.features, layout.phases
    index = {term: i for i, term in enumerate(features.names)}
    used = {t: index[t] for t in (*(t for g in layout.groups for t in g), *layout.material)}
    # an unsigned index needs no check for counting from the end
    scope = {"clamped": clamped, "uint64": np.uint64, **features.scope()}
    scope = {k: v for k, v in scope.items() if k[:5] != "term_" or int(k[5:]) in used.values()}
    if layout.phase is not None:
        scope["phase_of"] = layout.phase
    sizes, above, third = layout.sizes
    lines = [
        "def value_at(data, source):",
        f"    position = {read_position(width)}",
        *(["    swapped = swap(position)"] if features.swap else []),
        f"    first = array_at(int8_pointer(load_int(data, 0)), ({phases * sum(sizes)},))",
        f"    second = array_at(int8_pointer(load_int(data, 1)), ({phases * sum(above)},))",
        f"    third = array_at(float64_pointer(load_int(data, 2)), ({phases * third},))",
    ]
    defined: set[str] = set()

    def value_of(term: str) -> str:
        # each where it is first needed, so that fewer of them wait in registers
        name = f"x_{index[term]}"
        if term not in defined:
            defined.add(term)
            lines.append(f"    {name} = {features.expression(index[term])}")
        return name

    if layout.phase is None:
        lines.append("    phase = 0")
    else:
        lines.append(f"    phase = min(max(int(phase_of(position)), 0), {phases - 1})")
    for table, (group, start) in enumerate(zip(layout.groups, starts(sizes), strict=True)):
        lines.append(f"    cell = phase * {sum(sizes)} + {start}")
        stride = sizes[table]
        for term in group:
            stride //= len(layout.thresholds[term]) + 1
            level = _level(value_of(term), layout.thresholds[term])
            lines.append(f"    cell += {stride} * ({level})")
        lines.append(f"    y_{table} = int(first[uint64(cell)])")
    for table, (inputs, start) in enumerate(zip(layout.second, starts(above), strict=True)):
        lines.append(f"    cell = phase * {sum(above)} + {start}")
        stride = above[table]
        for first_table in inputs:
            stride //= layout.first_levels
            lines.append(f"    cell += {stride} * y_{first_table}")
        lines.append(f"    z_{table} = int(second[uint64(cell)])")
    lines.append(f"    cell = phase * {third}")
    stride = third
    for table in range(len(above)):
        stride //= layout.second_levels
        lines.append(f"    cell += {stride} * z_{table}")
    lines.append("    total = load_float(load_int(data, 3), 0) * third[uint64(cell)]")
    for i, term in enumerate(layout.material):
        name = value_of(term)
        lines.append(f"    total += load_float(load_int(data, 4), {i}) * {name}")
    lines.append("    return total")
    return "\n".join(lines) + "\n", scope


def _level(name: str, steps: tuple[float, ...]) -> str:
    """Returns source text for the level of a term, whose value is the variable `name`."""
    # whole thresholds as integers, so that the compiler need not compare floats
    left = [int(step) if step == int(step) else step for step in steps]
    parts = []
    most = 0
    while {-most - 1, most + 1} <= set(left):
        most += 1
    if most > 1:
        # one operation for all consecutive whole thresholds
        left = [step for step in left if abs(step) > most]
        parts.append(f"clamped({name}, {most}) + {most}")
    parts += [f"int({name} {'>=' if step > 0 else '>'} {step!r})" for step in left]
    return " + ".join(parts)


def clamped(value, most):  # type: ignore[no-untyped-def]
    """Returns a value limited to -most to most, and rounded towards 0.

    For whole values this is the value, limited to -most to most.
    """
    return sum((value >= step) - (value <= -step) for step in range(1, most + 1))


def _clamped(value: Any, most: Any) -> Any:
    if isinstance(value, types.Integer):
        return lambda value, most: min(max(value, -most), most)

    def native(value: Any, most: Any) -> Any:
        total = 0
        for step in range(1, most + 1):
            total += int(value >= step) - int(value <= -step)
        return total

    return native


overload(clamped, strict=False)(_clamped)

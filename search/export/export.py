"""An evaluator as three files of C99: `NAME.h`, `NAME.c` and a test, `NAME_selftest.c`.

The native code of every kind of evaluator is compiled from a text of Python (`NativeText`), and
that text is translated, with the kernels of its features. The files depend on nothing but C's own
library, keep no state, and may be called by many threads.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from programs.whole_files import write_atomically
from search.evaluators.evaluator import Evaluator, NativeText
from search.evaluators.linear import LinearEvaluator
from search.evaluators.network import NetworkEvaluator
from search.evaluators.outcome_network import OutcomeNetwork
from search.evaluators.quantised import QuantisedNetwork
from search.evaluators.samples import sample_positions
from search.export.c_values import Address, Array, Value, literal
from search.export.templates import filled, template
from search.export.translator import RESERVED, Function
from search.export.unit import CFile

__all__ = ["VECTORS", "c_files", "export"]

#: Positions of the test.
VECTORS = 1000
#: Greatest error of a float, relative to 1 or its own size.
TOLERANCE = 1e-6
LINE_BYTES = 64
#: The first lines of every file.
LICENCE = """\
/* SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Plysmith authors, for code and weights from Plysmith; rules, terms and
 * weights of your own stay yours.
 */
"""


class Entries:
    """The C text of the words of an evaluator's `data`."""

    def __init__(self, unit: CFile, made: NativeText, width: int, notes: tuple[str, ...]) -> None:
        self.unit, self.made, self.width, self.notes = unit, made, width, notes
        self._arrays = {array.ctypes.data: array for array in made.arrays}

    def number(self, index: int, whole: bool) -> Value:
        """Returns a word as a value.

        index: its place.
        whole: whether it is an integer or an address, and not a float.
        """
        word = int(self.made.data[index])
        if whole and word in self._arrays:
            array = self._arrays[word]
            # the pairs of rows of `clip_products` are bytes in fours, at the same places
            numbers = _in_fours(array) if array.ndim == 4 else _flat(array)
            return Value(Address(self.unit.table(numbers, "table"), None, str(array.dtype)), "")
        if whole:
            return literal(word)
        numbers = self.made.data.view(np.float64)
        if self.made.arrays:
            return literal(float(numbers[index]))
        return Value("float", f"{self.unit.table(numbers, 'weights', self.notes)}[{index}]")

    def function(self, index: int) -> tuple[str, tuple[str, ...]]:
        """Returns the name of a function that a word is the address of, and what it points to."""
        features = self.made.terms[index]
        key = ("terms", index)
        if key not in self.unit.specialised:
            given = {
                "source": Array("int64", (self.width,), True),
                "target": Array("float32", (len(features),)),
            }
            text = features.terms_text(self.width)
            name = translated(self.unit, text, features.scope(), given, "terms")
            self.unit.specialised[key] = (name, "int", False)
        return self.unit.specialised[key][0], ("int64", "float32")


def translated(
    unit: CFile, text: str, scope: Mapping[str, Any], given: Mapping[str, Any], name: str,
    entries: Entries | None = None, *, public: bool = False,
) -> str:  # fmt: skip
    """Translate the text of one function, and return its name in C."""
    (tree,) = ast.parse(text.strip()).body
    assert isinstance(tree, ast.FunctionDef)
    function = Function(unit, tree, scope, given, "the evaluator", entries)
    body = "\n".join(function.body())
    own = unit.named(name)
    head = function.head(own).removeprefix("static inline " if public else "")
    unit.add(f"{head}\n{{\n{body}\n}}\n")
    return own


def c_files(evaluator: Evaluator, name: str | None = None) -> dict[str, str]:
    """Returns the texts of the files of C, by their names.

    evaluator: any evaluator in native code.
    name: goes before every name of the files. Default: the evaluator's own.

    Raises TypeError if the evaluator or its game calls Python, `TranslationError` for a kernel that
    cannot be written as C, and ValueError for a wrong name or too many numbers.
    """
    evaluator, unit, made, entries = begun(evaluator, name)
    game, own, width = evaluator.game, unit.name, entries.width
    given = {"data": Value("data", ""), "source": Array("int64", (width,), True)}
    parts = {}
    translated(unit, made.text, made.scope, given, "value", entries, public=True)
    if isinstance(evaluator, OutcomeNetwork):
        more = {**given, "target": Array("float64", (len(evaluator.kinds),))}
        text = evaluator.outcomes_text()
        translated(unit, text, made.scope, more, "outcomes", entries, public=True)
        parts = _outcomes(evaluator, own, sample_positions(game, VECTORS))
    head = (
        f"/* {evaluator.name}: values of positions of {game.name}, from Plysmith. */\n"
        f'#include "{own}.h"\n\n{template("compilers.c")}'
    )
    return {
        f"{own}.h": _header(evaluator, own, parts.get("header", "")),
        f"{own}.c": "\n".join([head, unit.text()]),
        f"{own}_selftest.c": _selftest(evaluator, own, parts),
    }  # fmt: skip


def begun(evaluator: Evaluator, name: str | None) -> tuple[Evaluator, CFile, NativeText, Entries]:
    """Returns what the translation of an evaluator begins with.

    Terms without a weight are left out of the evaluator. Raises the errors of `c_files`.
    """
    game = evaluator.game
    if game.rules is None:
        raise TypeError(f"expected a game of kernels, found {game.name}, which is plain Python")
    unit = CFile(_identifier(evaluator.name if name is None else name, exact=name is not None))
    notes: tuple[str, ...] = ()
    if isinstance(evaluator, LinearEvaluator):
        weights = {term: weight for term, weight in evaluator.term_weights().items() if weight}
        used = evaluator.features.only(weights or evaluator.features.names[:1])
        evaluator, notes = LinearEvaluator(game, used, weights, name=evaluator.name), used.names
    made = evaluator.native_text()
    return evaluator, unit, made, Entries(unit, made, len(game.start()), notes)


def export(
    evaluator: Evaluator,
    folder: Any,
    *,
    name: str | None = None,
    overwrite: bool = False,
    made: Callable[..., dict[str, str]] = c_files,
) -> list[Path]:
    """Write the files of C, all of them or none, and return their paths.

    evaluator, name: as in `c_files`, which also says what is raised.
    folder: where they go; it is made if it does not exist.
    overwrite: whether files of these names are replaced; FileExistsError otherwise.
    made: returns the texts of the files, such as `search.export.engine.engine_files`.
    """
    files = {Path(folder) / file: text for file, text in made(evaluator, name).items()}
    for path in files:
        if path.exists() and not overwrite:
            raise FileExistsError(f"expected a new file, found {path}: --overwrite replaces it")
    for path, text in files.items():
        write_atomically(path, LICENCE + text)
    return list(files)


def _flat(array: Any) -> Any:
    """Returns the numbers that native code reads at an array's address, padding included."""
    size = array.itemsize
    count = max((s * n) // size for s, n in zip(array.strides, array.shape, strict=True))
    padded = -(-count * size // LINE_BYTES) * LINE_BYTES // size
    numbers = np.zeros(count if array.base is None else padded, dtype=array.dtype)
    numbers[:count] = as_strided(array, (count,), (size,))
    return numbers


def _in_fours(pairs: Any) -> Any:
    """Returns rows in pairs, [phases, pairs, columns, 2] of int16, as int8 in fours."""
    phases, count, columns, _ = pairs.shape
    fours = pairs.reshape(phases, count // 2, 2, columns, 2).swapaxes(2, 3)
    return np.ascontiguousarray(fours, dtype=np.int8).ravel()


def _identifier(text: str, *, exact: bool) -> str:
    name = text if exact else re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")
    if not re.fullmatch(r"[A-Za-z]\w{0,39}", name, flags=re.ASCII) or name in RESERVED:
        raise ValueError(f"--name: expected a short name of C, such as my_net, found {text!r}")
    return name


def _header(evaluator: Evaluator, own: str, more: str) -> str:
    game = evaluator.game
    seen = ", as the side to move sees it"
    what = (
        "the value of a position for its side to move;"
        f" divided by {evaluator.unit:.6g} it is in {game.unit}"
    )
    if game.players == 1:
        seen, what = "", "the estimated cost from a position to the goal"
    return filled(
        template("value.h"), own, more=more, title=evaluator.name, game=game.name, seen=seen,
        version=game.version, integers=len(game.start()), first=", ".join(map(str, game.start())),
        upper=own.upper(), what=what,
    )  # fmt: skip


def _outcomes(evaluator: OutcomeNetwork, own: str, positions: Any) -> dict[str, str]:
    names = ", ".join(evaluator.kinds.names)
    header = (
        f"\n/* Writes the probabilities of {len(evaluator.kinds)} outcomes: {names}. */\n"
        f"void {own}_outcomes(const int64_t position[],"
        f" double probabilities[]);\n"
    )
    count = len(evaluator.kinds)
    rows = _rows(evaluator.outcomes(positions))
    outcomes = f"static const double outcomes[COUNT][{count}] = {{\n{rows}\n}};\n"
    test = f"""    for (int i = 0; i < COUNT; i++) {{
        double found[{count}];
        int same = 1;
        {own}_outcomes(positions[i], found);
        for (int j = 0; j < {count}; j++)
            same &= fabs(found[j] - outcomes[i][j]) <= {TOLERANCE};
        wrong += !same;
    }}
"""
    return {"header": header, "test": test, "outcomes": outcomes}


def _rows(rows: Any) -> str:
    """Returns rows of numbers as the initial value of an array of C."""
    parts = (", ".join(literal(number).text for number in row) for row in rows)
    return ",\n".join(f"    {{{part}}}" for part in parts)


def _selftest(evaluator: Evaluator, own: str, parts: Mapping[str, str]) -> str:
    positions = sample_positions(evaluator.game, VECTORS)
    values = [literal(float(value)).text for value in evaluator.values(positions)]
    near = 0.0 if isinstance(evaluator, QuantisedNetwork) else TOLERANCE
    if isinstance(evaluator, NetworkEvaluator) and not evaluator.only_relu:
        near *= 10  # the last bits of tanh and others differ between libraries
    return filled(
        template("selftest.c"), own, file=own, more=parts.get("test", ""), count=len(positions),
        integers=len(positions[0]), positions=_rows(positions), values=",\n".join(values),
        outcomes=parts.get("outcomes", ""), tolerance=near,
    )  # fmt: skip

"""A file of C that grows: types, tables and functions in the order in which they are needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.export.c_values import (
    C_NAMES,
    ELEMENTS,
    Array,
    Record,
    Tuple,
    Value,
    float_text,
    literal,
)
from search.export.templates import helper, rows_helper

__all__ = ["CFile"]

#: The maximum count of numbers in tables of one file that a compiler can still read.
MOST_NUMBERS = 1 << 22


class CFile:
    """The text of a file of C.

    name: goes before every name of the file, with `_`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.numbers = 0
        self._types: dict[Any, str] = {}
        self._tables: dict[Any, tuple[str, Any]] = {}
        self._helpers: dict[str, str] = {}
        self._functions: list[str] = []
        self._taken: set[str] = set()
        self._records: dict[Record, str] = {}
        self.specialised: dict[Any, tuple[str, Any, bool]] = {}

    def text(self) -> str:
        """Returns the whole text: types, tables and helpers that are used, and functions."""
        kinds = [self._typedef(kind, name) for kind, name in self._types.items()]
        functions: list[str] = []
        words: set[str] = set()
        for function in reversed(self._functions):
            name = re.split(r"\W+", function.partition("(")[0])[-1]
            # clang warns of a function that is not called, such as one for other types
            if name in words or not function.startswith("static"):
                functions.insert(0, function)
                words |= set(re.findall(r"\w+", function))
        tables = [text for name, text in self._tables.values() if name in words]
        helpers = [
            text
            for name, text in self._helpers.items()
            if name == "rows" or f"{self.name}_{name}" in words
        ]
        records = [
            f"typedef struct {{\n{kind.declared()}}} {name};\n"
            for kind, name in self._records.items()
        ]
        return "\n".join([*kinds, *records, *tables, *helpers, *functions])

    def named(self, name: str) -> str:
        """Returns a new name of the file: the prefix and a word, with a number if it is taken."""
        word, number = f"{self.name}_{name}", 2
        while word in self._taken:
            word, number = f"{self.name}_{name}_{number}", number + 1
        self._taken.add(word)
        return word

    def add(self, function: str) -> None:
        """Append the text of a function."""
        self._functions.append(function)

    def helper(self, name: str) -> str:
        """Returns the name by which a function of `templates/helpers.c` is called."""
        self._helpers.setdefault(name, helper(name, self.name))
        return f"{self.name}_{name}"

    def rows_helper(self, name: str, sizes: Sequence[int]) -> str:
        """Returns the name of a function of `templates/rows.c`, for sizes that are fixed."""
        own = "_".join([name, *map(str, sizes)])
        self._helpers.setdefault("rows", rows_helper("head", self.name))
        self._helpers.setdefault(own, rows_helper(name, self.name, sizes))
        return f"{self.name}_{own}"

    def c_type(self, kind: Any) -> str:
        """Returns the name of a type in C."""
        if isinstance(kind, Array):
            return f"{'const ' * kind.constant}{ELEMENTS[kind.element][0]} *"
        if isinstance(kind, Record):
            return f"{self._records.setdefault(kind, f'{self.name}_line')} *"
        if not isinstance(kind, Tuple):
            return C_NAMES[str(kind)]
        if kind not in self._types:
            for part in kind.kinds:
                self.c_type(part)  # before the type that holds it
            self._types[kind] = self.named(f"tuple_{len(self._types) + 1}")
        return self._types[kind]

    def _typedef(self, kind: Tuple, name: str) -> str:
        if kind.alike:
            inside = f"{self.c_type(kind.kinds[0])} v[{len(kind.kinds)}];"
        else:
            inside = " ".join(f"{self.c_type(part)} v{i};" for i, part in enumerate(kind.kinds))
        return f"typedef struct {{\n    {inside}\n}} {name};\n"

    def constant(self, value: Any, name: str) -> Value | None:
        """Returns a number, a tuple or an array of Python as a value, or None for anything else."""
        if isinstance(value, (bool, int, float, np.integer, np.floating, np.bool_)):
            return literal(value)
        if isinstance(value, np.ndarray):
            if str(value.dtype) not in ELEMENTS or not value.ndim:
                return None
            kind = Array(str(value.dtype), value.shape, True)
            return Value(kind, self.table(np.ascontiguousarray(value), name))
        if not isinstance(value, tuple) or not value:
            return None
        parts = [self.constant(part, name) for part in value]
        if any(part is None or isinstance(part.kind, Array) for part in parts):
            return None
        whole = Tuple(tuple(part.kind for part in parts if part is not None))
        if repr(value) not in self._tables:
            stored = self.named(name)
            text = f"static const {self.c_type(whole)} {stored} = {self._initial(whole, value)};\n"
            self._tables[repr(value)] = stored, text
        return Value(whole, self._tables[repr(value)][0], value)

    def _initial(self, kind: Any, value: Any) -> str:
        if not isinstance(kind, Tuple):
            return literal(value).text
        parts = ", ".join(self._initial(k, v) for k, v in zip(kind.kinds, value, strict=True))
        return f"{{{{{parts}}}}}" if kind.alike else f"{{{parts}}}"

    def table(self, array: NDArray[Any], name: str, notes: Sequence[str] = ()) -> str:
        """Returns the name of a table of constants.

        array: the numbers, contiguous.
        name: a word for it.
        notes: a comment for each number, on a line of its own; () for none.

        Raises ValueError if the file would hold too many numbers.
        """
        key = (str(array.dtype), array.tobytes())
        if key in self._tables:
            return self._tables[key][0]
        self.numbers += array.size
        if self.numbers > MOST_NUMBERS:
            raise ValueError(
                f"expected an evaluator of at most {MOST_NUMBERS} numbers, found more in {name}"
            )
        stored, kind = self.named(name), ELEMENTS[str(array.dtype)][0]
        flat = array.ravel()
        if array.dtype.kind == "f":
            parts = [float_text(number) for number in flat]
        else:
            parts = [literal(int(number)).text for number in flat]
        if notes:
            pairs = zip(parts, notes, strict=True)
            body = "\n".join(f"    {part}, /* {note} */" for part, note in pairs)
        else:
            lines = (parts[i : i + 12] for i in range(0, len(parts), 12))
            body = "\n".join(f"    {', '.join(line)}," for line in lines)
        text = f"static const {kind} {stored}[{array.size}] ALIGNED = {{\n{body}\n}};\n"
        self._tables[key] = stored, text
        return stored

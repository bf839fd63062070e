"""A value in the translation to C: its type, its text in C, and its number if fixed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from games.kernels import word

__all__ = ["ELEMENTS", "Address", "Array", "Block", "Record", "Tuple", "Value", "joined", "literal"]

#: Types of C by the names of types of numbers; "single" is a float of 32 bits.
C_NAMES = {"bool": "int", "int": "int64_t", "float": "double", "single": "float", "void": "void"}
#: Types of the elements of arrays: their names in C, and the type of a value that is read.
ELEMENTS = {
    "int8": ("int8_t", "int"), "int16": ("int16_t", "int"), "int32": ("int32_t", "int"),
    "int64": ("int64_t", "int"), "uint8": ("uint8_t", "int"), "uint16": ("uint16_t", "int"),
    "uint32": ("uint32_t", "int"), "bool": ("uint8_t", "bool"),
    "float32": ("float", "single"), "float64": ("double", "float"),
}  # fmt: skip
LARGEST = (1 << 63) - 1


@dataclass(frozen=True)
class Tuple:
    """The type of a tuple: a structure in C."""

    kinds: tuple[Any, ...]

    @property
    def alike(self) -> bool:
        """Whether all entries have one type, so that a variable may index them."""
        return len(set(self.kinds)) == 1


@dataclass(frozen=True)
class Array:
    """The type of an array: a pointer in C, with sizes that are known."""

    element: str
    shape: tuple[int, ...]
    constant: bool = False


@dataclass
class Block:
    """Memory of a function; what is read from it decides the type of its elements."""

    name: str
    size: int
    element: str = ""


@dataclass(frozen=True)
class Address:
    """The type of an address: elements behind a pointer, and a distance in bytes.

    block: memory of a function. Default: constant elements.
    element: the type of constant elements.
    """

    base: str
    block: Block | None = None
    element: str = ""
    distance: Value | None = None


@dataclass(frozen=True, eq=False)
class Record:
    """The type of a record of NumPy: a pointer to a structure in C.

    dtype: its fields.
    fixed: fields that are constants of the file.
    memory: for fields that hold addresses, the type of the elements and their number there; with 0
        the structure holds a pointer.
    functions: for fields that hold addresses of functions, the name in C, for each argument the
        type of the elements that it points to ("" if it is a number, None if C does not take
        it), and the type of the result.
    without: functions of which calls are left out.
    """

    dtype: np.dtype[Any]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    memory: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    functions: dict[str, tuple[str, tuple[str | None, ...], str]] = field(default_factory=dict)
    without: frozenset[Any] = frozenset()

    def member(self, name: str, text: str) -> Value:
        """Returns a field of the record that an expression points to."""
        text = f"{text}->{name}"
        if name in self.memory:
            return Value(Address(text, None, self.memory[name][0]), text)
        kind = self.dtype[name]
        if kind.shape:
            return Value(Array(str(kind.base), kind.shape), text)
        return Value(ELEMENTS[str(kind)][1], text)

    def declared(self) -> str:
        """Returns the fields as C declares them."""
        lines = []
        for name in self.dtype.names or ():
            element, count = self.memory.get(name, (str(self.dtype[name].base), -1))
            size = count if count >= 0 else math.prod(self.dtype[name].shape)
            kind = ELEMENTS[element][0]
            if name not in self.fixed and name not in self.functions:
                array = f"[{size}]" * (count > 0 or bool(self.dtype[name].shape))
                lines.append(f"    {kind} {'*' * (count == 0)}{name}{array};\n")
        return "".join(lines)


@dataclass(frozen=True)
class Value:
    """A value: its type, an expression of C, and its number if that is fixed.

    natural: whether an integer is at least 0, so that an index need not be checked.
    """

    kind: Any
    text: str
    fixed: Any = None
    natural: bool = field(default=False, compare=False)


def literal(number: Any) -> Value:
    """Returns a number as a value."""
    if isinstance(number, (bool, np.bool_)):
        return Value("bool", str(int(number)), bool(number), True)
    if isinstance(number, (int, np.integer)):
        number = word(int(number))
        text = str(number) if abs(number) < 1 << 31 else f"INT64_C({number})"
        if number < -LARGEST:
            text = "INT64_MIN"
        return Value("int", text if number >= 0 else f"({text})", number, number >= 0)
    kind = "single" if isinstance(number, np.float32) else "float"
    return Value(kind, float_text(number), number)


def float_text(number: Any) -> str:
    """Returns the shortest text of C for a float; a float32 ends with f."""
    if not math.isfinite(number):
        return "NAN" if number != number else f"({'-' * (number < 0)}INFINITY)"
    text = repr(float(str(number)))
    return text + "f" * isinstance(number, np.float32)


def joined(first: Any, second: Any) -> Any:
    """Returns the type that holds values of both types, or None without one."""
    if first == second:
        return first
    if isinstance(first, Tuple) and isinstance(second, Tuple):
        if len(first.kinds) == len(second.kinds):
            kinds = tuple(map(joined, first.kinds, second.kinds))
            return None if None in kinds else Tuple(kinds)
        return None
    numbers = ("bool", "int", "single", "float")
    if first not in numbers or second not in numbers:
        return None
    if {first, second} == {"int", "single"}:
        return "float"
    return max(first, second, key=numbers.index)

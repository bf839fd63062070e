"""Expressions of kernels as expressions of C, with their types."""

from __future__ import annotations

import ast
import builtins
import math
import operator
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from search.export.c_values import (
    ELEMENTS,
    Address,
    Array,
    Block,
    Record,
    Tuple,
    Value,
    joined,
    literal,
)
from search.export.unit import CFile

__all__ = ["Expressions"]

ARITHMETIC: Mapping[type, tuple[str, Any]] = {
    ast.Add: ("+", operator.add), ast.Sub: ("-", operator.sub), ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv), ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod), ast.Pow: ("**", operator.pow),
}  # fmt: skip
BITS: Mapping[type, tuple[str, Any]] = {
    ast.BitAnd: ("&", operator.and_), ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor), ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
}  # fmt: skip
OPERATORS = {**ARITHMETIC, **BITS}
COMPARISONS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


class Expressions:
    """Translates expressions; `Function` translates the statements around them."""

    unit: CFile
    scope: Mapping[str, Any]
    kinds: dict[str, Any]
    unnatural: set[str]
    aliases: dict[str, Value]
    blocks: list[Block]
    read: set[str]
    fail: Callable[..., Exception]
    c_name: Callable[[str], str]

    def value(self, node: Any) -> Value:
        """Returns an expression as a value."""
        method = getattr(self, f"_of_{type(node).__name__}", None)
        if method is None:
            raise self.fail(node)
        result = method(node)
        assert isinstance(result, Value)
        return result

    def number(self, node: Any) -> Value:
        """Returns an expression that must be a number or a tuple."""
        value = self.value(node)
        if not isinstance(value.kind, (str, Tuple)) or value.kind in ("void", "data"):
            raise self.fail(node)
        return value

    def scalar(self, node: Any) -> Value:
        """Returns an expression that must be a number."""
        value = self.number(node)
        if isinstance(value.kind, Tuple):
            raise self.fail(node)
        return value

    def integer(self, node: Any) -> Value:
        """Returns an expression that must be an integer."""
        value = self.scalar(node)
        if value.kind not in ("int", "bool"):
            raise self.fail(node)
        return value

    def truth(self, node: Any) -> Value:
        """Returns an expression as a condition."""
        if isinstance(node, ast.BoolOp):
            either, texts = isinstance(node.op, ast.Or), []
            for part in map(self.truth, node.values):
                if part.fixed is None:
                    texts.append(part.text)
                elif part.fixed is either and not texts:
                    return literal(either)
                elif part.fixed is either:
                    texts.append(part.text)
                    break
            if not texts:
                return literal(not either)
            return Value("bool", f"({(' || ' if either else ' && ').join(texts)})", None, True)
        value = self.scalar(node)
        if value.kind == "bool":
            return Value("bool", value.text, value.fixed, True)
        if value.fixed is not None:
            return literal(bool(value.fixed))
        return Value("bool", f"({value.text} != 0)", None, True)

    def as_kind(self, value: Value, kind: Any, node: Any) -> Value:
        """Returns a value as one of another type that holds it."""
        if value.kind == kind or isinstance(kind, str):
            return Value(kind, value.text, value.fixed, value.natural)
        if not isinstance(node, ast.Tuple) and not isinstance(value.kind, Tuple):
            raise self.fail(node)
        name = self.unit.c_type(kind)
        parts = [f"{value.text}.{self.member(value.kind, i)}" for i in range(len(kind.kinds))]
        return Value(kind, f"({name}){self._braced(kind, parts)}")

    def member(self, kind: Tuple, number: int) -> str:
        """Returns the name of an entry in the structure of a tuple."""
        return f"v[{number}]" if kind.alike else f"v{number}"

    def _braced(self, kind: Tuple, parts: list[str]) -> str:
        inside = ", ".join(parts)
        return f"{{{{{inside}}}}}" if kind.alike else f"{{{inside}}}"

    def global_of(self, node: Any) -> Any:
        """Returns the object of Python that an expression names, or None."""
        if isinstance(node, ast.Name):
            if node.id in self.aliases or node.id in self.kinds:
                return None
            return self.scope.get(node.id, getattr(builtins, node.id, None))
        if isinstance(node, ast.Attribute):
            base = self.global_of(node.value)
            return getattr(base, node.attr, None) if isinstance(base, types.ModuleType) else None
        return None

    # --- names and constants ---------------------------------------------------------------------

    def _of_Constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, (bool, int, float)):
            raise self.fail(node)
        return literal(node.value)

    def _of_Name(self, node: ast.Name) -> Value:
        self.read.add(node.id)
        if node.id in self.aliases:
            return self.aliases[node.id]
        if node.id in self.kinds:
            kind = self.kinds[node.id]
            return Value(kind, self.c_name(node.id), None, node.id not in self.unnatural)
        return self._of_global(node)

    def _of_Attribute(self, node: ast.Attribute) -> Value:
        base = self.record_of(node.value)
        if base is not None and node.attr in base.fixed:
            constant = self.unit.constant(base.fixed[node.attr], node.attr)
            assert constant is not None
            return constant
        if base is not None:
            return base.member(node.attr, self.value(node.value).text)
        if node.attr == "size" and self.global_of(node) is None:
            array = self.value(node.value)
            if isinstance(array.kind, Array):
                return literal(math.prod(array.kind.shape))
        return self._of_global(node)

    def record_of(self, node: Any) -> Record | None:
        """Returns the type of the record that a name stands for, or None; it is not read yet."""
        kind = self.aliases[node.id].kind if getattr(node, "id", "") in self.aliases else None
        return kind if isinstance(kind, Record) else None

    def _of_global(self, node: Any) -> Value:
        name = node.id if isinstance(node, ast.Name) else node.attr
        constant = self.unit.constant(self.global_of(node), name.strip("_").lower())
        if constant is None:
            raise self.fail(node)
        return constant

    def _of_Tuple(self, node: ast.Tuple) -> Value:
        parts: list[Value] = []
        for part in node.elts:
            starred = isinstance(part, ast.Starred)
            value = self.value(part.value if isinstance(part, ast.Starred) else part)
            parts += self.entries_of(value, node) if starred else [value]
        return self._joined(parts, node)

    def entries_of(self, value: Value, node: Any) -> list[Value]:
        """Returns the entries of a tuple."""
        kind = value.kind
        if not isinstance(kind, Tuple):
            raise self.fail(node)
        fixed = value.fixed if isinstance(value.fixed, tuple) else (None,) * len(kind.kinds)
        return [
            literal(number)
            if isinstance(number, (bool, int, float))
            else Value(part, f"{value.text}.{self.member(kind, i)}", number)
            for i, (part, number) in enumerate(zip(kind.kinds, fixed, strict=True))
        ]

    def _joined(self, parts: list[Value], node: Any) -> Value:
        """Returns a tuple of values."""
        if not parts or any(isinstance(part.kind, Address) for part in parts):
            raise self.fail(node)
        fixed = [part.fixed for part in parts]
        if None not in fixed and all(isinstance(part.kind, str) for part in parts):
            constant = self.unit.constant(tuple(fixed), "tuple_of")
            assert constant is not None
            return constant
        kind = Tuple(tuple(part.kind for part in parts))
        texts = [part.text for part in parts]
        return Value(kind, f"({self.unit.c_type(kind)}){self._braced(kind, texts)}")

    # --- operations ------------------------------------------------------------------------------

    def _of_BinOp(self, node: ast.BinOp) -> Value:
        first, second = self.value(node.left), self.value(node.right)
        if isinstance(first.kind, Address) and isinstance(node.op, ast.Add):
            return self._moved(first, second)
        for part, value in ((node.left, first), (node.right, second)):
            if value.kind not in ("bool", "int", "single", "float"):
                raise self.fail(part)
        if type(node.op) not in OPERATORS:
            raise self.fail(node)
        sign, fold = OPERATORS[type(node.op)]
        single = "single" in (first.kind, second.kind)
        if first.fixed is not None and second.fixed is not None and not single:
            try:
                return literal(fold(first.fixed, second.fixed))
            except (ArithmeticError, TypeError, ValueError):
                raise self.fail(node) from None
        whole = {first.kind, second.kind} <= {"bool", "int"}
        if type(node.op) in BITS:
            if not whole:
                raise self.fail(node)
            return self._bits(node, sign, first, second)
        kind = joined(first.kind, second.kind)
        natural = first.natural and second.natural
        if sign == "/":
            kind = "single" if kind == "single" else "float"
            left = first.text if kind == "single" else f"(double){first.text}"
            return Value(kind, f"({left} / {second.text})")
        if sign in ("//", "%"):
            if not whole:
                raise self.fail(node)
            if natural and second.fixed:
                return Value("int", f"({first.text} {sign[0]} {second.text})", None, True)
            helper = self.unit.helper("floor_div" if sign == "//" else "floor_mod")
            natural = natural if sign == "//" else second.natural
            return Value("int", f"{helper}({first.text}, {second.text})", None, natural)
        if sign == "**":
            if kind != "float":
                raise self.fail(node)
            return Value("float", f"pow({first.text}, {second.text})")
        if whole:
            natural = natural and sign != "-"
            return Value("int", f"({first.text} {sign} {second.text})", None, natural)
        # C would calculate an integer and a float of 32 bits in 32 bits
        left = f"(double){first.text}" if kind == "float" != first.kind else first.text
        right = f"(double){second.text}" if kind == "float" != second.kind else second.text
        return Value(kind, f"({left} {sign} {right})")

    def _bits(self, node: ast.BinOp, sign: str, first: Value, second: Value) -> Value:
        # sums inside are of words, which may overflow
        left, right = (self._word(p, v) for p, v in ((node.left, first), (node.right, second)))
        if sign == "<<":
            return Value("int", f"(int64_t)((uint64_t){left} << {right})")
        kind = "bool" if {first.kind, second.kind} == {"bool"} and sign != ">>" else "int"
        natural = first.natural and (sign == ">>" or second.natural)
        natural = natural or (sign == "&" and (first.natural or second.natural))
        return Value(kind, f"({left} {sign} {right})", None, natural)

    def _word(self, node: Any, value: Value) -> str:
        if value.fixed is None and isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return f"(int64_t)(0 - (uint64_t){self.value(node.operand).text})"
        if (
            value.fixed is None
            and isinstance(node, ast.BinOp)
            and isinstance(node.op, (ast.Add, ast.Sub))
        ):
            first, second = self.value(node.left), self.value(node.right)
            sign = ARITHMETIC[type(node.op)][0]
            return f"(int64_t)((uint64_t){first.text} {sign} (uint64_t){second.text})"
        return value.text

    def _of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            value = self.truth(node.operand)
            if value.fixed is not None:
                return literal(not value.fixed)
            return Value("bool", f"!{value.text}", None, True)
        value = self.scalar(node.operand)
        kind = "int" if value.kind == "bool" else value.kind
        if isinstance(node.op, ast.USub):
            return literal(-value.fixed) if value.fixed is not None else Value(
                kind, f"(-({value.text}))"
            )  # fmt: skip
        if isinstance(node.op, ast.Invert):
            if kind != "int":
                raise self.fail(node)
            if value.fixed is not None:
                return literal(~int(value.fixed))
            return Value("int", f"(~(int64_t){value.text})")
        return value

    def _of_BoolOp(self, node: ast.BoolOp) -> Value:
        parts = [self.scalar(part) for part in node.values]
        if all(part.kind == "bool" for part in parts):
            return self.truth(node)
        value = parts.pop()
        for part, number in zip(node.values[-2::-1], reversed(parts), strict=True):
            first, second = (value, number) if isinstance(node.op, ast.And) else (number, value)
            value = self._either(self.truth(part), first, second, node)
        return value

    def _of_Compare(self, node: ast.Compare) -> Value:
        sides = [self.scalar(side) for side in (node.left, *node.comparators)]
        texts = []
        for op, first, second in zip(node.ops, sides, sides[1:], strict=False):
            if type(op) not in COMPARISONS:
                raise self.fail(node)
            texts.append(f"({first.text} {COMPARISONS[type(op)]} {second.text})")
        if len(sides) == 2 and sides[0].fixed is not None and sides[1].fixed is not None:
            code = f"{sides[0].fixed!r} {COMPARISONS[type(node.ops[0])]} {sides[1].fixed!r}"
            return literal(bool(eval(code, {"inf": math.inf, "nan": math.nan})))
        text = texts[0] if len(texts) == 1 else f"({' && '.join(texts)})"
        return Value("bool", text, None, True)

    def _of_IfExp(self, node: ast.IfExp) -> Value:
        test = self.truth(node.test)
        if test.fixed is not None:
            return self.value(node.body if test.fixed else node.orelse)
        return self._either(test, self.number(node.body), self.number(node.orelse), node)

    def _either(self, test: Value, first: Value, second: Value, node: Any) -> Value:
        """Returns the first of two values where a condition holds, else the second."""
        kind = joined(first.kind, second.kind)
        if kind is None:
            raise self.fail(node)
        texts = [
            # C would choose among an integer and a float of 32 bits in 32 bits
            f"(double){value.text}"
            if kind == "float" != value.kind
            else self.as_kind(value, kind, node).text
            for value in (first, second)
        ]
        natural = first.natural and second.natural
        return Value(kind, f"({test.text} ? {texts[0]} : {texts[1]})", None, natural)

    # --- places ----------------------------------------------------------------------------------

    def _of_Subscript(self, node: ast.Subscript) -> Value:
        if not isinstance(self.value(node.value).kind, Tuple):
            place = self.place(node)
            # a short integer would be added in 32 bits
            kind = ELEMENTS[place.kind][1]
            text = place.text if place.kind == "int64" or kind != "int" else (
                f"(int64_t){place.text}"
            )  # fmt: skip
            return Value(kind, text, None, place.kind.startswith("uint"))
        base: Value = self.value(node.value)
        entries = self.entries_of(base, node)
        size = len(entries)
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            ends = [None if end is None else self.integer(end).fixed for end in bounds]
            if any(e is None is not end for e, end in zip(ends, bounds, strict=True)):
                raise self.fail(node)
            return self._joined(entries[slice(*ends)], node)
        index = self.integer(node.slice)
        if index.fixed is not None:
            if not -size <= index.fixed < size:
                raise self.fail(node)
            return entries[int(index.fixed)]
        if not base.kind.alike:
            raise self.fail(node, "a variable index of a tuple whose entries differ in type")
        numbers = base.fixed if base.kind.kinds[0] == "int" else None
        natural = isinstance(numbers, tuple) and min(numbers) >= 0
        text = f"{base.text}.v[{self._index(index, size)}]"
        return Value(base.kind.kinds[0], text, None, natural)

    def place(self, node: ast.Subscript) -> Value:
        """Returns the element of an array; its kind is the name of the element's type."""
        base = self.value(node.value)
        if not isinstance(base.kind, Array):
            raise self.fail(node)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(parts) != len(base.kind.shape):
            raise self.fail(node, f"{len(parts)} indices of {len(base.kind.shape)}")
        text = ""
        for part, size in zip(parts, base.kind.shape, strict=True):
            index = self._index(self.integer(part), size)
            text = f"({text}) * {size} + {index}" if text else index
        return Value(base.kind.element, f"{base.text}[{text}]")

    def _index(self, index: Value, size: int) -> str:
        if index.fixed is not None:
            return str(index.fixed % size if index.fixed < 0 else index.fixed)
        if index.natural:
            return index.text
        return f"{self.unit.helper('at')}({index.text}, {size})"

    def _moved(self, address: Value, distance: Value) -> Value:
        old = address.kind.distance
        if old is not None and old.fixed is not None and distance.fixed is not None:
            distance = literal(old.fixed + distance.fixed)
        elif old is not None:
            distance = Value("int", f"({old.text} + {distance.text})")
        kind = Address(address.kind.base, address.kind.block, address.kind.element, distance)
        return Value(kind, address.text)

    def _pointed(self, address: Value, element: str, node: Any) -> str:
        """Returns a pointer to elements of a type at an address."""
        kind = address.kind
        if isinstance(kind, Array) and kind.element == element:
            return address.text
        if not isinstance(kind, Address):
            raise self.fail(node)
        if kind.block is not None:
            kind.block.element = kind.block.element or element
        of_kind = kind.element or (kind.block.element if kind.block else "")
        if of_kind != element:
            raise self.fail(node, f"an address of {of_kind} read as {element}")
        size = np.dtype(element).itemsize
        if kind.distance is None:
            return kind.base
        fixed = kind.distance.fixed
        if fixed is not None:
            return f"({kind.base} + {fixed // size})"
        return f"({kind.base} + {kind.distance.text} / {size})"

"""Calls in kernels as calls in C: of kernels, of Python's own functions, and of sums over rows."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from games import kernels
from games.kernels import is_kernel, memory, vectors
from games.kernels.bits import NATIVE
from games.kernels.record import address_of
from search.evaluators.signature import clamped
from search.export.c_values import Address, Array, Block, Tuple, Value, joined, literal
from search.export.expressions import Expressions
from search.export.templates import ROWS
from search.native import call_float, call_int

__all__ = ["Calls"]

#: Functions of `math` that C has under the same name, of floats.
MATH = {
    getattr(math, name): name
    for name in ("sqrt", "exp", "log", "log2", "log10", "tanh", "sinh", "cosh", "sin", "cos", "tan",
                 "atan", "asin", "acos", "erf", "erfc", "pow", "atan2", "hypot", "expm1", "log1p")
}  # fmt: skip
#: Sums over rows of `games.kernels.vectors`: the type of the result, and of the elements behind
#: each pointer, "" for the number of rows.
SUMS: Mapping[Any, tuple[str, tuple[str, ...]]] = {
    vectors.sum_rows: ("void", ("float32", "float32", "float32", "int64", "")),
    vectors.add_products: ("void", ("float32",) * 4),
    vectors.dot: ("single", ("float32",) * 2),
    vectors.sum_shorts: ("void", ("int16", "int16", "int16", "int64", "")),
    # units, from 0 to 255, are bytes in C
    vectors.clip_shorts: ("void", ("uint8", "int16")),
    vectors.clip_products: ("void", ("uint8", "int32", "int16", "uint8")),
    vectors.dot_shorts: ("int", ("uint8", "int16")),
}
POINTERS = {f"{kind}_pointer": kind for kind in memory.POINTERS}


class Calls(Expressions):
    """Translates calls as well as all other expressions."""

    entries: Any

    def called(self, kernel: Any, arguments: list[Value]) -> tuple[str, Any, bool]:
        """Returns the name in C of a kernel, the type of its result, and whether it is natural."""
        raise NotImplementedError

    # --- calls -----------------------------------------------------------------------------------

    def _of_Call(self, node: ast.Call) -> Value:
        if node.keywords or any(isinstance(part, ast.Starred) for part in node.args):
            raise self.fail(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        function = self.global_of(node.func)
        if function is None and name in {**memory._MEMORY, **POINTERS}:
            function = memory._MEMORY[name]
        if function is memory.array_at:
            return self._array_at(node)
        if function in (memory.load_int, memory.load_float):
            return self._load(node, function)
        if function in (memory.store_int, memory.store_float, memory.prefetch):
            return self._store(node, function)
        if name in POINTERS:
            return self.value(node.args[0])
        if function is vectors.stack_block:
            self.blocks.append(Block(f"block_{len(self.blocks)}", self.integer(node.args[0]).fixed))
            block = self.blocks[-1]
            return Value(Address(block.name, block), block.name)
        if function in (call_int, call_float):
            return self._entered(node)
        if function is address_of:
            return self.value(node.args[0])
        if function is float and isinstance(node.args[0], ast.Constant):
            return literal(float(str(node.args[0].value)))
        if function in SUMS:
            return self._sum_of_rows(node, function)
        own_code = NATIVE.get(function)
        if own_code is not None and own_code.__name__ != "<lambda>":
            function = own_code
        if is_kernel(function) or function is own_code is not None:
            record = self.record_of(node.args[0]) if node.args else None
            if record is not None and own_code in record.without:
                return Value("void", "(void)0")
            values = [self.value(part) for part in node.args]
            own, kind, natural = self.called(function, values)
            return Value(kind, f"{own}({', '.join(value.text for value in values)})", None, natural)
        return self._builtin(node, function, [self.value(part) for part in node.args])

    def _sum_of_rows(self, node: ast.Call, function: Any) -> Value:
        result, elements = SUMS[function]
        values = [self.value(part) for part in node.args]
        name = next(name for name in ROWS if getattr(vectors, name, None) is function)
        own = self.unit.rows_helper(name, [value.fixed for value in values[len(elements) :]])
        texts = [
            self._pointed(value, element, node) if element else value.text
            for value, element in zip(values, elements, strict=False)
        ]
        return Value(result, f"{own}({', '.join(texts)})")

    def _array_at(self, node: ast.Call) -> Value:
        pointer, shape = node.args
        if not isinstance(pointer, ast.Call) or not isinstance(pointer.func, ast.Name):
            raise self.fail(node)
        element = POINTERS[pointer.func.id]
        address = self.value(pointer.args[0])
        assert isinstance(shape, ast.Tuple)
        sizes = tuple(int(self.integer(part).fixed) for part in shape.elts)
        constant = isinstance(address.kind, Address) and address.kind.block is None
        return Value(Array(element, sizes, constant), self._pointed(address, element, node))

    def _load(self, node: ast.Call, function: Any) -> Value:
        base, index = self.value(node.args[0]), self.integer(node.args[1])
        whole = function is memory.load_int
        if base.kind == "data":
            loaded = self.entries.number(index.fixed, whole)
            assert isinstance(loaded, Value)
            return loaded
        pointer = self._pointed(base, "int64" if whole else "float64", node)
        return Value("int" if whole else "float", f"{pointer}[{index.text}]")

    def _store(self, node: ast.Call, function: Any) -> Value:
        """Translate a change of memory, or the wish to have it in the cache."""
        base, index = self.value(node.args[0]), self.integer(node.args[1])
        value = self.scalar(node.args[2]) if len(node.args) == 3 else None
        held = base.kind.element if isinstance(base.kind, (Address, Array)) else ""
        place = f"{self._pointed(base, held, node)}[{index.text}]"
        if value is None:
            return Value("void", f"PREFETCH(&{place})")
        if held == "float64" and function is memory.store_int:
            value = Value("float", f"{self.unit.helper('bits_float')}({value.text})")
        return Value("void", f"{place} = {value.text}")

    def _entered(self, node: ast.Call) -> Value:
        """Translate the call of native code by its address, with a tuple of addresses.

        The address stands in `data` or in a field of a record.
        """
        loaded, given = node.args
        assert isinstance(given, ast.Tuple)
        elements: tuple[str | None, ...]
        if isinstance(loaded, ast.Attribute):
            record = self.record_of(loaded.value)
            if record is None:
                raise self.fail(node)
            own, elements, kind = record.functions[loaded.attr]
        else:
            assert isinstance(loaded, ast.Call)
            own, elements = self.entries.function(self.integer(loaded.args[1]).fixed)
            kind = "int"
        texts = [
            self._pointed(self.value(part), element, node) if element else self.value(part).text
            for part, element in zip(given.elts, elements, strict=True)
            if element is not None
        ]
        return Value(kind, f"{own}({', '.join(texts)})", None, False)

    def _builtin(self, node: ast.Call, function: Any, values: list[Value]) -> Value:
        kinds: list[Any] = [value.kind for value in values]
        texts = [value.text for value in values]
        if function is len and isinstance(kinds[0], (Array, Tuple)):
            sized = kinds[0]
            return literal(sized.shape[0] if isinstance(sized, Array) else len(sized.kinds))
        if function in (min, max) and len(values) == 1 and isinstance(kinds[0], Tuple):
            values = self.entries_of(values[0], node)
            kinds = [value.kind for value in values]
        if not all(kind in ("bool", "int", "single", "float") for kind in kinds):
            raise self.fail(node)
        if function in (min, max) and len(values) > 1:
            return self._extreme(function.__name__, values)
        if function is int and len(values) == 1:
            text = texts[0] if kinds[0] in ("bool", "int") else f"(int64_t){texts[0]}"
            return literal(int(values[0].fixed)) if values[0].fixed is not None else Value(
                "int", text, None, values[0].natural
            )  # fmt: skip
        if function in (float, np.float64, np.float32) and len(values) == 1:
            kind, word = ("single", "float") if function is np.float32 else ("float", "double")
            if values[0].fixed is not None:
                return literal((np.float32 if kind == "single" else float)(values[0].fixed))
            return Value(kind, texts[0] if kinds[0] == kind else f"({word}){texts[0]}")
        if function is bool and len(values) == 1:
            return self.truth(node.args[0])
        if function in (np.int64, np.uint64, kernels.word) and kinds[0] in ("bool", "int"):
            # as an index, which is not counted from the end
            return Value("int", texts[0], values[0].fixed, True)
        if function is abs:
            if kinds[0] in ("bool", "int"):
                return Value("int", f"{self.unit.helper('max_int')}({texts[0]}, -{texts[0]})",
                             None, True)  # fmt: skip
            return Value(kinds[0], f"fabs{'f' * (kinds[0] == 'single')}({texts[0]})")
        if function in MATH:
            return Value("float", f"{MATH[function]}({', '.join(texts)})")
        if function in (math.floor, math.ceil):
            return Value("int", f"(int64_t){function.__name__}({texts[0]})")
        return self._bit_function(node, function, texts, values)

    def _extreme(self, name: str, values: list[Value]) -> Value:
        whole = values[0]
        for value in values[1:]:
            kind = joined(joined(whole.kind, "int" if whole.kind == "bool" else whole.kind),
                          value.kind)  # fmt: skip
            kind = "int" if kind == "bool" else kind
            either = whole.natural or value.natural
            natural = either if name == "max" else whole.natural and value.natural
            text = f"{self.unit.helper(f'{name}_{kind}')}({whole.text}, {value.text})"
            whole = Value(kind, text, None, natural and kind == "int")
        return whole

    def _bit_function(
        self, node: ast.Call, function: Any, texts: list[str], values: list[Value]
    ) -> Value:
        if function in (kernels.float_bits, kernels.bits_float):
            name = function.__name__
            kind = "float" if function is kernels.bits_float else "int"
            return Value(kind, f"{self.unit.helper(name)}({texts[0]})")
        if not {value.kind for value in values} <= {"bool", "int"}:
            if function is clamped:
                steps = range(1, values[1].fixed + 1)
                parts = [f"({texts[0]} >= {i}) - ({texts[0]} <= {-i})" for i in steps]
                return Value("int", f"({' + '.join(parts)})")
            raise self.fail(node)
        if function in (kernels.popcount, kernels.lowest, kernels.reverse):
            name = function.__name__
            text = f"{self.unit.helper(name)}({texts[0]})"
            return Value("int", text, None, name != "reverse")
        if function in (kernels.product, kernels.shift_left, kernels.shift_right):
            sign = {"product": "*", "shift_left": "<<", "shift_right": ">>"}[function.__name__]
            second = "(uint64_t)" * (sign == "*") + texts[1]
            return Value("int", f"(int64_t)((uint64_t){texts[0]} {sign} {second})")
        if function is kernels.bit:
            return Value("int", f"(int64_t)(UINT64_C(1) << {texts[0]})")
        if function is clamped:
            low = f"{self.unit.helper('max_int')}({texts[0]}, -{texts[1]})"
            return Value("int", f"{self.unit.helper('min_int')}({low}, {texts[1]})")
        raise self.fail(node)

"""The sources of functions in Python, and the types that their signatures state."""

from __future__ import annotations

import ast
import functools
import linecache
from typing import Any

from numba.core.sigutils import normalize_signature

from games.kernels.compiler import GENERATED

__all__ = ["TranslationError", "declared_types", "source_tree"]

#: Types of numbers by the names that Numba gives to those of a signature.
NUMBERS = {"bool": "bool", "int64": "int", "float32": "single", "float64": "float"}


class TranslationError(ValueError):
    """A construct that cannot be written as C, with its file and line."""


def declared_types(kernel: Any) -> list[str] | None:
    """Returns the types of a kernel that calls itself: of its result and of each argument.

    An argument that is not a number has "". Returns None for other kernels, and for those that do
    not return a number.
    """
    signature = getattr(kernel, "asked", (None,))[0]
    if signature is None:
        return None
    arguments, result = normalize_signature(signature)
    kinds = [NUMBERS.get(str(kind), "") for kind in (result, *arguments)]
    return kinds if kinds[0] else None


def source_tree(function: Any) -> tuple[str, ast.FunctionDef]:
    """Returns the file and the syntax tree of a function; TranslationError if it has no source."""
    code = function.__code__
    file = code.co_filename
    text = "".join(linecache.getlines(file))
    if file == GENERATED:
        text = function.__globals__.get("__text__", "")
    for node in _functions(text):
        if node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return file, node
    raise TranslationError(f"{file}: expected the source of {code.co_name}, found none")


@functools.lru_cache(maxsize=64)
def _functions(text: str) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]

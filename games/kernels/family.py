"""Families of kernels: the same functions for each size of board."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from games.kernels.compiler import kernel

__all__ = ["family"]


def family(
    *functions: Callable[..., Any], doc: str | None = None, **constants: Any
) -> types.SimpleNamespace:
    """Make kernels of ordinary functions, which read `constants` as if they were global names.

    functions: the functions; each may call those before it by their names.
    doc: docstring of the kernels. Default: those of the functions.
    constants: the values of the names.

    Returns the kernels by their names. A family is compiled once for each set of constants and
    cached on disk. (Kernels defined inside another function are not cached, because Numba cannot
    identify their closures in another process.)
    """
    scope = {**getattr(functions[0], "__globals__", {}), **constants}
    made = {}
    for function in functions:
        copy = types.FunctionType(
            function.__code__, scope, function.__name__, function.__defaults__
        )
        copy.__module__, copy.__doc__ = function.__module__, doc or function.__doc__
        copy.__qualname__ = function.__qualname__
        made[function.__name__] = scope[function.__name__] = kernel(copy)
    return types.SimpleNamespace(**made)

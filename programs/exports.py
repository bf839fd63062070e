"""Names that a package exports and imports when they are first asked for (PEP 562)."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["exported"]


def exported(
    package: str, file: str
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Returns `__all__`, `__getattr__` and `__dir__` of a package.

    package: the name of the package.
    file: its source, in which `from MODULE import NAME as EXPORTED` is for type checkers only.
    """
    names = {
        alias.asname: (node.module or "", alias.name)
        for node in ast.walk(ast.parse(Path(file).read_bytes()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }

    def __getattr__(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, inside = names[name]
        value = getattr(importlib.import_module(module), inside)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names})

    return sorted(names), __getattr__, __dir__

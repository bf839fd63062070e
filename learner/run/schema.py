"""The settings of learners, without importing them: read from the source of their classes.

The options of a learner are fields of its dataclass, each with its type, default and range
(`learner.options`). To import a class takes seconds, because it brings scikit-learn and Numba, and
a mistyped option should be refused at once. So fields are read from the text of the class and of
its bases.
"""

from __future__ import annotations

import ast
import functools
from dataclasses import field
from pathlib import Path
from typing import Any

from learner.options import Setting, choice, ranged

__all__ = ["settings_of_source"]

ROOT = Path(__file__).resolve().parents[2]
#: Functions that make a field.
CALLS: dict[str, Any] = {"ranged": ranged, "choice": choice, "field": field}


@functools.cache
def settings_of_source(module: str, kind: str) -> dict[str, Setting]:
    """Returns the options of a learner's class by name, from the source of its module."""
    tree = ast.parse((ROOT / module.replace(".", "/")).with_suffix(".py").read_bytes())
    homes = {
        alias.name: str(line.module)
        for line in tree.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }
    (body,) = [line for line in tree.body if isinstance(line, ast.ClassDef) and line.name == kind]
    result: dict[str, Setting] = {}
    for base in map(ast.unparse, reversed(body.bases)):
        home = homes.get(base, module)
        if home.partition(".")[0] == module.partition(".")[0]:
            result |= settings_of_source(home, base)
    for line in body.body:
        if not isinstance(line, ast.AnnAssign) or line.value is None:
            continue
        name, hint, text = map(ast.unparse, (line.target, line.annotation, line.value))
        before = result.pop(name, None)
        if not hint.startswith("ClassVar") and "init=False" not in text:
            try:
                made = eval(text, dict(CALLS))
            except NameError:  # of the module, which is not imported
                made = None
            result[name] = Setting.of(hint, made, before)
    return result

"""Runs the example notebooks and saves their output: `python -m benchmarks.notebooks`.

Those of the course are made from docs/course.md, one for each lecture: its text, its Python, and
before it what it needs of earlier lectures. The tests run the same cells
(`tests/programs/test_docs.py`) without saving anything.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import contextlib
import io
import json
import linecache
import re
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "notebooks"

#: Sections of the course by the notebook of their lecture.
LECTURES = {
    "course_1_minimax": ("Games as search problems", "Minimax"),
    "course_2_alpha_beta": ("Alpha-beta, and the order of moves",),
    "course_3_evaluation": (
        "Evaluation functions", "Quiescence and the horizon", "Forward pruning",
    ),
    "course_4_chance_and_more_players": (
        "Lookup", "Stochastic games", "More than two players", "Opponents who err",
    ),
    "course_5_samuel": ("Samuel", "Rollouts"),
    "course_6_strategies_and_constraints": ("Search strategies", "Constraint satisfaction"),
}  # fmt: skip
#: Python with the output that follows it, which its cell prints by itself.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```\n.*?^```\n)?", re.DOTALL | re.MULTILINE)


def course() -> dict[str, dict[str, Any]]:
    """Returns the notebooks of the course without output, by name."""
    page = (FOLDER.parent / "course.md").read_text("utf-8")
    texts = {part.partition("\n")[0]: part for part in page.split("\n## ")[1:]}
    model = json.loads((FOLDER / "from_zero.ipynb").read_text("utf-8"))
    found, before = {}, ""
    for name, sections in LECTURES.items():
        text = "\n\n".join(f"## {texts[section].strip()}\n" for section in sections)
        # Files lie beside the packages, wherever a notebook is opened.
        text = re.sub(r'Path\("(docs/[^"]*)"\)', r'ROOT.joinpath("\1")', text)
        parts = BLOCK.split(text)
        own = "".join(parts[1::2])
        title = f"# {name.partition('_')[2].replace('_', ' ')}"
        cells = [
            _cell("markdown", 0, f"{title}\n\nMade from [the course](../course.md)."),
            _cell("code", 1, _needed(before, own)),
        ]
        for number, part in enumerate(parts):
            if number % 2:
                cells.append(_cell("code", number + 2, part))
            elif part.strip():
                linked = re.sub(r"\]\((?!https?:|#)", "](../", part)
                cells.append(_cell("markdown", number + 2, linked))
        found[name] = {**model, "cells": cells}
        before += own
    return found


def _cell(kind: str, number: int, source: str) -> dict[str, Any]:
    cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {},
            "source": source.strip("\n").splitlines(True)}  # fmt: skip
    return cell if kind == "markdown" else {**cell, "execution_count": None, "outputs": []}


def _needed(before: str, own: str) -> str:
    """Returns the statements of earlier lectures on which the Python of a lecture depends."""
    earlier = ast.parse(before).body
    chosen: dict[int, set[str]] = {}  # the statements, and the names that are wanted of each
    wanted = [(name, len(earlier)) for name in _free(ast.parse(own).body)]
    while wanted:
        name, end = wanted.pop()
        places = [n for n in range(end) if name in _bound(earlier[n])]
        if places:
            if places[-1] not in chosen:
                wanted += [(one, places[-1]) for one in _free([earlier[places[-1]]])]
            chosen.setdefault(places[-1], set()).add(name)
    lines = before.splitlines()
    statements, modules = [], {"pathlib": {"Path"}}
    for n, names in sorted(chosen.items()):
        statement = earlier[n]
        if isinstance(statement, ast.ImportFrom):
            modules.setdefault(str(statement.module), set()).update(names)
        else:
            statements.append("\n".join(lines[statement.lineno - 1 : statement.end_lineno]))
    for module, names in modules.items():
        kept = ", ".join(sorted(names, key=lambda one: (one.islower(), one)))
        statements.append(f"from {module} import {kept}")
    imports = [one for one in statements if one.startswith(("import ", "from "))]
    rest = [one for one in statements if one not in imports]
    imports = sorted({"import games", *imports}, key=_import_order)
    usual = [one for one in imports if one.split()[1] in sys.stdlib_module_names]
    own_imports = [one for one in imports if one not in usual]
    first = "ROOT = Path(games.__file__).parents[1]"
    return "\n".join([*usual, "", *own_imports, "", first, *rest])


def _import_order(statement: str) -> tuple[bool, str]:
    return statement.startswith("from"), statement


def _bound(statement: ast.stmt) -> set[str]:
    """Returns the names that a statement defines."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(one.asname or one.name).partition(".")[0] for one in statement.names}
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Assign):
        return {one.id for one in ast.walk(statement) if _stores(one)}
    return set()


def _stores(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _free(statements: list[ast.stmt]) -> list[str]:
    """Returns the names that statements read before they define them, but for built-in ones."""
    known, free = set(dir(builtins)), []
    for statement in statements:
        nodes = list(ast.walk(statement))
        local = {one.arg for one in nodes if isinstance(one, ast.arg)}
        if not isinstance(statement, ast.Assign | ast.AugAssign):
            local |= {one.id for one in nodes if _stores(one)} | _bound(statement)
        read = [one.id for one in nodes if isinstance(one, ast.Name) and not _stores(one)]
        free += [name for name in read if name not in known | local]
        known |= _bound(statement) | {one.id for one in nodes if _stores(one)}
    return list(dict.fromkeys(free))


def run(path: Path) -> dict[str, Any]:
    """Run the code of a notebook in one namespace; returns the notebook with its output."""
    notebook: dict[str, Any] = json.loads(path.read_text("utf-8"))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        source = "".join(cell["source"]) + "\n"
        # Not the path of an existing file, or compiled kernels would be saved beside it.
        name = f"<{path.name}, cell {count}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        code = ast.parse(source)
        last = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
        shown = None
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, name, "exec", dont_inherit=True), namespace)
            if isinstance(last, ast.Expr):
                shown = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
        lines = printed.getvalue().splitlines(True)
        outputs = [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
        if hasattr(shown, "_repr_svg_"):
            data = {"image/svg+xml": shown._repr_svg_().splitlines(True)}
            outputs.append({"data": data, "execution_count": count, "metadata": {},
                            "output_type": "execute_result"})  # fmt: skip
        cell |= {"execution_count": count, "outputs": outputs}
    return notebook


def _write(path: Path, notebook: dict[str, Any]) -> None:
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main() -> int:
    """Make those of the course and run all of them; returns the exit status."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    for name, notebook in course().items():
        _write(FOLDER / f"{name}.ipynb", notebook)
    for path in sorted(FOLDER.glob("*.ipynb")):
        _write(path, run(path))
        print(path.name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What is said of mistakes: files of expressions that a test module evaluates, and their errors.

`tests/FOLDER/errors/NAME.txt` belongs to `tests/FOLDER/test_NAME.py`, which says

    test_errors = errors_of(globals())

and lends its names; lines before the first title import more. A title, `[plain] models have a
size`, begins a block and says how it is marked (`compiled`: not run uncompiled). Each expression is
followed by its error, indented, in which `{tmp}` stands for `tmp_path`, a new folder for each
expression, and an ellipsis, `…`, for any text. After a change that is meant,

    python -m tests.errors tests/FOLDER/test_NAME.py ...

writes anew the errors that changed, and the difference is read. An expression is added by hand,
without its error. A module with a function `error_of_line` has lines of another kind.
"""

from __future__ import annotations

import importlib
import re
import sys
import tempfile
from pathlib import Path
from traceback import walk_tb
from typing import Any, NamedTuple

import pytest

from games import kernels

MARKS = {
    "plain": pytest.mark.plain,
    "thorough": pytest.mark.thorough,
    "compiled": pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled"),
}


class Block(NamedTuple):
    """A titled part of a file: expressions, each with its error as stated."""

    marks: str
    title: str
    cases: list[tuple[str, str]]


def path_of(module: str) -> Path:
    path = Path(module)
    return path.parent / "errors" / f"{path.stem.removeprefix('test_')}.txt"


def read(path: Path) -> tuple[str, list[Block]]:
    """Returns the imports of a file, and its blocks."""
    imports, *rest = re.split(r"^\[(.*)\] (.+)\n", path.read_text("utf-8"), flags=re.MULTILINE)
    parts = zip(rest[::3], rest[1::3], rest[2::3], strict=True)
    case = re.compile(r"^(\S.*)\n(?: +(.*)\n)?", re.MULTILINE)
    return imports, [Block(marks, title, case.findall(text)) for marks, title, text in parts]


def error_of(expression: str, names: dict[str, Any], folder: Path) -> str:
    """Returns the error of an expression, as one line."""
    try:
        value = eval(expression, {**names, "tmp_path": folder})
    except Exception as error:
        if type(error) is AssertionError or is_of_the_expression(error):
            raise  # what a helper asserts on the way, or a line that calls nothing
        said = str(error).replace(str(folder), "{tmp}").replace("\n", r"\n")
        assert len(said) < 3000, expression
        return f"{type(error).__name__}: {said}"
    raise AssertionError(f"{expression}: expected an error, found {value!r}")


def is_of_the_expression(error: Exception) -> bool:
    """Returns whether an expression itself fails, by a wrong name or unfit arguments."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    return frame.f_code.co_filename == "<string>" and frame.f_code.co_name == "<module>"


def of_now(block: Block, names: dict[str, Any], folder: Path) -> Block:
    """Returns a block with the errors of now; one that still fits stays as it is stated."""
    told = names.get("error_of_line", error_of)
    cases = []
    for number, (expression, stated) in enumerate(block.cases):
        (folder / f"{number}").mkdir()
        error = told(expression, names, folder / f"{number}")
        fits = re.fullmatch(".*".join(map(re.escape, stated.split("…"))), error)
        cases.append((expression, stated if fits else error))
    return block._replace(cases=cases)


def errors_of(names: dict[str, Any]) -> Any:
    """Returns the test of a module's file of errors."""
    imports, blocks = read(path_of(names["__file__"]))
    params = [
        pytest.param(block, id=block.title, marks=[MARKS[mark] for mark in block.marks.split()])
        for block in blocks
    ]

    @pytest.mark.parametrize("block", params)
    def test_errors(block: Block, tmp_path: Path) -> None:
        known = dict(names)
        exec(imports, known)
        assert of_now(block, known, tmp_path) == block

    return test_errors


def rewrite(module: str) -> None:
    """Writes a module's file of errors anew."""
    path = path_of(module)
    sys.path[:0] = [str(path.parents[1]), str(path.parents[2])]
    names = dict(vars(importlib.import_module(Path(module).stem)))
    imports, blocks = read(path)
    exec(imports, names)
    parts = [imports.strip()] * bool(imports.strip())
    for block in blocks:
        with tempfile.TemporaryDirectory() as folder:
            cases = of_now(block, names, Path(folder)).cases
        lines = [f"{expression}\n    {error}" for expression, error in cases]
        parts.append("\n".join([f"[{block.marks}] {block.title}", *lines]))
    path.write_text("\n\n".join(parts) + "\n", "utf-8")


if __name__ == "__main__":
    for module in sys.argv[1:]:
        rewrite(str(Path(module).resolve()))

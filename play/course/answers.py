"""Runs a student's file in a process of its own: a program that needs Python and nothing else.

It is given the file, the name of a function, and on standard input a list of arguments on each
line. It prints one line of JSON for each case, as soon as it is there: `{"answer": ...}`, or
`{"error": ...}`. If the first line is an error, it may concern the whole file.
"""

from __future__ import annotations

import ast
import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

#: The longest answer that is passed on, in characters.
LONGEST = 100_000


def plain(answer: Any) -> Any:
    """Returns an answer as numbers, texts, lists and tables; anything else as its text."""
    if hasattr(answer, "tolist"):  # NumPy's
        answer = answer.tolist()
    if answer is None or isinstance(answer, bool | int | float | str):
        return answer
    if isinstance(answer, list | tuple):
        return [plain(one) for one in answer]
    if isinstance(answer, dict) and all(isinstance(key, str) for key in answer):
        return {key: plain(one) for key, one in answer.items()}
    return f"{type(answer).__name__} {answer!r}"


def main(path: str, name: str) -> None:
    """Tell the answers of the function in a file to the cases on standard input."""
    cases = [ast.literal_eval(line) for line in sys.stdin]
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # the file reads and prints nothing of the checker's
        os.dup2(nothing, stream)
    sys.argv[:] = [path]
    sys.path[0] = str(Path(path).parent)

    def tell(**answer: Any) -> None:
        text = json.dumps(answer)
        if len(text) > LONGEST:
            text = json.dumps({"error": f"an answer of {len(text):,} characters"})
        print(text, file=told, flush=True)

    def explain(error: BaseException) -> None:
        tell(error=f"{type(error).__name__}: {error}")

    try:
        function = runpy.run_path(path).get(name)
        if not callable(function):
            raise NameError(f"expected a function {name}, found none")
    except BaseException as error:  # sys.exit, too
        explain(error)
        return
    tell(answer="begins")
    for case in cases:
        try:
            tell(answer=plain(function(*case)))
        except BaseException as error:
            explain(error)


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)  # threads of the file do not keep it

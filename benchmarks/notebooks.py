"""Runs the example notebooks and saves their output: `python -m benchmarks.notebooks`.

The tests run the same cells (`tests/programs/test_docs.py`) without saving anything.
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "notebooks"


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
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(source, name, "exec", dont_inherit=True), namespace)
        lines = printed.getvalue().splitlines(True)
        stream = {"name": "stdout", "output_type": "stream", "text": lines}
        cell |= {"execution_count": count, "outputs": [stream] if lines else []}
    return notebook


def main() -> int:
    """Run all of them; returns the exit status."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = run(path)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
        print(path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())

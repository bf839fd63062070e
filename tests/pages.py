"""Pages of the documentation, and the Python in them."""

from __future__ import annotations

import contextlib
import io
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from programs.whole_files import write_atomically

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    path
    for path in [ROOT / "README.md", ROOT / "data/README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    if "```python" in path.read_text("utf-8")
]
NOT_RUN = "<!-- not run -->"


def blocks(text: str) -> list[tuple[int, str]]:
    """Returns the Python blocks of a page that are run, each with the number of its first line."""
    found: list[tuple[int, str]] = []
    before = ""  # the last line that is not blank
    inside: list[str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if inside is not None and line.strip() == "```":
            if inside and inside[0] == "run":
                found.append((number - len(inside) + 1, "\n".join(inside[1:]) + "\n"))
            inside = None
            before = line
        elif inside is not None:
            inside.append(line)
        elif line.startswith("```"):
            runs = line.split()[0] == "```python" and before.strip() != NOT_RUN
            inside = ["run" if runs else "skip"]
        elif line.strip():
            before = line
    assert inside is None, "a block that does not end"
    return found


def run(page: Path, most: int | None = None) -> dict[str, Any]:
    """Run the first blocks of a page, or all, in one namespace. Returns the namespace.

    Raises AssertionError if the page shows another output of a block than it has.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, source in blocks(page.read_text("utf-8"))[:most]:
        name = kept(f"{page.stem}, line {number}", source)
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            exec(compile(source, str(name), "exec", dont_inherit=True), namespace)
        shown = output_after(page.read_text("utf-8"), number, source)
        assert shown is None or agrees(shown, told.getvalue()), (name, told.getvalue())
    return namespace


def kept(name: str, source: str) -> Path:
    """Returns a file with a block, beside which the compiled kernels of the block are kept."""
    path = ROOT / "tests/__pycache__/pages" / f"{name}, {sha256(source.encode()).hexdigest()[:8]}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, source)
    return path


def output_after(text: str, number: int, source: str) -> str | None:
    """Returns the block without a language that follows the Python at a line; None for none."""
    after = "\n".join(text.splitlines()[number - 1 + source.count("\n") + 1 :])
    found = re.match(r"\s*```\n(.*?)^```$", after, re.DOTALL | re.MULTILINE)
    return None if found is None else found[1]


def agrees(shown: str, output: str) -> bool:
    """Whether a page shows an output, but for line breaks, seconds, and what "..." leaves out."""
    shown, output = (re.sub(r"in [\d.]+ s", "in 0 s", " ".join(t.split())) for t in (shown, output))
    return re.fullmatch(re.escape(shown).replace(r"\.\.\.", ".*"), output) is not None

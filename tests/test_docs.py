"""The Python in the documentation runs as it stands."""

from __future__ import annotations

import linecache
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [path for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))] if path.exists()]
NOT_RUN = "<!-- not run -->"


def blocks(text: str) -> list[tuple[int, str]]:
    """The Python blocks of a page that are to be run, each with the number of its first line."""
    found: list[tuple[int, str]] = []
    before = ""  # the last line that says something
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
    """Run the first blocks of a page, or all of them, in one namespace, and return that."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, source in blocks(page.read_text("utf-8"))[:most]:
        # Not the path of a file that exists: compiled kernels would be kept beside it.
        name = f"<{page.name}, line {number}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        exec(compile(source, name, "exec", dont_inherit=True), namespace)
    return namespace


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if (ROOT / "data").exists():  # a copy, for examples read what a clone has and may write
        shutil.copytree(ROOT / "data", tmp_path / "data")
    (tmp_path / "docs" / "examples").mkdir(parents=True)
    shutil.copy(ROOT / "docs/examples/my_features.py", tmp_path / "docs/examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    run(page)


@pytest.mark.plain
def test_which_blocks_are_run() -> None:
    page = """
```python
one
```

    text
```bash
two
```
<!-- not run -->

```python
three
```

```python title="x"
four

five
```
"""
    assert blocks(page) == [(3, "one\n"), (17, "four\n\nfive\n")]


@pytest.mark.plain
def test_a_page_that_fails_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\ntext\n```python\nassert x == 2\n```\n")
    assert run(page, 1)["x"] == 1
    with pytest.raises(AssertionError):
        run(page)


@pytest.mark.plain
def test_own_game_is_a_page_with_python() -> None:
    assert len(blocks((ROOT / "docs" / "own_game.md").read_text("utf-8"))) >= 6


@pytest.mark.plain
def test_own_feature_shows_the_term_of_the_example() -> None:
    page = ROOT / "docs" / "own_feature.md"
    source = (ROOT / "docs/examples/my_features.py").read_text("utf-8")
    shown = blocks(page.read_text("utf-8"))[0][1]
    assert shown.splitlines()[-2:] == [
        "    own, opponent, kings, side = position",
        next(line for line in source.splitlines() if "DOUBLE_CORNERS else 0" in line),
    ]


@pytest.mark.plain
def test_the_map_names_every_module_and_no_other() -> None:
    named = set(re.findall(r"`(\w+\.py)`", (ROOT / "docs" / "architecture.md").read_text("utf-8")))
    packages = [ROOT / name for name in ("games", "search", "play", "learner")]
    modules = {path.name for package in packages for path in package.glob("*.py")}
    assert modules - named - {"__init__.py"} == set(), "not in docs/architecture.md"
    assert named - modules - {"train.py"} == set(), "in docs/architecture.md, but not there"

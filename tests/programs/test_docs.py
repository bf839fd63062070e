"""The Python examples in the documentation run as they stand."""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import shlex
import shutil
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import PAGES, ROOT, blocks, run

import games
import learner
import play
import plysmith
from benchmarks import notebooks
from search import native
from search.evaluators.files.shipped import DATA, shipped_files

#: Pages whose examples learn for a while.
LONG = ("course", "own_network")
PACKAGES = ("programs", "games", "search", "play", "learner")


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.whole_run if page.stem in LONG else ())
        for page in PAGES
    ],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_python_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a copy, because examples may write
    shutil.copytree(ROOT / "data", tmp_path / "data")
    shutil.copytree(ROOT / "docs/examples", tmp_path / "docs/examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    run(page)


def test_the_notebooks_of_the_course_are_made_from_the_page() -> None:
    """With every section of the page, and all the Python of it."""
    page = (ROOT / "docs/course.md").read_text("utf-8")
    sections = [title for titles in notebooks.LECTURES.values() for title in titles]
    assert sections == re.findall("^## (.*)$", page, re.MULTILINE)
    made = notebooks.course()
    for name, notebook in made.items():
        kept = json.loads((notebooks.FOLDER / f"{name}.ipynb").read_text("utf-8"))
        assert sources(kept) == sources(notebook), f"{name}: run python -m benchmarks.notebooks"
    count = sum(one["cell_type"] == "code" for book in made.values() for one in book["cells"])
    assert count == len(made) + len(blocks(page))  # a cell of earlier lectures each


def sources(notebook: dict[str, Any]) -> list[str]:
    return ["".join(cell["source"]) for cell in notebook["cells"]]


@pytest.mark.whole_run
@pytest.mark.parametrize(
    "path", sorted(notebooks.FOLDER.glob("*.ipynb")), ids=lambda path: path.name
)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = [cell for cell in notebooks.run(path)["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 4
    assert all(cell["execution_count"] for cell in cells)
    if path.stem in notebooks.LECTURES:  # the others learn with several threads
        kept = json.loads(path.read_text("utf-8"))["cells"]
        assert cells == [cell for cell in kept if cell["cell_type"] == "code"]
    assert list(tmp_path.iterdir()) == []  # a notebook leaves nothing behind


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
def test_lines_of_pages_are_short_enough_to_review() -> None:
    """Rows of tables, and what a program prints as one line, cannot be broken."""
    printed = ("|", "Result(")
    pages = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md"), ROOT / "data/README.md"]
    lines = [(page.name, line) for page in pages for line in page.read_text("utf-8").splitlines()]
    assert [one for one in lines if len(one[1]) > 120 and not one[1].startswith(printed)] == []


@pytest.mark.plain
def test_pages_are_few_enough_words_to_stay_true() -> None:
    """All of them together; the changelog is apart."""
    pages = {*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md"), ROOT / "data/README.md"}
    texts = [page.read_text("utf-8") for page in pages - {ROOT / "CHANGELOG.md"}]
    assert sum(len(text.split()) for text in texts) <= 45_000


def links(page: Path) -> set[tuple[Path, str]]:
    """Returns the files of the repository to which a page links, with the anchor of each or ""."""
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", prose)
    return {((page.parent / name).resolve() if name else page, at) for name, at in targets}


def anchors(page: Path) -> set[str]:
    """Returns the anchors of a page's headings."""
    titles = re.findall("^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.plain
def test_links_lead_somewhere_and_readme_and_the_index_link_every_page() -> None:
    pages = {path.resolve() for path in ROOT.glob("docs/**/*.md")}
    to = {page: links(page) for page in [*pages, *ROOT.glob("*.md"), ROOT / "data/README.md"]}
    broken = [
        (page.name, path.name, at)
        for page, targets in to.items()
        for path, at in targets
        if not path.exists() or (at and at not in anchors(path))
    ]
    assert broken == []
    index = ROOT / "docs/index.md"
    assert pages - {path for path, _ in to[index]} - {index} == set()
    guides = {path for path in pages if path.parent == index.parent} - {index}
    assert guides - {path for path, _ in to[ROOT / "README.md"]} == set()


@pytest.mark.plain
def test_the_first_screen_of_readme_instructs() -> None:
    """The sentence, the picture, both commands and the example are on 25 lines."""
    page = (ROOT / "README.md").read_text("utf-8")
    screen = "\n".join(page.splitlines()[:25])
    wanted = (
        "](docs/board.png)",
        "\ngit clone ",
        "\nmake train ",
        "\nmake test ",
        "print(result)\n```",
    )
    assert [one for one in wanted if one not in screen] == []


def test_the_example_of_readme_prints_what_readme_shows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    exec(blocks(page)[0][1], {})
    printed, shown = (
        re.split(r" in [\d.]+ s, ", text.strip())  # the time differs
        for text in (capsys.readouterr().out, page[page.index("Result(") :].splitlines()[0])
    )
    assert printed[0] == shown[0] and printed[1].startswith(shown[1].removesuffix(" ...)"))


@pytest.mark.plain
def test_a_page_that_fails_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\ntext\n```python\nassert x == 2\n```\n")
    assert run(page, 1)["x"] == 1
    with pytest.raises(AssertionError):
        run(page)


@pytest.mark.plain
def test_a_page_that_shows_another_output_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1,\n      'a')\n```\ntext\n\n```\nb\n```\n")
    run(page)
    page.write_text("```python\nprint(1,\n      'a')\n```\n\n```\n1\na\n```\n")
    run(page)
    page.write_text("```python\nprint(1,\n      'a')\n```\n\n```\n2 a\n```\n")
    with pytest.raises(AssertionError, match="1 a"):
        run(page)


@pytest.mark.whole_run
def test_the_rollout_of_the_course_prints_what_the_page_shows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (ROOT / "docs" / "course.md").read_text("utf-8")
    command, shown = re.findall(
        r"plysmith (play rollout [^\n]*)\n```\n\n```\n(.*?)```", page, re.DOTALL
    )[0]
    assert plysmith.main([*shlex.split(command), "--quiet"]) == 0
    told = capsys.readouterr().out.splitlines()
    number = r"([-+]\d\.\d+) ± (\d\.\d+)"
    for line, printed in zip(shown.splitlines(), told, strict=False):
        values, others = (re.findall(number, one) for one in (line, printed))
        assert re.split(number, line)[0] == re.split(number, printed)[0]
        np.testing.assert_allclose(np.array(values, float), np.array(others, float), atol=0.002)
    (_, best), (_, second) = ([*map(float, re.findall(number, one)[0])][::-1] for one in told[1:3])
    assert told[1].startswith("8/5 6/5 ") and best - second > 0.1


@pytest.mark.plain
def test_the_drawn_tree_of_nim_is_the_one_that_is_printed() -> None:
    page = ROOT / "docs" / "course.md"
    drawn = re.findall(r"```mermaid\nflowchart TD\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    sources = [source for _, source in blocks(page.read_text("utf-8"))]
    last = next(at for at, source in enumerate(sources) if "-->" in source)
    edges = run(page, last + 1)["edges"]
    assert drawn == ["".join(f"{edge}\n" for edge in edges)]


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
def test_every_shipped_file_has_a_card() -> None:
    page = (ROOT / "data" / "README.md").read_text("utf-8")
    shipped = {
        f"{folder.name}/{name}"
        for folder in DATA.iterdir()
        if folder.is_dir()
        for name in [
            *shipped_files(folder.name),
            *(path.name for path in folder.glob("*.openings.json")),
            *(path.name for path in folder.glob("*.*.safetensors")),
        ]
    }
    assert set(re.findall(r"^## (.+)$", page, re.MULTILINE)) == shipped


@pytest.mark.plain
def test_the_cards_give_the_sizes_of_the_files() -> None:
    page = (ROOT / "data" / "README.md").read_text("utf-8")
    sizes = {
        name: float(number) * {"k": 1e3, "M": 1e6}[unit]
        for name, card in re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
        for number, unit in re.findall(r"; ([\d.]+) ([kM])B[.,]", " ".join(card.split()))
    }
    assert len(sizes) >= 9
    for name, size in sizes.items():
        (path,) = [one for one in DATA.glob(f"{name}*") if one.name.startswith(Path(name).name)]
        assert path.stat().st_size == pytest.approx(size, rel=0.02), name


@pytest.mark.plain
def test_the_map_names_every_file_of_the_page_and_no_other() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    files = {path.name for path in (ROOT / "play/web/static").glob("*.js")}
    assert set(re.findall(r"`(\w+\.js)`", page)) == files


def test_the_map_shows_an_adapter_as_it_is_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {}

    def keep(name: str, text: str, scope: object, signature: str) -> int:
        texts[name] = text
        return 0

    monkeypatch.setattr(native, "native_function", keep)
    native.rules_addresses(games.load("checkers"))
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert textwrap.indent(texts["status_at"].strip(), "   ") in page


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        with contextlib.suppress(ModuleNotFoundError):
            found: Any = importlib.import_module(".".join(parts[:count]))
            for part in parts[count:]:
                found = getattr(found, part, None)
            return found is not None
    return False


@pytest.mark.thorough
def test_names_that_pages_and_docstrings_give_exist() -> None:
    pages = [path for path in ROOT.glob("docs/**/*.md") if path.stem != "notebook"]
    folders = ("search", "play", "learner", "benchmarks", "games/backgammon", "games/checkers")
    sources = [path for folder in folders for path in ROOT.glob(f"{folder}/**/*.py")]
    dotted = re.compile(r"`((?:programs|games|search|play|learner|benchmarks)(?:\.\w+)+)")
    names = {
        (path.name, name)
        for path in [*pages, *sources]
        for name in dotted.findall(path.read_text("utf-8"))
        if not name.endswith((".js", ".journal"))  # files
    }
    assert len(names) > 100
    assert {one for one in names if not exists(one[1])} == set()


@pytest.mark.thorough
def test_guides_import_what_a_package_exports_from_the_package() -> None:
    texts = [path.read_text("utf-8") for path in [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"]]
    texts += [path.read_text("utf-8") for path in ROOT.glob("docs/**/*.ipynb")]
    for package in (learner, play):
        assert all(getattr(package, name) is not None for name in package.__all__)
        deep = re.findall(rf"from {package.__name__}\.\S+ import ([\w, ]+)", "\n".join(texts))
        assert {name for names in deep for name in names.split(", ")} & {*package.__all__} == set()


@pytest.mark.thorough
def test_the_guide_lists_every_kind_of_extra() -> None:
    page = (ROOT / "docs" / "own_game.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+(?:\.\w+)+)` \|", page, re.MULTILINE)
    assert len(listed) > 20 and all(map(exists, listed))
    sources = [path for folder in PACKAGES for path in ROOT.glob(f"{folder}/**/*.py")]
    texts = [path.read_text("utf-8") for path in sources]
    kinds = {name for text in texts for name in re.findall(r"^class (\w+)\(Extra", text, re.M)}
    assert kinds <= {name.rpartition(".")[2] for name in listed}


@pytest.mark.plain
def test_the_map_names_every_folder_and_no_other() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = set(re.findall(r"`((?:programs|games|search|play|learner)/(?:\w+/)*)`", page))
    packages = [ROOT / name for name in PACKAGES]
    folders = {
        f"{path.parent.relative_to(ROOT)}/" for p in packages for path in p.rglob("__init__.py")
    }
    assert folders - named == set(), "not in docs/architecture.md"
    assert named - folders == set(), "in docs/architecture.md, but not there"

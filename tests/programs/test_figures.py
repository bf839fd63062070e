"""Each figure of the pages stands once, in `docs/figures/`, with a digest of what it depends on."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import figures
from benchmarks.figures import ROOT, Record, code, pages, records, with_figures

GUIDES = ("README.md", "docs/play.md", "docs/train.md", "docs/own_*.md", "docs/authors.md")
#: A measured figure: an interval, an error or a day; in a guide also a strength, a rate or a time.
FIGURE = r"\[[-+]?[\d.]+, [-+]?[\d.]+\]|± ?\d|\b20\d\d-\d\d-\d\d"
RATE = r"[-+]\d+ Elo|[\d.,]+ (?:M |million )?\w+/s\b|\b\d[\d.]* (?:CPU )?(?:minutes|hours)\b"


def test_pages_show_what_was_measured_and_mark_what_is_out_of_date() -> None:
    texts = {path.relative_to(ROOT): path.read_text("utf-8") for path in pages()}
    assert {name: with_figures(text) for name, text in texts.items()} == texts, (
        "run python -m benchmarks.figures"
    )


def test_a_figure_has_one_home() -> None:
    shown = Counter(
        found
        for path in pages()
        for found in re.findall(r"<!-- (\w+): ([\w.-]+) -->", path.read_text("utf-8"))
    )
    games = {record.strength.game for record in records() if record.strength}
    assert set(shown) == {
        *(("figure", record.name) for record in records() if not record.strength),
        *(("strength", name) for name in (*games, figures.HEADLINE, figures.SCALE)),
    }
    assert set(shown.values()) == {1}


@pytest.mark.parametrize("record", records(), ids=lambda record: record.name)
def test_a_change_of_what_a_figure_depends_on_marks_it(record: Record) -> None:
    assert all(any(ROOT.glob(one)) for one in record.content["depends"])
    other = Record(record.name, record.content | {"digests": {}})
    assert other.mark and other.changed == record.content["depends"] != []
    fresh = {one: figures.digest(one) for one in record.content["depends"]}
    assert not Record(record.name, record.content | {"digests": fresh}).mark
    if record.content["figures"] is None:
        assert "Not measured yet" in other.text()
    elif record.strength is None:
        assert "**out of date**" in " ".join(other.text().split())
    else:
        game = record.strength.game
        shown = figures.table(game, [other]), figures.table(figures.SCALE, [other])
        assert "**out of date**" in shown[0]
        assert "out of date" in shown[1] or not record.strength.scale


def test_a_digest_is_of_code_and_not_of_its_words() -> None:
    source = (
        b'def f(x):\n    """Twice."""\n    if x:\n        raise ValueError("x")\n    return 2 * x\n'
    )
    words = source.replace(b"Twice.", b"Double.").replace(b'"x"', b'"less"') + b"# said\n"
    assert code(words) == code(source) != code(source.replace(b"2 * x", b"3 * x"))


def test_a_measurement_replaces_figures_and_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "FOLDER", tmp_path)
    said = {
        "git": "1234567\n",
        "one": '{"games": 4, "first": "open_lines", "score": [1, 0.9, 1]}\n',
    }

    def run(words: list[str], **_: object) -> SimpleNamespace:
        return SimpleNamespace(stdout=said["git" if words[0] == "git" else "one"])

    monkeypatch.setattr("benchmarks.figures.subprocess.run", run)
    show = {"view": "score", "game": "tic_tac_toe", "players": ["open_lines"], "against": "a"}
    content = {"command": "plysmith play match", "depends": ["games/tic_tac_toe.py"], "show": show}
    record = Record("one", content | {"date": "", "commit": "", "digests": {}, "figures": None})
    assert record.mark
    figures.measure(record, entered=False)
    (again,) = records()
    assert not again.mark and again.content["commit"] == "1234567"
    assert [*again.rows()] == [("open_lines", "100.0 % [90.0, 100.0] of the points", "4 games")]


def test_no_measured_figure_stands_outside_a_record() -> None:
    """Guides instruct and results show records; the notebook holds experiments of the past."""
    guides = [path for pattern in GUIDES for path in ROOT.glob(pattern)]
    assert "<!--" not in "\n".join(guides[0].read_text("utf-8").splitlines()[:25])  # first screen
    for path in [*guides, ROOT / "docs/results.md", *ROOT.glob("docs/results/*.md")]:
        text = figures.SHOWN.sub("", path.read_text("utf-8"))
        pattern = f"{FIGURE}|{RATE}" if path in guides else FIGURE
        assert re.findall(pattern, re.sub(r"```.*?```", "", text, flags=re.DOTALL)) == [], path

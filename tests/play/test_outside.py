"""A package from outside adds a game with everything, and no file of Plysmith's knows of it."""

from __future__ import annotations

import io
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

import games
import plysmith
from games import Game, extend
from games.board import Board
from games.file_form import form_of
from games.tic_tac_toe import TicTacToe
from learner.run.learners import make_learner
from learner.run.recipes import recipe_of
from learner.run.request import parser, settings_of
from play.players.opponents import Opponents
from play.terminal import Session
from play.web.catalogue import Catalogue, game_view
from play.web.host import Host
from play.web.limits import ServerLimits
from play.web.runs import Runs
from play.web.server import Pages
from play.words import Words
from programs import outside
from search.alphabeta.techniques import parse_techniques
from search.evaluators.load import as_evaluator

OUTSIDE = Path(__file__).resolve().parents[1] / "outside"
NAME = "sticks:Sticks"


@pytest.fixture
def sticks(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(OUTSIDE))
    yield games.load(NAME)
    for name in [name for name in sys.modules if name.partition(".")[0] == "sticks"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def installed(sticks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package as pip installs it: with its entry points, which its pyproject.toml declares."""
    project = tomllib.loads((OUTSIDE / "pyproject.toml").read_text("utf-8"))["project"]
    info = tmp_path / "site" / "sticks-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sticks\nVersion: 1.0\n")
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(info.parent))
    outside.additions.cache_clear()
    yield
    outside.additions.cache_clear()


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert plysmith.main(list(words)) == 0
    return capsys.readouterr().out


@pytest.mark.plain
def test_each_layer_finds_what_the_package_registered(sticks: Any, tmp_path: Path) -> None:
    games.check_game(sticks, games=2)
    catalogue = Catalogue(tmp_path, tmp_path, [sticks])
    assert catalogue.default(sticks) == "sticks:count"
    view = game_view(sticks)
    assert (view["kind"], view["suffix"], view["sides"]) == ("grid", ".sticks", ("Ann", "Ben"))
    loaded = catalogue.load("sticks:count+table", sticks)
    assert loaded.lookup is not None and loaded.lookup.plain()((4, 0))[0]
    assert not loaded.lookup.plain()((5, 0))[0]
    assert loaded.techniques == parse_techniques("exact,late_moves=0.5", sticks)
    assert as_evaluator(sticks, "count").in_units(1.0) == 2.0
    assert Words.of(sticks).stuck((0, 0)) == "has no stick left"
    assert Session(sticks, None).board() == "sticks: |||||||||"  # type: ignore[arg-type]


@pytest.mark.plain
def test_its_files_are_written_and_read_by_commands(
    sticks: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "games.sticks"
    match = "match", NAME, "count+table", "random", "--games", "2", "--depth", "4", "--plies", "1"
    assert "games" in said(capsys, "play", *match, "--save", str(path))
    (first, second) = form_of(sticks).read(path.read_text(), sticks)
    assert {first.names[0], second.names[0]} == {"count+table", "random"}
    told = said(capsys, "play", "judge", NAME, "count", "--referee", "truth", "--positions", "9")
    assert "count" in told


@pytest.mark.plain
def test_people_play_it_in_its_own_session(
    sticks: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\nquit\n"))
    told = said(capsys, "play", "terminal", NAME, "count", "--depth", "2")
    assert "sticks: |||||||||\n" in told and "Ann to move" in told


def test_its_recipe_is_the_usual_run(sticks: Any) -> None:
    settings = settings_of(parser().parse_args([NAME]))
    assert (settings.learner, settings.games, settings.depth) == ("rootstrap", 6, 2)
    assert (settings.opponents, settings.pacemakers) == (("random", "count"), ("count",))


@pytest.mark.whole_run
def test_it_is_trained(sticks: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "train", NAME, "--run", str(tmp_path / "run"), "--quiet")
    assert as_evaluator(sticks, str(tmp_path / "run" / "best.json")).game is sticks


@pytest.mark.plain
def test_an_installed_package_adds_a_command(
    installed: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, "sticks", "8") == "lost\n"
    assert "\n  sticks   by the package sticks" in said(capsys, "--help")
    assert plysmith.main(["stocks"]) == 2
    assert capsys.readouterr().err.endswith(
        "endgame, sticks; found 'stocks'; did you mean sticks?\n"
    )


@pytest.mark.plain
def test_an_installed_package_adds_a_learner_by_name(installed: None, sticks: Any) -> None:
    settings = settings_of(parser().parse_args([NAME, "--learner", "counting"]))
    learner: Any = make_learner(sticks, settings, None)
    assert (settings.learner, type(learner).__name__) == ("counting", "Counting")
    assert "counting   by the package sticks" in parser().format_help()
    with pytest.raises(ValueError, match="expected one of .*, counting for sticks"):
        recipe_of("reckoning", sticks)


def test_an_installed_package_adds_a_page(installed: None, tmp_path: Path) -> None:
    pages = Pages(Host(Catalogue(tmp_path, tmp_path, []), limits=ServerLimits()), Runs({}))
    assert list(pages.others) == ["sticks"]
    content, kind, _ = pages.files["page-sticks.js"]
    assert content == (OUTSIDE / "sticks/page.js").read_bytes() and "javascript" in kind


@pytest.mark.plain
def test_an_addition_that_fails_says_whose_it_is(
    installed: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr("sticks.additions.main")
    assert plysmith.main(["sticks", "8"]) == 2
    said = "plysmith: sticks: the package sticks fails: module 'sticks.additions' has no attribute"
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.plain
def test_the_nearest_class_has_the_word_and_has_it_once() -> None:
    class Near(TicTacToe):
        extras = (Opponents(("open_lines",)),)

    near: Any = Near()
    assert Opponents.of(near).usual == ("open_lines",)
    assert games.extra(near, Board) is games.extra(TicTacToe(), Board)
    near.extras = (Opponents(("random",)),)
    assert Opponents.of(near).usual == ("random",)
    with pytest.raises(ValueError, match="extras of Near: expected one Opponents, found two"):
        extend(Near, Opponents())
    assert games.extra(Game(), Board) is None

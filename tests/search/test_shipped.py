"""Shipped files are found by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import games
from learner.multiplayer_play import LateStarts
from play.players.opponents import Opponents
from play.players.parse import parse_player
from play.players.thinker import usual_evaluator
from search import EvaluatorError, as_evaluator, load_evaluator
from search.evaluators.load import evaluator_names
from search.evaluators.shipped import DATA, find_file, shipped_files

CHECKERS = games.load("checkers")


@pytest.mark.plain
@pytest.mark.parametrize(
    ("name", "game", "file"),
    [
        ("checkers/samuel", None, "checkers/samuel.json"),
        ("checkers/samuel", "checkers", "checkers/samuel.json"),
        ("checkers/samuel", "backgammon", "checkers/samuel.json"),
        ("samuel", "checkers", "checkers/samuel.json"),
        ("quantised", "checkers", "checkers/quantised.safetensors"),
        ("backgammon/wide", None, "backgammon/wide.safetensors"),
        ("solved", "connect_four", "connect_four/solved.safetensors"),
    ],
)
def test_a_name_stands_for_a_file(name: str, game: str | None, file: str) -> None:
    assert find_file(name, game) == DATA / file
    assert (DATA / file).is_file()


@pytest.mark.plain
@pytest.mark.parametrize(
    ("name", "game"),
    [
        ("samuel", None),
        ("samuel", "backgammon"),
        ("samuel.json", "checkers"),
        ("even.openings", "checkers"),
        ("../checkers/samuel", None),
        ("../pyproject", "checkers"),
        ("/checkers/samuel", None),
        ("checkers/../checkers/samuel", None),
        ("", "checkers"),
        (".", None),
    ],
)
def test_anything_else_is_a_path(name: str, game: str | None) -> None:
    assert find_file(name, game) == Path(name)


@pytest.mark.plain
def test_a_file_goes_before_a_shipped_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkers").mkdir()
    Path("checkers/samuel").write_text("{}")
    assert find_file("checkers/samuel") == Path("checkers/samuel")
    with pytest.raises(EvaluatorError, match="checkers/samuel: expected format"):
        load_evaluator("checkers/samuel")


@pytest.mark.plain
def test_which_files_are_shipped() -> None:
    assert list(shipped_files("backgammon")) == ["wide"]
    assert list(shipped_files("checkers")) == [
        "invented",
        "network",
        "quantised",
        "rootstrap",
        "samuel",
        "samuel1959",
    ]
    assert list(shipped_files("chinese_checkers")) == ["batch"]
    assert list(shipped_files("connect_four")) == ["solved"]
    assert list(shipped_files("sliding24")) == ["bootstrap"]
    assert shipped_files("nim") == shipped_files("..") == {}
    shipped = ["invented", "network", "quantised", "rootstrap", "samuel", "samuel1959"]
    assert evaluator_names(CHECKERS) == [*CHECKERS.evaluators, *shipped]


@pytest.mark.plain
@pytest.mark.parametrize(
    "name", sorted({path.name for path in DATA.iterdir() if path.is_dir()} - {"sliding24"})
)
def test_people_play_against_a_shipped_evaluator_where_there_is_one(name: str) -> None:
    game = games.load(name)
    shipped = Opponents.of(game).shipped
    assert usual_evaluator(game) == shipped and shipped in evaluator_names(game)


@pytest.mark.plain
def test_the_shipped_weights_for_three_are_a_player() -> None:
    game = games.load("chinese_checkers")
    assert Opponents.of(game).shipped == "batch"
    assert Opponents.of(games.load("chinese_checkers6")).shipped == ""
    player = parse_player(game, "batch@max_n,depth=2")
    near, far = game.start(), LateStarts.of(game).position(game, 2, np.random.default_rng(0))
    assert player.evaluator is not None and player.evaluator(far) > player.evaluator(near)


def test_a_shipped_evaluator_is_loaded_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = load_evaluator(DATA / "checkers" / "network.safetensors")
    start = CHECKERS.start()
    assert load_evaluator("checkers/network")(start) == whole(start)
    assert as_evaluator(CHECKERS, "network")(start) == whole(start)
    with pytest.raises(ValueError, match="expected an evaluator of|expected .* backgammon"):
        as_evaluator(CHECKERS, "backgammon/wide")

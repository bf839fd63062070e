"""Shipped files are found by name, and every one is used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import games
from games.backgammon import one_sided
from games.checkers.endgame import results
from games.connect_four import solver
from games.contract import DiceGame, Game
from games.problem import Problem
from play.judging.explanation import explain
from play.matches.balanced import BalancedOpenings
from play.players.opponents import Opponents, usual_evaluator
from play.players.parse import parse_player
from search import PROVEN, Engine, EvaluatorError, load_evaluator, solve
from search.evaluators.files.shipped import DATA, find_file, shipped_files
from search.evaluators.load import evaluator_names
from search.evaluators.samples import sample_positions
from search.lookups.database import Databases

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
    opponents = Opponents.of(game)
    assert opponents.shipped in evaluator_names(game)
    assert usual_evaluator(game).partition("+")[0] == opponents.shipped
    player = parse_player(game, usual_evaluator(game))
    lookup = opponents.lookup or Databases.of(game).usual
    assert (player.lookup.name if player.lookup else "") == lookup


FILES = sorted(f"{path.parent.name}/{path.name}" for path in DATA.glob("*/*"))
EVALUATORS = [name for name in FILES if name.rpartition(".")[0].count(".") == 0]


@pytest.mark.thorough
@pytest.mark.parametrize("file", EVALUATORS)
def test_every_shipped_evaluator_is_loaded_explained_and_plays(file: str) -> None:
    """`test_export.py` exports each; `test_making.py` has the command that makes it."""
    evaluator = load_evaluator(file.rpartition(".")[0])
    game = evaluator.game
    positions = [p for p in sample_positions(game, 40) if game.outcome(p) is None][::4]
    assert np.ptp(evaluator.values(positions)) > 0, "expected different values"
    for position in positions[-1:]:
        parts = [one.value for one in explain(evaluator, position)]
        assert sum(parts) == pytest.approx(evaluator.in_units(evaluator(position)), abs=1e-4)
    if isinstance(game, Problem):
        solution = solve(game, positions[1], evaluator, method="beam", width=100)
        position = positions[1]
        for move in solution.moves:
            position = game.play(position, move)
        assert game.outcome(position) == 0 and solution.moves
        return
    engine = Engine(game, evaluator)
    rolled = {"roll": game.dice.parse("31")} if isinstance(game, DiceGame) else {}
    result = engine.search(game.start(), depth=1, **rolled)
    assert result.move in game.legal_moves(game.start(), *rolled.values())
    assert np.isfinite(result.value)


def use_openings(game: Game, path: Path) -> None:
    """The lines are legal, and a file of even ones is that of usual matches."""
    openings = BalancedOpenings(game, path)
    assert len(openings.lines) > 600 and len(set(openings.lines)) == len(openings.lines)
    for line in openings.lines[::50]:
        position = game.start()
        for move in line:
            position = game.play(position, move)
        assert game.outcome(position) is None


def use_race(game: Game, path: Path) -> None:
    """A lone checker on the ace point is off with the first roll."""
    assert one_sided.FILE == path
    assert one_sided.event(*one_sided.weights(), 1 << 4, 0, 0)[0] == 1.0


def use_bounds(game: Game, path: Path) -> None:
    """The first player wins from the start, which needs no search with these bounds."""
    assert solver.FILE == path
    lookup = parse_player(game, "solved+openings@exact").lookup
    result = Engine(game, "solved", lookup=lookup).search(game.start(), depth=2)
    assert result.value > PROVEN


def use_results(game: Game, path: Path) -> None:
    """A king more wins here, by the database that the shipped evaluator consults."""
    assert results.FILE == path
    lookup = parse_player(game, "quantised").lookup
    at = game.parse_position("B:WK4,K13:BK7,K11,K29")
    assert lookup is not None and lookup.plain()(at)[1] == 1.0


USES = {
    "checkers/endgame5.results.safetensors": use_results,
    "checkers/even.openings.json": use_openings,
    "checkers/biased.openings.json": use_openings,
    "backgammon/race.rolls.safetensors": use_race,
    "connect_four/openings.bounds.safetensors": use_bounds,
}


@pytest.mark.parametrize("file", [name for name in FILES if name not in EVALUATORS])
def test_every_other_shipped_file_is_used(file: str) -> None:
    path = DATA / file
    USES[file](games.load(path.parent.name), path)

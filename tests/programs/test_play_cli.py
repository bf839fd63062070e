"""Matches, ladders and judgements from the command line."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import games
from games.checkers.pdn import read_games
from play.__main__ import main
from search import as_evaluator

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Returns files that name a player."""
    folder = tmp_path_factory.mktemp("files")
    found = {}
    for game, name in (("checkers", "material"), ("tic_tac_toe", "open_lines")):
        found[game] = folder / f"{game}.json"
        as_evaluator(games.load(game), name).save(found[game])
    return found


def last_json(text: str) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text.splitlines()[-1], parse_constant=refuse)


def run(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "play", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False, **options
    )


# Valid input


def test_a_ladder_of_neighbours(capsys: pytest.CaptureFixture[str]) -> None:
    players = ["random", "centre", "hand"]
    words = ["ladder", "connect_four", *players, "--games", "4", "--nodes", "20", "--quiet"]
    assert main([*words, "--neighbours"]) == 0
    played = re.findall(r"^ {4}(\S+) against (\S+): .* of 4 games$", capsys.readouterr().out, re.M)
    assert sorted(map(sorted, played)) == [["centre", "hand"], ["centre", "random"]]


def test_a_game_at_the_terminal_begins_with_a_position(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("position\nquit\n"))
    assert main(["terminal", "checkers", "random", "--position", "B:W18:B15"]) == 0
    assert "B:W18:B15" in capsys.readouterr().out


def test_match(capsys: pytest.CaptureFixture[str], tmp_path: Path, files: dict[str, Path]) -> None:
    pdn = tmp_path / "new" / "games.pdn"
    first = str(files["checkers"])
    arguments = ["match", "checkers", first, "random", "--games", "6", "--depth", "2", "--quiet"]
    assert main([*arguments, "--json", "--pdn", str(pdn), "--sprt=-50,200"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert f"{first} against random: depth 2 a move" in out
    assert "games 6: won" in out
    assert "test of normalised Elo -50 against +200" in out
    assert "all games different; 0 pairs left out for repeating earlier games" in out
    figures = last_json(out)
    assert figures["games"] == figures["wins"] + figures["draws"] + figures["losses"] == 6
    assert figures["score"][0] == (figures["wins"] + figures["draws"] / 2) / 6
    assert (figures["verdict"], figures["interrupted"]) == ("continue", False)
    read = list(read_games(pdn.read_text("utf-8"), games.load("checkers")))
    assert [game.problems for game in read] == 6 * [[]]
    assert [game.tags["Black"] for game in read] == 3 * [first, "random"]
    outcomes = [game.record.outcome() for game in read if game.record is not None]
    points = [o if i % 2 == 0 else -(o or 0) for i, o in enumerate(outcomes)]
    assert points.count(1.0) == figures["wins"]
    assert points.count(-1.0) == figures["losses"]


def test_limits_and_openings(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["match", "checkers", "rote", "classic", "--games", "2", "--quiet"]
    options = ["--nodes", "500", "--seconds", "5", "--adjudicate", "endgame", "--recover"]
    assert main([*arguments, *options, "--plies", "4"]) == 0
    out = capsys.readouterr().out
    assert "500 nodes, 5.0 s a move, openings of 4 plies or more, adjudicated by endgame" in out


def test_a_small_game_says_how_many_it_counted(capsys: pytest.CaptureFixture[str]) -> None:
    game = "tests.play.test_match:Pile"
    assert main(["match", game, "random", "random", "--games", "999", "--quiet", "--json"]) == 0
    out = capsys.readouterr().out
    figures = last_json(out)
    assert 10 < figures["games"] < 40
    assert f"no more than {figures['games']} different games from these openings" in out
    assert f"{figures['repeated_pairs']} pair" in out and " left out for repeating earlier" in out


def test_no_opening_is_even_enough(capsys: pytest.CaptureFixture[str]) -> None:
    game = "tests.play.test_match:Ring"
    assert main(["match", game, "random", "random", "--plies", "40", "--quiet", "--json"]) == 0
    out = capsys.readouterr().out
    assert "no games played" in out
    assert last_json(out)["games"] == 0
    assert main(["ladder", game, "random", "random", "--plies", "40", "--quiet"]) == 2


@pytest.mark.parametrize(
    "line",
    [
        "match tic_tac_toe random random --games 2 --plies 1 --quiet",
        "match backgammon random random --games 2 --quiet",
        "explain tree [[1]] --tree",
        "openings tic_tac_toe {folder}/o.json --plies 0 --nodes 1 --within 9 --quiet",
    ],
)
def test_one_thing_is_not_called_many(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.format(folder=tmp_path).split()) == 0
    out = capsys.readouterr().out
    assert re.search(r"\b1 [a-z]", out)
    assert not re.search(r"(?<![.,\d])1 [a-z]+s\b", out.replace("1 s ", "")), out


# As a program


def test_program() -> None:
    found = run("match", *"tic_tac_toe random random --games 4 --depth 1 --json".split())
    assert found.returncode == 0
    assert last_json(found.stdout)["games"] == 4
    assert found.stderr == ""  # no terminal, and nothing to tell within ten seconds

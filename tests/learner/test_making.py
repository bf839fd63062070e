"""`plysmith make`: the shipped files from the commands that stand with their games."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import games
from games import kernels
from games.checkers.endgame.__main__ import parser as endgame
from learner.__main__ import parser as learner_parser
from learner.run.folder import CHECKPOINT
from learner.run.making import DONE, Making, Makings, main, make
from learner.run.request import parser as train_parser
from learner.run.request import settings_of
from play.__main__ import parser as play_parser
from search.evaluators.files.shipped import DATA

#: A run of seconds, and a file of openings that the run's evaluator judges.
TINY = Making(
    (
        "train tic_tac_toe --learner td --games 4 --depth 1 --snapshots 1 --snapshot-games 2"
        " --final-games 2 --match-games 2 --quiet --run {folder}/run",
        "play openings tic_tac_toe {folder}/even.json --judge {folder}/run/last.json"
        " --plies 1 2 --nodes 10 --within 0.02 --quiet",
    ),
    "even.json",
    "seconds",
)


@pytest.mark.whole_run
@pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")
def test_a_stopped_making_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "with space"
    assert make(TINY, folder) == 0
    first = (folder / "even.json").read_bytes()
    assert "plysmith play openings" in capsys.readouterr().out
    assert make(TINY, folder) == 0
    assert capsys.readouterr().out == "", "both commands are finished"
    # as if it had been stopped at the end of the run: a run goes on, the openings are found anew
    (folder / DONE).unlink()
    (folder / "even.json").unlink()
    assert (folder / "run" / CHECKPOINT).is_file()
    assert make(TINY, folder) == 0
    assert f"plysmith train tic_tac_toe --resume {folder}/run" in capsys.readouterr().out
    assert (folder / "even.json").read_bytes() == first
    other = Making((TINY.commands[1], TINY.commands[0]), TINY.result, TINY.time)
    with pytest.raises(
        ValueError, match="expected the command .* of this version, found .*; begin"
    ):
        make(other, folder)


@pytest.mark.plain
def test_a_command_that_fails_ends_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = Making(("train chess --run {folder}/run", *TINY.commands), "x", "no time")
    assert make(broken, tmp_path) == 2
    assert "chess" in capsys.readouterr().err
    assert not (tmp_path / DONE).exists()


@pytest.mark.plain
@pytest.mark.parametrize("name", [path.name for path in DATA.iterdir() if path.is_dir()])
def test_every_shipped_file_has_commands_that_can_be_typed(name: str, tmp_path: Path) -> None:
    """A card without a command gives the reason."""
    known = Makings.of(games.load(name)).of_files
    files = {f"{short}{Path(one.result).suffix}" for short, one in known.items()}
    shipped = {path.name for path in (DATA / name).iterdir()}
    assert files <= shipped
    page = (DATA / "README.md").read_text("utf-8")
    cards = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE))
    for file in shipped:
        short = file.rpartition(".")[0]
        card = cards.get(f"{name}/{short}") or cards[f"{name}/{file}"]
        assert (f"- **Command:** `plysmith make {name}/{short}`" in card) == (file in files)
        assert ("- **Not by one command:** " in card) == (file not in files)
    for one in known.values():
        for command in one.commands:
            words = [word.format(folder=tmp_path) for word in command.split()]
            if words[0] == "train":
                settings_of(train_parser().parse_args(words[1:]))
            else:
                parsers = {"play": play_parser, "learner": learner_parser, "endgame": endgame}
                parsers[words[0]]().parse_args(words[1:])


@pytest.mark.plain
def test_the_command_lists_and_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([]) == 0
    listed = capsys.readouterr().out
    assert "checkers/samuel" in listed and "sliding24/bootstrap" in listed
    assert main(["checkers/magic"]) == 2
    assert "name: expected one of checkers/network" in capsys.readouterr().err
    # a finished folder is compared with what ships
    monkeypatch.chdir(tmp_path)
    known = Makings.of(games.load("checkers")).of_files["samuel"]
    folder = Path("runs/made/checkers/samuel")
    (folder / "run").mkdir(parents=True)
    (folder / DONE).write_text(json.dumps(known.commands))
    for shipped, said in (
        ("checkers/samuel", "the shipped checkers/samuel, byte for byte"),
        ("checkers/rootstrap", "other values than the shipped checkers/samuel"),
    ):
        (folder / known.result).write_bytes((DATA / f"{shipped}.json").read_bytes())
        assert main(["checkers/samuel"]) == 0
        assert said in capsys.readouterr().out

"""Every option of every command is tried by a test: one that none names fails here."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import games
import plysmith
from games.checkers.endgame.__main__ import parser as endgame_parser
from learner.__main__ import parser as learner_parser
from learner.run.command_line import parser as train_parser
from learner.run.recipes import HEURISTICS, RECIPES
from play.__main__ import parser as play_parser
from play.commands.options import GAME_HELP

TESTS = Path(__file__).resolve().parents[1]
PARSERS = {
    "play": play_parser, "learner": learner_parser, "train": train_parser,
    "endgame": endgame_parser,
}  # fmt: skip
#: Options that are refused where they would do nothing, or read: a line, and what is said of it.
REFUSED = [
    *(
        (f"{line} --features {{none}}", "expected a file with features, found none")
        for line in (
            "play ladder checkers random material",
            "play openings checkers o.json",
            "play judge checkers material",
            "play rollout backgammon start wide",
            "play explain checkers start material",
        )
    ),
    ("play ladder checkers random material --time x", "time: expected SECONDS.INCREMENT"),
    ("play rollout backgammon 4HPwATDgc/ABMA wide --fewest 9", "expected --confidence as well"),
    ("play rollout backgammon 4HPwATDgc/ABMA wide --cube --threads 1", "without --cube, found bo"),
    ("play rollout backgammon 4HPwATDgc/ABMA wide@2 --cube", "without options, found wide@2"),
    (
        "play rollout backgammon XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:7:10 wide --cube",
        "expected a position before the roll",
    ),
    ("play match backgammon random hand --cube --quiet", "chances of outcomes, found random"),
    ("play judge tic_tac_toe random --referee truth --games 0", "games: expected at least 1"),
    ("play judge chinese_checkers hand", "expected a game for two, found chinese_checkers for 3"),
    ("play engine --gnubg-socket --turned-pos", "--turned-pos: expected --hub as well, found none"),
    ("play engine --hub --seconds -1", "seconds: expected more than 0, found -1.0"),
    ("play engine --hub --met {none}", "--met: expected a game with a cube, found checkers"),
    ("play terminal checkers --first black", "--first: expected a game with dice, found checkers"),
    ("play terminal checkers --seed 3", "--seed: expected a game with dice, found checkers"),
    ("play terminal checkers --dice", "--dice: expected a game with dice, found checkers"),
    ("play terminal checkers --cube", "expected a game with a cube, found checkers"),
    ("play terminal backgammon --beavers", "--beavers: expected --cube, found a game without"),
    ("play backgammon --met {none}", "--met: expected --cube or --match as well, found neither"),
    ("learner calibrate backgammon wide --nodes 5", "--nodes: expected a game without dice, fo"),
    ("learner calibrate backgammon wide --plies 5", "--plies: expected a game without dice, fo"),
    ("learner calibrate checkers material --threads 0", "--threads: expected at least 1, found 0"),
    ("learner prefilter backgammon wide --output {folder}", "--output: expected .* found folder"),
    *(
        (
            f"train checkers --learner {name} --{option}",
            f"--{option[:4]}.*: expected none for {name}",
        )
        for name in ("samuel1959", "rote", "book", "samuel1967")
        for option in ("jobs 3", "backend loky")
    ),
    ("train backgammon --learner tdgammon --jobs 2", "--jobs: expected none for tdgammon, which"),
    ("train backgammon --learner backups --jobs 2", "in this process: --set threads=N for more"),
    ("train sliding8 --learner admissible --jobs 2", "--jobs: expected none for admissible, wh"),
]


def options() -> Iterator[tuple[str, list[str]]]:
    """Yields each command with each of its options; that of a game is tried as `terminal`."""

    def walk(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, list[str]]]:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for word, inner in action.choices.items():
                    if word not in games.names():
                        yield from walk(inner, f"{name} {word}")
            elif action.option_strings and not isinstance(action, argparse._HelpAction):
                yield name, list(action.option_strings)

    for program, parser in PARSERS.items():
        yield from walk(parser(), program)


@pytest.mark.plain
def test_a_test_names_every_option_of_every_command() -> None:
    texts = [path.read_text("utf-8") for path in TESTS.rglob("test_*.py")]
    untried = []
    for command, names in options():
        word = re.compile(rf"\b{command.split()[-1]}\b")
        option = re.compile("|".join(rf"[\"' ]{re.escape(name)}(?![\w-])" for name in names))
        if not any(word.search(text) and option.search(text) for text in texts):
            untried.append(f"{command} {names[0]}")
    assert untried == []


@pytest.mark.plain
def test_the_page_names_the_learners_that_learn_in_one_process() -> None:
    page = (TESTS.parent / "docs" / "train.md").read_text("utf-8")
    said = page[: page.index(" learn in one process and refuse")].rpartition(". ")[2]
    alone = {
        name
        for name, recipe in (*RECIPES.items(), *HEURISTICS.items())
        if "workers" not in recipe.load()().get_params(deep=False)
    }
    assert set(re.findall(r"`(\w+)`", said)) == alone


@pytest.mark.plain
def test_help_names_every_game_and_only_players_that_are_taken() -> None:
    commands = next(a for a in play_parser()._actions if isinstance(a.choices, dict)).choices
    for name, command in commands.items():
        told = " ".join(command.format_help().split())
        if any(action.help == GAME_HELP for action in command._actions):
            assert ", ".join(games.names()) in told
        taken = name in ("match", "ladder", "judge")
        assert ("gnubg:0" in told) == taken
        assert "--match" not in told or "match" in [a.dest for a in command._actions], name


@pytest.mark.parametrize(("line", "message"), REFUSED, ids=[line for line, _ in REFUSED])
def test_an_option_that_would_do_nothing_is_refused(
    line: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = line.format(none=tmp_path / "none", folder=tmp_path).split()
    monkeypatch.chdir(tmp_path)
    assert plysmith.main(words) == 2
    error = capsys.readouterr().err
    assert re.search(message, error) and error.count("\n") == 1, error
    assert list(tmp_path.rglob("*.*")) == []

"""Every option of every command is tried by a test: one that none names fails here."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import games
from games.checkers.endgame.__main__ import parser as endgame_parser
from learner.__main__ import parser as learner_parser
from learner.run.recipes import HEURISTICS, RECIPES
from learner.run.request import parser as train_parser
from learner.tuning.command import parser as tune_parser
from play.__main__ import parser as play_parser
from play.commands.options import GAME_HELP

TESTS = Path(__file__).resolve().parents[1]
PARSERS = {
    "play": play_parser, "learner": learner_parser, "train": train_parser,
    "endgame": endgame_parser, "tune": tune_parser,
}  # fmt: skip


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
    paths = [*TESTS.rglob("test_*.py"), TESTS / "programs/errors/refused.txt"]
    texts = [path.read_text("utf-8") for path in paths]
    about: dict[str, str] = {}  # the texts that name a command
    untried = []
    for command, names in options():
        name = command.split()[-1]
        word = re.compile(rf"\b{name}\b")
        if name not in about:
            about[name] = "\n".join(text for text in texts if word.search(text))
        option = re.compile("|".join(rf"[\"' ]{re.escape(name)}(?![\w-])" for name in names))
        if not option.search(about[name]):
            untried.append(f"{command} {names[0]}")
    assert untried == []


@pytest.mark.plain
def test_the_page_names_the_learners_that_learn_in_one_process() -> None:
    page = (TESTS.parent / "docs" / "train.md").read_text("utf-8")
    said = page[: page.index("learn in one process and refuse")].rpartition(". ")[2]
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

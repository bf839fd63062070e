"""A match of an engine with new numbers in its source against the engine as it was."""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from play.commands.contest import Contest
from play.commands.match import GamesBar, add_contest_options
from play.commands.options import add_game, load_game
from play.players.parse import parse_player
from play.ratings.sprt import Sprt
from play.ratings.statistics import MatchSummary
from programs.arguments import Parser

__all__ = ["EngineMatch"]

#: Stands for the folder in which an engine was built.
PLACE = "{}"


class EngineMatch:
    """Builds two copies of an engine's source, one with new numbers, and plays them.

    words: game, player and options as those of `plysmith play match`; `{}` in the player stands for
        the folder of a copy.
    build: the command that builds the engine, run in each copy; nothing else is run.
    source: the folder of the engine, which stays as it is.
    patches: files in this folder that get new numbers.

    Raises ValueError for words without a player that names `{}`, or a patch outside the folder.
    """

    def __init__(self, words: str, build: str, source: Path, patches: list[Path]) -> None:
        parser = Parser(prog="--play")
        add_game(parser)
        parser.add_argument("player")
        parser.add_argument("--sprt", default="0,10")
        add_contest_options(parser, "at most 4000")
        self.options: argparse.Namespace = parser.parse_args(shlex.split(words))
        if PLACE not in self.options.player:
            raise ValueError(
                f"--play: expected a player such as uci:{PLACE}/engine, found {self.options.player}"
            )
        self.options.games = self.options.games or 4000
        self.options.save = None
        self.build, self.source = build, source.resolve()
        for path in patches:
            if not path.resolve().is_relative_to(self.source):
                raise ValueError(f"--patch: expected a file in {source}, found {path}")

    def play(self, new: Mapping[Path, str], folder: Path, say: Callable[[str], None]) -> str:
        """Returns the result in words, after a sequential test.

        new: the text of each changed file.
        folder: where the copies are made, `before` and `after`.
        say: told of each command before it is run.

        Raises ValueError if a build fails, and the errors of a match.
        """
        players = []
        for name, changed in (("after", new), ("before", {})):
            place = folder.resolve() / name
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(self.source, place, ignore=shutil.ignore_patterns(".git", folder.name))
            for path, text in changed.items():
                (place / path.resolve().relative_to(self.source)).write_text(text, "utf-8")
            say(f"in {folder / name}: {self.build}")
            made = subprocess.run(
                shlex.split(self.build), cwd=place, capture_output=True, text=True, errors="replace"
            )
            if made.returncode:
                last = [*(made.stderr or made.stdout).strip().splitlines(), "nothing"][0]
                raise ValueError(f"--build: expected status 0, found {made.returncode}: {last}")
            players.append(self.options.player.replace(PLACE, str(place)))
        game = load_game(self.options)
        contest = Contest(game, self.options, ladder=False)
        both = [parse_player(game, player) for player in players]
        contest.prepare(both)
        with contest.workers(both) as workers, GamesBar(self.options, None) as bar:
            _, (match,) = contest.play(both, workers=workers, progress=bar)
        if match.failure:
            raise ChildProcessError(match.failure)
        assert contest.sprt is not None
        return verdict(match.summary(), contest.sprt)


def verdict(summary: MatchSummary, test: Sprt) -> str:
    """Returns what a match of new numbers against old ones says, by a sequential test."""
    tally, decided = summary.tally, test.verdict(summary.tally)
    lost = replace(test, elo0=-test.elo1, elo1=-test.elo0)
    said = "not proved: the engine gains less than asked, or nothing"
    if decided == "accept H1":
        said = "gained: the engine is stronger with the fitted weights"
    elif lost.llr(tally) <= lost.lower:
        said = "lost: the engine is weaker with the fitted weights"
    elif decided != "accept H0":
        said = "not proved: the test has not decided"
    elo = "{value:+.0f} [{low:+.0f}, {high:+.0f}]".format(**asdict(summary.elo))
    return f"{said} ({summary.games} games, Elo {elo}; {test.text(tally)})"

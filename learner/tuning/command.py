"""Tune a player's numbers in a game for two without dice, and test the result: `plysmith tune`."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learner.options import Range
from play.commands.match import GamesBar, add_contest_options
from play.commands.options import add_game, load_game
from play.players.grammar import PLAYER_HELP
from programs.arguments import Parser
from programs.ending import exit_status
from programs.waiting import WorkBar

if TYPE_CHECKING:
    from learner.tuning.spsa import Spsa

PROGRAM = "python -m learner.tuning.command"
#: Probability with which the test at the end accepts a change that gains nothing.
RISK = 0.02


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """Returns the command line."""
    result = Parser(prog=program, description=(__doc__ or "").partition(":")[0])
    add = result.add_argument
    add_game(result)
    add("player", help=PLAYER_HELP)
    add(
        "parameters",
        nargs="+",
        metavar="NAME=START:LOW:HIGH[:STEP]",
        help="a technique of the search, a term of a linear evaluator or an option of an engine;"
        " STEP (default a tenth of the range) should make some Elo of difference",
    )
    add("--run", type=Path, default=Path("runs/tune"), metavar="FOLDER", help="default: runs/tune")
    add("--resume", action="store_true", help="continue the tune that was stopped in the folder")
    add("--iterations", type=int, default=400, metavar="N", help="steps of the path (default 400)")
    add("--pairs", type=int, default=4, metavar="N", help="pairs of games a step (default 4)")
    add("--sprt", default="0,10", metavar="ELO0,ELO1", help="test at the end (default 0,10)")
    add_contest_options(result, "at most 4000, of the test")
    result.set_defaults(save=None)
    return result


def main(arguments: list[str] | None = None, program: str = PROGRAM) -> int:
    """Run the command; returns its exit status. `program` is the name in usage and errors."""
    options = parser(program).parse_args(arguments)
    return exit_status(program, lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    from games.kinds import FOR_TWO_WITHOUT_DICE
    from learner.tuning.tunable import Tunable
    from learner.tuning.tune import Tune
    from play.commands.contest import Contest

    options.games = 4000 if options.games is None else options.games
    for name in ("iterations", "pairs"):
        Range(1).check(f"--{name}", getattr(options, name))
    game = load_game(options)
    FOR_TWO_WITHOUT_DICE.expect(game, where="game")
    contest = Contest(game, options, ladder=False)
    assert contest.sprt is not None
    if contest.sprt.elo0 < 0:
        raise ValueError(f"--sprt: expected ELO0 of at least 0, found {contest.sprt.elo0:g}")
    contest.sprt = replace(contest.sprt, alpha=RISK)
    tunable = Tunable(game, options.player, options.parameters)
    player = tunable.player({})
    contest.prepare([player])
    steps = options.iterations
    with (
        contest.workers([player]) as workers,
        WorkBar(steps, "steps", quiet=options.quiet) as bar,
        GamesBar(options, None) as games,
    ):

        def progress(spsa: Spsa) -> None:
            setting = spsa.setting(spsa.theta).items()
            bar.note = ", ".join(f"{name} {value:g}" for name, value in setting)
            bar.update(spsa.done - bar.done)

        tune = Tune(
            contest, tunable, options.run, iterations=steps, pairs=options.pairs, workers=workers,
            say=lambda text: tqdm.write(text, file=sys.stderr),  # above the bars
        )  # fmt: skip
        report = tune.run(resume=options.resume, progress=progress, tested=games)
    for name, value in report["tuned"].items():
        print(f"{name}: {report['start'][name]:g} -> {value:g}")
    print(f"tuned: {report['player']}")
    print(verdict(report))
    if options.json:
        print(json.dumps(report))
    return 0


def verdict(report: dict[str, Any]) -> str:
    """Returns the verdict of the test in words."""
    if "test" not in report:
        return "not proved: the tune ended where it began"
    words = {
        "accept H1": "proved: the tuned player is stronger than the start",
        "accept H0": "not proved: the tuned player gains less than asked, or nothing",
    }
    said = words.get(report["verdict"], "not proved: the test has not decided")
    return f"{said} ({report['games']} games, {report['limits']}; {report['test']})"


if __name__ == "__main__":
    sys.exit(main())

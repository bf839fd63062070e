"""Learn chances, prefilters and terms from an evaluator's games (`train.py` trains evaluators)."""

from __future__ import annotations

import argparse
import functools
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from learner.invention.command import add_options
from learner.options import CALIBRATION_GAMES, CALIBRATION_NODES, CALIBRATION_PLIES, Range
from play.commands.options import check_writable, refuse
from programs.arguments import THREADS, Parser
from programs.ending import exit_status

if TYPE_CHECKING:
    from games.contract import Game
    from learner.regression.calibration import CalibrationSample

PROGRAM = "python -m learner"
#: Words for the evidence of a calibration.
FIGURES = {
    "log_loss": "log loss of the chances, nats a position",
    "guess": "log loss of the shares of the results",
    "error": "mean distance of predicted and observed results, in bins of equal numbers of"
    " positions",
}


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """Returns the command line."""
    result = Parser(prog=program, description=__doc__)
    commands = result.add_subparsers(dest="command", required=True)
    calibrate = commands.add_parser(
        "calibrate", help="learn the chances of win, draw and loss that values stand for"
    )
    _calibrate_options(calibrate)
    prefilter = commands.add_parser(
        "prefilter", help="make a small network that selects moves for a large one to value"
    )
    _prefilter_options(prefilter)
    invent = commands.add_parser(
        "invent", help="invent terms from the geometry of a board, as a file that people can read"
    )
    add_options(invent)
    return result


def main(arguments: list[str] | None = None, program: str = PROGRAM) -> int:
    """Run a command; returns its exit status. `program` is the name in usage and errors."""
    options = parser(program).parse_args(arguments)
    return exit_status(program, lambda: int(options.run(options)))


def _calibrate_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("game", help="checkers, or another game")
    add("evaluator", help="a file, or an evaluator by name")
    add(
        "--games",
        type=int,
        nargs="+",
        default=[CALIBRATION_GAMES],
        metavar="N",
        help="games of self-play: one number, or one for each of --nodes, for each seed"
        f" (default {CALIBRATION_GAMES})",
    )
    add(
        "--nodes",
        type=int,
        nargs="+",
        metavar="N",
        help=f"without dice: positions searched for each move (default {CALIBRATION_NODES});"
        " with several numbers the chances depend on the size of the search",
    )
    add(
        "--store",
        type=Path,
        metavar="FOLDER",
        help="folder for the games of several --nodes, which are continued from there",
    )
    add(
        "--plies",
        type=int,
        metavar="N",
        help="without dice: length of the shortest random openings in plies"
        f" (default {CALIBRATION_PLIES})",
    )
    add(
        "--seed",
        type=int,
        nargs="+",
        default=[0],
        metavar="N",
        help="decides the openings (default 0); several seeds need several --nodes",
    )
    add("--threads", type=int, default=THREADS, metavar="N", help=f"default {THREADS}")
    add(
        "--output",
        type=Path,
        metavar="FILE",
        help="file to write (default: the evaluator's file, whose values stay the same)",
    )
    command.set_defaults(run=_run_calibrate)


def _run_calibrate(options: argparse.Namespace) -> int:
    import games
    from games.problem import refuse_problem
    from learner.regression.calibration import calibration_of
    from search import as_evaluator
    from search.evaluators.files.shipped import find_file

    Range(1).check("--threads", options.threads)
    game = games.load(options.game)
    refuse_problem(game)
    if game.dice:
        refuse(options, ("nodes", "plies"), "a game without dice", game)
    evaluator = as_evaluator(game, options.evaluator)
    file = find_file(options.evaluator, game.name)
    output = options.output or (file if file.is_file() and evaluator.suffix else None)
    if output is not None:
        check_writable("--output", output)
    sample = _calibration_sample(options, game, evaluator)
    calibration = calibration_of(sample, game)
    print("on the half of the games that the fit did not use")
    for name, value in calibration.evidence.items():
        print(f"{FIGURES.get(name, name)}: {value}")
    if output is None:
        print(f"{evaluator.name} is not a file: nothing written")
        return 0
    evaluator.calibration = calibration
    evaluator.save(output)
    print(f"written: {output}")
    return 0


def _calibration_sample(
    options: argparse.Namespace, game: Game, evaluator: Any
) -> CalibrationSample:
    """Returns the positions of the games of self-play that the options ask for."""
    from learner.regression.calibration import self_play_sample
    from learner.regression.played import games_at
    from programs.waiting import WorkBar
    from search.alphabeta.techniques import as_techniques

    nodes = options.nodes or [CALIBRATION_NODES]
    for name in ("nodes", "seed"):
        numbers = getattr(options, name) or []
        if len(set(numbers)) < len(numbers):
            raise ValueError(f"--{name}: expected each number once, found {numbers}")
    samples = len(nodes) * len(options.seed)
    if len(options.games) not in (1, samples):
        raise ValueError(f"--games: expected one number or {samples}, found {len(options.games)}")
    if len(nodes) == 1 and options.store is not None:
        raise ValueError("--store: expected several --nodes, found one")
    if len(nodes) == 1 and len(options.seed) > 1:
        raise ValueError(f"--seed: expected one number, found {len(options.seed)}")
    games = options.games * (samples if len(options.games) == 1 else 1)
    with WorkBar(sum(games), "games") as bar:
        if len(nodes) == 1:
            return self_play_sample(
                game, evaluator, games=games[0], nodes=nodes[0],
                plies=CALIBRATION_PLIES if options.plies is None else options.plies,
                seed=options.seed[0], threads=options.threads, progress=bar.update,
            )  # fmt: skip
        techniques = as_techniques("selective", game)
        with TemporaryDirectory() as room:
            return games_at(
                game, evaluator, techniques, nodes=nodes, games=games, seeds=options.seed,
                folder=options.store or Path(room), threads=options.threads, progress=bar.update,
            )  # fmt: skip


def _prefilter_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("game", help="a game with dice, such as backgammon")
    add("evaluator", help="the file of a network of outcomes, or an evaluator by name")
    add("--games", type=int, default=9600, metavar="N", help="games of its play (default 9600)")
    add("--units", type=int, default=256, metavar="N",
        help="units of the first of two hidden layers (default 256)")  # fmt: skip
    add("--passes", type=int, default=5, metavar="N", help="passes over the decisions (default 5)")
    add("--lost", type=float, default=0.015, metavar="T",
        help="greatest loss by excluded moves, in thousandths (default 0.015)")  # fmt: skip
    add("--seed", type=int, default=0, help="seed of games and first weights (default 0)")
    add("--device", default="cpu", choices=("cpu", "cuda", "auto"),
        help="device on which torch trains: cpu (default), cuda or auto")  # fmt: skip
    add("--output", type=Path, metavar="FILE",
        help="file to write (default: the evaluator's, whose values stay the same)")  # fmt: skip
    command.set_defaults(run=_run_prefilter)


def _run_prefilter(options: argparse.Namespace) -> int:
    import games
    from learner.td_gammon.prefilter import make_prefilter
    from search import as_evaluator
    from search.evaluators.files.shipped import find_file
    from search.evaluators.outcome_network import OutcomeNetwork

    for name, least in (("games", 16), ("units", 1), ("passes", 1), ("seed", 0), ("lost", 0)):
        Range(least).check(f"--{name}", getattr(options, name))
    game = games.load(options.game)
    evaluator = as_evaluator(game, options.evaluator)
    if not isinstance(evaluator, OutcomeNetwork):
        raise ValueError(f"evaluator: expected a network of outcomes, found {evaluator!r}")
    output = options.output or find_file(options.evaluator, game.name)
    check_writable("--output", output)
    evaluator.prefilter = make_prefilter(
        evaluator, games=options.games, units=options.units, passes=options.passes,
        lost=options.lost / 1000, seed=options.seed, device=options.device,
        report=functools.partial(print, flush=True),
    )  # fmt: skip
    evaluator.save(output)
    print(f"written: {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

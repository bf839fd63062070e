"""Matches, ladders and judgements from the command line: `python -m play`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from games.program import exit_status
from play.commands.book import add_book_commands
from play.commands.engine import add_engine_commands
from play.commands.rollout import add_rollout_options, run_dice_rollout
from play.commands.terminal import add_terminal_commands
from play.commands.web import add_web_command
from play.players.grammar import PLAYER_HELP, describe_players

GAME_HELP = "checkers, backgammon, tic_tac_toe, nim, or module:Class for a game of your own"
FEATURES_HELP = "a file with terms of your own, for evaluators that were learned with them"
DEPTH_HELP = "a move (default 5 if no limit is given; with dice GNU Backgammon's plies, default 0)"
LUCK_HELP = (
    "with dice: also the result without luck, by an evaluator's static values (that of a player"
    " unless given)"
)

BACKEND_HELP = (
    "who plays: threads (default), loky (processes) or dask:tcp://HOST:PORT (the machines of a"
    " cluster)"
)
JOBS_HELP = "games at a time (default 2, with dask as many as the cluster has threads)"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(prog="python -m play", description=__doc__)
    commands = result.add_subparsers(dest="command", required=True)

    match = commands.add_parser("match", help="two players, paired openings, colours swapped")
    match.add_argument("game", help=GAME_HELP)
    match.add_argument("--features", metavar="FILE", help=FEATURES_HELP)
    match.add_argument("first", help=PLAYER_HELP)
    match.add_argument("second", help=PLAYER_HELP)
    _match_options(match, "400; with dice 4000")
    match.add_argument("--luck", nargs="?", const="", metavar="EVALUATOR", help=LUCK_HELP)
    match.add_argument(
        "--sprt",
        metavar="ELO0,ELO1",
        help="stop when the test has decided; --sprt=-5,0 if it begins with a minus",
    )
    match.add_argument(
        "--model", choices=("normalised", "logistic"), default="normalised", help="of the test"
    )

    describe_players(match)
    ladder = commands.add_parser(
        "ladder", help="a round robin with joint ratings, or points a game"
    )
    ladder.add_argument("game", help=GAME_HELP)
    ladder.add_argument("--features", metavar="FILE", help=FEATURES_HELP)
    ladder.add_argument(
        "players", nargs="+", help=f"{PLAYER_HELP}; without dice the first is rated 0"
    )
    _match_options(ladder, "200 of each two; with dice 4000")
    ladder.add_argument("--plot", type=Path, metavar="FILE", help="picture of it (PNG)")

    describe_players(ladder)
    judge = commands.add_parser("judge", help="moves and values against a deeper search")
    judge.add_argument("game", help=GAME_HELP)
    judge.add_argument("--features", metavar="FILE", help=FEATURES_HELP)
    judge.add_argument("evaluators", nargs="+", help="names or files")
    judge.add_argument("--referee", help="evaluator of the deeper search (default classic)")
    judge.add_argument("--referee-depth", type=int, metavar="PLIES", help="default 9, with dice 0")
    judge.add_argument("--depth", type=int, metavar="PLIES", help="of the judged: 1, with dice 0")
    judge.add_argument("--positions", type=int, metavar="N", help="of random play (default 300)")
    judge.add_argument("--games", type=int, metavar="N", help="with dice: whose decisions (100)")
    judge.add_argument("--played-by", metavar="PLAYER", help="with dice: default the first judged")
    judge.add_argument("--file", type=Path, help="positions, one a line, instead")
    judge.add_argument("--seed", type=int, default=0)
    judge.add_argument("--threads", type=int, default=2)
    judge.add_argument("--json", action="store_true", help="last line: the figures as JSON")

    rollout = commands.add_parser("rollout", help="positions of a game with dice, played out")
    rollout.add_argument("game", help=GAME_HELP)
    rollout.add_argument("--features", metavar="FILE", help=FEATURES_HELP)
    add_rollout_options(rollout)
    describe_players(rollout)
    add_book_commands(commands, GAME_HELP, FEATURES_HELP)
    add_terminal_commands(commands)
    add_engine_commands(commands)
    add_web_command(commands)
    return result


def _match_options(command: argparse.ArgumentParser, games: str) -> None:
    add = command.add_argument
    add("--games", type=int, metavar="N", help=f"different games to count (default {games})")
    add("--depth", type=int, metavar="PLIES", help=DEPTH_HELP)
    add("--nodes", type=int, metavar="N", help="positions a move")
    add("--seconds", type=float, metavar="S", help="time a move")
    add("--seed", type=int, default=0, help="decides openings and chance")
    add("--plies", type=int, metavar="N", help="of the openings, at first (default 3)")
    add("--within", type=float, metavar="V", help="only openings so near even, by --judge")
    add("--judge", default="classic", help="who values the openings (default classic)")
    add("--backend", default="threads", metavar="B", help=BACKEND_HELP)
    add("--threads", "--jobs", type=int, metavar="N", help=JOBS_HELP)
    add("--pdn", type=Path, metavar="FILE", help="write the games (checkers)")
    add("--json", action="store_true", help="last line: the figures as JSON")
    add("--quiet", action="store_true", help="no progress bar")


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit status."""
    options = parser().parse_args(arguments)
    return exit_status("play", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    """Run the command that is for games of this kind."""
    if "run" in options:  # commands that name what runs them
        return int(options.run(options))
    from games.contract import DiceGame

    game = _game(options)
    if options.command == "rollout":
        return run_dice_rollout(options, game)
    if isinstance(game, DiceGame):
        from play.commands.dice_match import run_dice_judge, run_dice_ladder, run_dice_match

        dice = {"match": run_dice_match, "ladder": run_dice_ladder, "judge": run_dice_judge}
        return dice[options.command](options, game)
    if options.command == "judge":
        from play.commands.judge import run_judge

        return run_judge(options, game)
    from play.commands.match import run_ladder, run_match

    return (run_ladder if options.command == "ladder" else run_match)(options, game)


def _game(options: argparse.Namespace) -> Any:
    import games
    from games.feature_file import add_features

    game = games.load(options.game)
    return add_features(game, options.features) if options.features else game


if __name__ == "__main__":
    sys.exit(main())

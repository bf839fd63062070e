"""The commands of `python -m play` for people in a terminal; each names what runs it."""

from __future__ import annotations

import argparse
from typing import Any

from play.commands.analyse import add_analyse_options
from play.commands.explain import add_explain_options
from play.players.grammar import describe_players

__all__ = ["add_terminal_commands"]

EVALUATOR_HELP = "who to play against (default: the network in data/)"


def add_terminal_commands(commands: Any) -> None:
    """Add them to the subcommands of a parser."""
    add_explain_options(commands.add_parser("explain", help="why a position has its value"))
    add_analyse_options(commands.add_parser("analyse", help="annotate games in a file"))
    checkers = commands.add_parser("checkers", help="play checkers in the terminal")
    checkers.add_argument("evaluator", nargs="?", help=EVALUATOR_HELP)
    describe_players(checkers)
    checkers.add_argument(
        "--play", choices=("black", "white", "both", "none"), default="black", help="your side"
    )
    _add_game_options(checkers, "PDN FEN", "1 second")
    backgammon = commands.add_parser("backgammon", help="play backgammon in the terminal")
    backgammon.add_argument("evaluator", nargs="?", help=EVALUATOR_HELP)
    describe_players(backgammon)
    backgammon.add_argument(
        "--play", choices=("x", "o", "both", "none"), default="x", help="your side"
    )
    backgammon.add_argument(
        "--first", choices=("x", "o"), help="who begins (default: chance; with --dice, you)"
    )
    backgammon.add_argument("--seed", type=int, help="of the dice (default: another each time)")
    backgammon.add_argument("--dice", action="store_true", help="type in the dice yourself")
    _add_game_options(backgammon, "position ID, XGID, GNU ID or FIBS board", "depth 0")


def _add_game_options(command: argparse.ArgumentParser, form: str, limits: str) -> None:
    add = command.add_argument
    add("--position", metavar="TEXT", help=f"to begin with: {form}")
    add("--depth", type=int, metavar="PLIES", help=f"it looks ahead (default: {limits})")
    add("--nodes", type=int, metavar="N", help="positions a move")
    add("--seconds", type=float, metavar="S", help="time a move")
    command.set_defaults(run=run_game)


def run_game(options: argparse.Namespace) -> int:
    """`checkers` and `backgammon`: a game against an evaluator."""
    import os
    import random
    import sys

    import games
    from play.players.thinker import Thinker, limits_of, usual_evaluator, usual_limits
    from play.terminal import BackgammonSession, CheckersSession, Session, run_session
    from play.terminal.colour import paint_for

    game: Any = games.load(options.command)
    name = options.evaluator or usual_evaluator(game)
    thinker = Thinker(game, name, limits_of(options, **usual_limits(game)))
    people = {"both": {0, 1}, "none": set()}.get(options.play)
    if people is None:
        people = {int(options.play in ("white", "o"))}
    paint = paint_for(sys.stdout, os.environ)
    session: Session
    if options.command == "checkers":
        session = CheckersSession(game, thinker, frozenset(people), paint=paint)
    else:
        if options.dice and options.seed is not None:
            raise ValueError("--dice: expected it without --seed, found both")
        seed = None if options.dice else options.seed
        if not options.dice and seed is None:
            seed = random.SystemRandom().randrange(1 << 32)
        session = BackgammonSession(
            game,
            thinker,
            frozenset(people),
            seed=seed,
            first=None if options.first is None else "xo".index(options.first),
            paint=paint,
        )
        if seed is not None:
            print(f"The dice are those of --seed {seed}.")
    if options.position is not None:
        said = session.set_up(options.position)
        print(said, end="\n" if said else "")
    print(f"{thinker.name}, {thinker.limits}. Type a move, or help.")
    return run_session(session)

"""Check the rules of a game of your own, and count the ways to play it."""

from __future__ import annotations

import argparse
import time

import games
from play.commands.options import GAME_HELP
from programs.arguments import Parser, in_range
from programs.ending import exit_status
from programs.phrases import counted

PROGRAM = "python -m play.commands.check"


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """Returns the command line."""
    result = Parser(prog=program, description=__doc__)
    add = result.add_argument
    add("game", help=GAME_HELP)
    add("--games", type=in_range(1), default=20, metavar="N", help="random games (default 20)")
    add(
        "--seed",
        type=in_range(0),
        default=0,
        metavar="N",
        help="seed of the random moves (default 0)",
    )
    add("--perft", type=in_range(1), metavar="N", help="count the lines of 1 to N plies")
    return result


def main(arguments: list[str] | None = None, program: str = PROGRAM) -> int:
    """Run the command; returns its exit status. `program` is the name in usage and errors."""
    options = parser(program).parse_args(arguments)
    return exit_status(program, lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    import search  # noqa: F401  # checks the values of evaluators as well
    from games.kinds import WITHOUT_DICE
    from search.perft import perft

    game = games.load(options.game)
    try:
        games.check_game(game, games=options.games, seed=options.seed)
    except games.ContractError as error:
        raise ValueError(str(error)) from None
    print(f"{game.name}: kept the contract in {counted(options.games, 'random game')}")
    if options.perft:
        WITHOUT_DICE.expect(game, where="--perft")
    for depth in range(1, (options.perft or 0) + 1):
        began = time.process_time()
        lines = perft(game, game.start(), depth)
        ended = perft(game, game.start(), depth, ends=True) - lines
        sooner = f", and {counted(ended, 'game')} that ended sooner" * bool(ended)
        seconds = time.process_time() - began
        plies = "ply" if depth == 1 else "plies"
        print(f"{depth:2} {plies}: {counted(lines, 'line')}{sooner} ({seconds:.1f} s)")
    return 0

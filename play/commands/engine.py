"""The command `python -m play engine`: an evaluator as an engine for other programs."""

from __future__ import annotations

import argparse
from typing import Any

from play.commands.options import add_features, with_features
from play.players.grammar import describe_players

__all__ = ["add_engine_commands"]


def add_engine_commands(commands: Any) -> None:
    """Add the command to the subcommands of a parser."""
    command = commands.add_parser("engine", help="an engine for other programs")
    kind = command.add_mutually_exclusive_group(required=True)
    kind.add_argument("--hub", action="store_true", help="checkers: Hub, on standard input")
    kind.add_argument(
        "--gnubg-socket",
        type=int,
        nargs="?",
        const=-1,
        metavar="PORT",
        help="backgammon: an external player of GNU Backgammon on 127.0.0.1 (default port 4321)",
    )
    add = command.add_argument
    add("evaluator", nargs="?", help="evaluator that plays (default: the strongest shipped one)")
    add("--turned-pos", action="store_true", help="Hub positions are turned, as in pydraughts")
    add("--depth", type=int, metavar="PLIES", help="search depth, unless the other program sets it")
    add("--nodes", type=int, metavar="N", help="limit of positions for each move")
    add("--seconds", type=float, metavar="S", help="time limit for each move (default: Hub 1 s)")
    add_features(command)
    describe_players(command, others=False)
    command.set_defaults(run=run_engine, talks=True)


def run_engine(options: argparse.Namespace) -> int:
    """Run `engine`: serve until the other program leaves, or until Ctrl-C."""
    import games
    from play.players.external import ExternalEngines
    from play.players.limits import depths_of, limits_of
    from play.players.opponents import usual_evaluator
    from play.players.parse import seated

    if options.turned_pos and not options.hub:
        raise ValueError("--turned-pos: expected --hub as well, found none")
    protocol = "hub" if options.hub else "gnubg-socket"
    game = next(
        game
        for game in map(games.load, games.names())
        if protocol in ExternalEngines.of(game).protocols
    )
    game = with_features(game, options)
    limits = limits_of(options, **depths_of(game).limits)
    try:
        thinker = seated(game, options.evaluator or usual_evaluator(game), limits)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"--{protocol} plays {game.name}: {error}") from None
    if options.gnubg_socket is not None:
        return _serve_socket(thinker, options.gnubg_socket)
    return _serve_lines(thinker, options)


def _serve_lines(thinker: Any, options: argparse.Namespace) -> int:
    import sys

    from play.protocols.hub import Hub

    def write(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    Hub(thinker, write, turned=options.turned_pos).serve(sys.stdin.buffer)
    return 0


def _serve_socket(thinker: Any, port: int) -> int:
    from play.players.limits import Limits
    from play.protocols.gnubg_socket import DEFAULT_PORT, ExternalPlayer, ExternalServer

    if port == -1:
        port = DEFAULT_PORT
    if not 0 <= port < 1 << 16:
        raise ValueError(f"--gnubg-socket: expected a port from 0 to 65535, found {port}")
    thinker.think(thinker.game.start(), roll=1, limits=Limits(depth=0))  # compile now
    player = ExternalPlayer(thinker)
    with ExternalServer(player, port, lambda text: print(text, flush=True)) as server:
        print(f"{thinker.name}, {thinker.limits}, on 127.0.0.1:{server.port}; Ctrl-C ends")
        print(f"in GNU Backgammon: set player 0 external localhost:{server.port}", flush=True)
        server.serve_forever(poll_interval=0.1)
    return 0

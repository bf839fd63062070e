"""The command `openings` of `python -m play`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from play.commands.options import add_game, check_writable, load_game
from play.players.grammar import describe_players
from programs.arguments import in_range
from programs.phrases import counted
from programs.waiting import WorkBar

__all__ = ["add_openings_command"]


def add_openings_command(commands: Any) -> None:
    """Add the command to the subcommands of a parser."""
    about = "list the balanced openings of a game for two without dice"
    command = commands.add_parser("openings", help=about)
    add_game(command)
    add = command.add_argument
    add("file", type=Path, help="the file, replaced if it exists")
    add(
        "--judge",
        nargs="+",
        metavar="PLAYER",
        help="players whose searches judge the positions and must agree (default: the shipped one)",
    )
    add(
        "--plies",
        type=in_range(0, 8),
        nargs="+",
        default=[3, 4],
        metavar="N",
        help="lengths of the openings; all distinct positions of each length are judged"
        " (default 3 4)",
    )
    add(
        "--nodes",
        type=int,
        default=100_000,
        metavar="N",
        help="nodes of each search (default 100000)",
    )
    add(
        "--within",
        type=float,
        default=0.25,
        metavar="V",
        help="greatest distance from even in the game's unit, such as men (default 0.25)",
    )
    add(
        "--beyond",
        type=float,
        default=0.0,
        metavar="V",
        help="least distance from even, for openings that favour a side (default 0)",
    )
    add("--quiet", action="store_true", help="no progress bar")
    describe_players(command, others=False)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from games.kinds import FOR_TWO_WITHOUT_DICE
    from play.matches.balanced import find_openings, positions_after, save_openings
    from play.players.opponents import usual_evaluator
    from play.players.parse import parse_player

    game = load_game(options)
    FOR_TWO_WITHOUT_DICE.expect(game, where="openings")
    if not 0 <= options.beyond < options.within or options.nodes < 1:
        raise ValueError(
            f"expected --within above 0 and --beyond, and --nodes of at least 1, found"
            f" {options.within}, {options.beyond} and {options.nodes}"
        )
    check_writable("FILE", options.file)
    names = options.judge or [f"{usual_evaluator(game)}@selective"]
    judges = [parse_player(game, name) for name in names]
    lengths = tuple(sorted(set(options.plies)))
    counts = [len(positions_after(game, plies)) for plies in lengths]
    with WorkBar(sum(counts), "positions", quiet=options.quiet) as bar:
        content = find_openings(
            game, *judges, lengths=lengths, nodes=options.nodes, beyond=options.beyond,
            within=options.within, progress=bar.update,
        )  # fmt: skip
    if not content["openings"]:
        raise ValueError(
            f"--within: expected a limit that some opening meets, but none of {sum(counts)} does"
        )
    save_openings(options.file, content)
    for plies, count in zip(lengths, counts, strict=True):
        kept = sum(len(text.split()) == plies for text in content["openings"])
        beyond = f"beyond {options.beyond} and " if options.beyond else ""
        print(f"plies {plies}: {beyond}within {options.within} {game.unit} of even {kept} of"
              f" {counted(count, 'position')}")  # fmt: skip
    print(f"{options.file}: {options.file.stat().st_size:,} bytes")
    return 0

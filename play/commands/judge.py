"""The command `python -m play judge`: moves against truth."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from play.commands.options import add_game, load_game
from play.players.grammar import describe_players
from programs.arguments import THREADS, in_range
from programs.phrases import counted
from programs.waiting import WorkBar

if TYPE_CHECKING:
    from games.contract import Game
    from play.players.limits import Limits
    from play.players.player import Player

__all__ = ["add_judge_command"]


def add_judge_command(commands: Any) -> None:
    """Add the command to the subcommands of a parser."""
    command = commands.add_parser("judge", help="moves of players against truth")
    add_game(command)
    add = command.add_argument
    add("players", nargs="+", help="players to judge")
    add("--referee", required=True, help="truth, in a solved game")
    add(
        "--depth",
        type=int,
        metavar="PLIES",
        help="search depth of the judged players (default 1)",
    )
    add(
        "--positions",
        type=int,
        metavar="N",
        help="positions of each stage of the game (default 1000)",
    )
    add(
        "--games",
        type=in_range(1),
        metavar="N",
        help="whole games from random openings, on both sides, against an opponent that errs once,"
        " in place of positions",
    )
    add("--seed", type=in_range(0), default=0, help="decides positions and chance")
    add(
        "--threads",
        type=in_range(1),
        default=THREADS,
        metavar="N",
        help=f"searches at a time (default {THREADS})",
    )
    add("--json", action="store_true", help="last line: the figures as JSON")
    describe_players(command)
    command.set_defaults(run=_run_judge)


def _run_judge(options: argparse.Namespace) -> int:
    from play.judging.truth import known_referee

    game = load_game(options)
    known_referee(game, options.referee)
    judged = _kept_classes if options.games is None else _whole_games
    figures = []
    for line, found in judged(options, game):
        print(line)
        figures += [found] if found is not None else []
    if options.json:
        print(json.dumps({"judged": figures}))
    return 0


#: A line to print, and the figures of one judged player.
Line = tuple[str, dict[str, Any] | None]


def _kept_classes(options: argparse.Namespace, game: Game) -> Iterator[Line]:
    """Yields for each player the share of moves that keep the true value of a position."""
    from play.judging.truth import Referees

    first, last = Referees.of(game).named[options.referee](game).plies
    if first > 1:  # positions whose exact values take long are judged by classes alone
        yield from _kept_between(options, game, 1, first - 1, classes=True)
    yield from _kept_between(options, game, first, last, classes=False)


def _kept_between(
    options: argparse.Namespace, game: Game, first: int, last: int, *, classes: bool
) -> Iterator[Line]:
    """The same for positions of `first` to `last` random plies."""
    from play.judging.truth import judge_by_truth, known_values, random_positions

    limits, players = _players(options, game)
    count = 1000 if options.positions is None else options.positions
    positions = random_positions(
        game, count, seed=options.seed, least_plies=first, most_plies=last + 1
    )
    with WorkBar(len(positions), "positions") as bar:
        known = known_values(
            game,
            options.referee,
            positions,
            classes=classes,
            threads=options.threads,
            progress=bar.update,
        )
    source = f"of {first} to {last} random plies" if first else "from all stages of random games"
    heading = (
        f"{counted(len(known.positions), 'position')} {source}, of which decisions:"
        f" {known.decisions}; referee: {options.referee}; judged at depth {limits.depth} or by"
        " limits of their own; 95 % intervals"
    )
    yield heading, None
    for player in players:
        found = judge_by_truth(game, player, known, limits=limits, seed=options.seed)
        yield found.text(), found.figures() | {"plies": [first, last]}


def _whole_games(options: argparse.Namespace, game: Game) -> Iterator[Line]:
    """Players by whole games of a solved game, on both sides, in which the opponent errs once."""
    from play.judging.truth import RANDOM, judge_by_games

    if options.positions is not None:
        raise ValueError("--positions: expected it without --games, found both")
    limits, players = _players(options, game)
    heading = (
        f"{counted(options.games, 'game')} from 0 to {RANDOM} random plies, the judged moving first"
        f" in every other one, at depth {limits.depth} or by limits of their own; the opponent errs"
        f" once, else perfect play by {options.referee}; 95 % intervals"
    )
    yield heading, None
    for player in players:
        with WorkBar(options.games, "games") as bar:
            found = judge_by_games(
                game,
                player,
                options.referee,
                options.games,
                limits=limits,
                seed=options.seed,
                threads=options.threads,
                progress=bar.update,
            )
        yield found.text(), found.figures()


def _players(options: argparse.Namespace, game: Game) -> tuple[Limits, list[Player]]:
    """Returns the players that are judged by truth, and the limits of their moves."""
    from play.players.limits import Limits
    from play.players.parse import parse_player

    limits = Limits(1 if options.depth is None else options.depth)
    limits.check(game)
    return limits, [parse_player(game, text) for text in options.players]

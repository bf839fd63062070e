"""`match` of games for more than two players."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from games.contract import Game
from play.commands.options import refuse
from play.match.multiplayer import MultiplayerMatch, play_multiplayer_match
from play.match.openings import Openings
from play.players.limits import Limits
from play.players.parse import parse_player
from play.workers import Workers, parse_backend

__all__ = ["run_multiplayer_match"]

#: Options that do not apply.
OTHERS = ("luck", "cube", "match", "jacoby", "sprt", "model", "within", "judge", "save")


def run_multiplayer_match(game: Game, options: argparse.Namespace) -> int:
    """Play and report a match of as many players as the game has."""
    from tqdm import tqdm

    refuse(options, OTHERS, "a game for two players", game)
    texts = [options.first, options.second, *options.others]
    players = [parse_player(game, text) for text in texts]
    depth = options.depth
    if depth is None and options.nodes is None and options.seconds is None:
        depth = 3
    limits = Limits(depth, options.nodes, options.seconds)
    backend, address = parse_backend(options.backend)
    openings = Openings(
        game, plies=3 if options.plies is None else options.plies, seed=options.seed
    )
    games = 300 if options.games is None else options.games
    with tqdm(total=games, unit=" games", disable=options.quiet, dynamic_ncols=True) as bar:

        def progress(match: MultiplayerMatch) -> None:
            bar.set_postfix_str(match.so_far(), refresh=False)
            bar.update(match.games - bar.n)

        match = play_multiplayer_match(
            game, players, limits=limits, games=games, openings=openings, seed=options.seed,
            workers=Workers(backend, options.threads, address), progress=progress,
        )  # fmt: skip
    for line in _lines(game, match):
        print(line)
    if options.json:
        print(json.dumps(match.figures()))
    if match.interrupted:
        raise KeyboardInterrupt
    return 0


def _lines(game: Game, match: MultiplayerMatch) -> Iterator[str]:
    """The report of a match."""
    yield (
        f"{', '.join(match.names)}: {match.limits}, {match.games} games, each opening with every"
        " player in every seat"
    )
    if not match.rounds:
        return
    yield f"95 % intervals over {len(match.rounds)} openings; par is {100 / game.players:.1f} %"
    width = max(map(len, match.names))
    for standing in match.standings():
        first: Any = standing.first
        yield (
            f"{standing.name:{width}}  first in {100 * first.value:5.1f} %"
            f" [{100 * first.low:.1f}, {100 * first.high:.1f}]"
            f"  place {standing.place.text('.2f')}  points {standing.points.text('+.3f')}"
        )

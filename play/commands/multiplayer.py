"""How the commands `match` and `ladder` play games for more than two players."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from games.contract import Game
from games.file_form import form_of
from play.commands.contest import head_of
from play.commands.options import refuse
from play.match.ladder import plot_ladder
from play.match.multiplayer import MultiplayerMatch, multiplayer_ladder, play_multiplayer_match
from play.match.openings import Openings
from play.players.clock import parse_clock
from play.players.limits import Limits
from play.players.player import Player
from play.ratings.bradley_terry import Rating
from play.workers import Workers, parse_backend

__all__ = ["ContestOfMany"]

#: Options that do not apply.
OTHERS = ("luck", "cube", "match", "jacoby", "sprt", "model", "within", "judge", "adjudicate")
GAMES, DEPTH = 300, 3


class ContestOfMany:
    """Every opening with each player in each seat: first places, places and points."""

    standings = "ratings"

    def __init__(self, game: Game, options: argparse.Namespace) -> None:
        refuse(options, OTHERS, "a game for two players", game)
        self.game = game
        options.games = GAMES if options.games is None else options.games
        depth = options.depth
        clock = None if options.time is None else parse_clock(options.time)
        if (depth, options.nodes, options.seconds, clock) == (None,) * 4:
            depth = DEPTH
        self.limits = Limits(depth, options.nodes, options.seconds, clock)
        self._options = options

    def prepare(self, players: Sequence[Player]) -> None:
        plies = 3 if self._options.plies is None else self._options.plies
        self.openings = Openings(self.game, plies=plies, seed=self._options.seed)

    def workers(self, players: Sequence[Player]) -> Workers:
        backend, address = parse_backend(self._options.backend)
        return Workers(backend, self._options.threads, address)

    def match(self, *players: Player, **options: Any) -> MultiplayerMatch:
        return play_multiplayer_match(self.game, players, **self._common(options))

    def match_lines(self, match: MultiplayerMatch) -> Iterator[str]:
        yield (
            f"{', '.join(match.names)}: {match.limits}, {match.games} games, each opening with"
            " every player in every seat"
        )
        if not match.rounds:
            return
        par = 100 / self.game.players
        yield f"95 % intervals over {len(match.rounds)} openings; par is {par:.1f} %"
        width = max(map(len, match.names))
        for standing in match.standings():
            first: Any = standing.first
            yield (
                f"{standing.name:{width}}  first in {100 * first.value:5.1f} %"
                f" [{100 * first.low:.1f}, {100 * first.high:.1f}]"
                f"  place {standing.place.text('.2f')}  points {standing.points.text('+.3f')}"
            )

    def ladder(
        self, players: Sequence[Player], **options: Any
    ) -> tuple[list[Rating], list[MultiplayerMatch]]:
        return multiplayer_ladder(self.game, players, **self._common(options))

    def ladder_lines(
        self, standings: list[Rating], matches: list[MultiplayerMatch]
    ) -> Iterator[str]:
        anchor = matches[0].names[0]
        yield (
            f"{self.limits}; every {self.game.players} players at one table; Elo by who came before"
            f" whom, with the 95 % interval of the difference from {anchor}"
        )
        width = max(len(rating.name) for rating in standings)
        for place, rating in enumerate(standings, 1):
            yield (
                f"{place:3} {rating.name:{width}}  {rating.elo.text('+7.1f')}"
                f"  before {100 * rating.score:5.1f} % of {rating.games} others"
            )

    def plot(self, path: Path, standings: list[Rating]) -> None:
        plot_ladder(path, standings, f"{self.game.name}, {self.limits}")

    def game_texts(self, match: MultiplayerMatch, pair: int, number: int) -> Iterator[str]:
        write = form_of(self.game).write
        for played in match.rounds[pair:]:
            for shift, record in enumerate(played.games):
                # in game g the seat of player p is p + g
                names = match.names[-shift:] + match.names[:-shift] if shift else match.names
                yield write(record, names, {"Event": str(match.limits), "Round": str(number)})
                number += 1

    def head(self, players: Sequence[Player]) -> dict[str, Any]:
        head = head_of(self.game, players, self.limits, self._options.seed)
        return {**head, "plies": self._options.plies}

    def _common(self, options: dict[str, Any]) -> dict[str, Any]:
        given = self._options
        return {
            "games": given.games,
            "limits": self.limits,
            "openings": self.openings,
            "seed": given.seed,
            **options,
        }

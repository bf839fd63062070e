"""Matches of more than two players: every opening with each player in each seat.

A round is as many games of one opening as there are players, who move on by one seat after each.
Statistics count the round, because its games have the opening in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Any

from games.contract import Game
from games.record import GameRecord
from games.values import places
from play.crew import Crew
from play.match.driver import play_all, play_units
from play.match.journal import Journal, plain_game, read_game
from play.match.match import MOST_PLIES
from play.match.openings import Openings
from play.players.limits import Limits
from play.players.player import Player
from play.players.seats import Seat
from play.ratings.bradley_terry import Rating, rate_rounds
from play.ratings.statistics import Estimate, mean_interval
from play.workers import Workers

__all__ = [
    "MultiplayerMatch",
    "Round",
    "Standing",
    "multiplayer_ladder",
    "play_multiplayer_match",
]


@dataclass(frozen=True)
class Round:
    """The games of one opening; in game g, the seat of player p is (p + g) modulo the players."""

    games: tuple[GameRecord, ...]

    def outcomes(self, player: int) -> list[tuple[float, ...]]:
        """Returns the outcomes of each game for all players, `player` first."""
        count = len(self.games)
        found = []
        for number, record in enumerate(self.games):
            outcomes = record.outcomes()
            assert outcomes is not None
            seat = (player + number) % count
            found.append((*outcomes[seat:], *outcomes[:seat]))
        return found

    def plain(self) -> dict[str, Any]:
        """Returns the same as plain values."""
        return {"games": [plain_game(game) for game in self.games]}

    @classmethod
    def of(cls, game: Game, plain: Any) -> Round:
        """Returns what `plain` made the values from; raises ValueError if they are damaged."""
        try:
            return cls(tuple(read_game(game, one) for one in plain["games"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"expected a round of games, found {error!r}") from None


@dataclass(frozen=True)
class Standing:
    """What a player has reached, with 95 % intervals over rounds.

    first: the share of games in which the player alone was first; draws are nobody's.
    place: the mean place, from 1; players with the same outcome share the mean of their places.
    points: the mean outcome.
    """

    name: str
    first: Estimate
    place: Estimate
    points: Estimate


@dataclass
class MultiplayerMatch:
    """A match of more than two players.

    names: the players.
    rounds: what was played.
    interrupted: whether Ctrl-C ended the match.
    failure: error of the external engine that ended the match, or empty.
    """

    names: tuple[str, ...]
    limits: Limits
    rounds: list[Round] = field(default_factory=list)
    interrupted: bool = False
    failure: str = ""

    @property
    def title(self) -> str:
        """The names of the players."""
        return ", ".join(self.names)

    @property
    def games(self) -> int:
        """The number of games counted."""
        return len(self.names) * len(self.rounds)

    def standings(self) -> list[Standing]:
        """Returns the standing of each player, in the order of the names."""
        count = len(self.names)
        standings = []
        for player, name in enumerate(self.names):
            first, place, points = [], [], []
            for played in self.rounds:
                outcomes = played.outcomes(player)
                first.append(sum(one[0] > max(one[1:]) for one in outcomes) / count)
                place.append(sum(places(one)[0] for one in outcomes) / count)
                points.append(sum(one[0] for one in outcomes) / count)
            standings.append(
                Standing(
                    name,
                    mean_interval(first, bounds=(0.0, 1.0)),
                    mean_interval(place, bounds=(1.0, float(count))),
                    mean_interval(points),
                )
            )
        return standings

    def so_far(self) -> str:
        """Returns the share of first places in a few words."""
        best = max(self.standings(), key=lambda standing: standing.first.value)
        return f"{best.name} first in {100 * best.first.value:.1f} %"

    def figures(self) -> dict[str, Any]:
        """Returns the match as plain values, for JSON."""
        return {
            "players": list(self.names),
            "limits": str(self.limits),
            "games": self.games,
            "interrupted": self.interrupted,
            "failure": self.failure,
            "standings": [
                {
                    "name": standing.name,
                    "first": standing.first.plain(),
                    "place": standing.place.plain(),
                    "points": standing.points.plain(),
                }
                for standing in self.standings()
            ],
        }


def play_multiplayer_match(
    game: Game,
    players: Sequence[Player],
    *,
    limits: Limits,
    games: int = 300,
    openings: Openings | None = None,
    workers: Workers | None = None,
    seed: int = 0,
    progress: Callable[[MultiplayerMatch], None] | None = None,
    journal: Journal | None = None,
) -> MultiplayerMatch:
    """Play rounds until at least `games` games are counted or openings run out.

    players: one for each seat, all of whom sit in each seat once a round.
    limits: limits of a move, for players without limits of their own.
    games: number of games, rounded up to whole rounds.
    openings: default: `Openings(game, seed=seed)`.
    workers: what plays; default: two threads.
    seed: decides openings and random choices.
    progress: called with the match after each round.
    journal: where each round is kept as it ends; the match goes on from those it holds already,
        with the result of one that was never stopped.

    Ctrl-C ends the match with the rounds played, and so does an external engine that fails
    (`failure`); if it fails in the first round, its error is raised. Raises ValueError if the
    number of players is not that of the game, or an option is out of range.
    """
    if len(players) != game.players:
        raise ValueError(
            f"{game.name}: expected {game.players} players, found {len(players)}:"
            f" {', '.join(player.name for player in players)}"
        )
    limits.check(game)
    if games < 1:
        raise ValueError(f"games: expected at least 1, found {games}")
    if seed < 0:
        raise ValueError(f"seed: expected at least 0, found {seed}")
    match = MultiplayerMatch(tuple(player.name for player in players), limits)
    rounds = -(-games // game.players)
    drawn = enumerate(openings if openings is not None else Openings(game, seed=seed))
    tasks = islice(drawn, rounds)
    play = _RoundPlayer(game, tuple(players), limits, seed)

    def count(one: Round) -> bool:
        match.rounds.append(one)
        if progress is not None:
            progress(match)
        return True

    for kept, _ in zip(journal.results(match.title) if journal else (), tasks, strict=False):
        count(Round.of(game, kept))
    with nullcontext(workers) if workers is not None else Workers(jobs=2) as crew:
        play_units(match, crew, play, tasks, count, journal, Round.plain)
    return match


def multiplayer_ladder(
    game: Game, players: Sequence[Player], **options: Any
) -> tuple[list[Rating], list[MultiplayerMatch]]:
    """Play a match of every group of players that fills the seats; returns ratings and matches.

    options: those of `play_multiplayer_match`; `games` are those of each match.

    A rating (Bradley and Terry) is by who came before whom, equal outcomes being a draw; the first
    player is rated 0. Its interval takes rounds as independent of each other, not the orders of the
    players within a game or the games of a round. Ctrl-C ends the ladder, and players without a
    game are missing. Raises ValueError for fewer players than seats or two players of one name.
    """
    if len(players) < game.players:
        raise ValueError(
            f"{game.name}: expected at least {game.players} players, found {len(players)}"
        )

    def play(*seated: Player) -> MultiplayerMatch:
        return play_multiplayer_match(game, seated, **options)

    def empty(*seated: Player) -> MultiplayerMatch:
        return MultiplayerMatch(tuple(player.name for player in seated), options["limits"])

    matches = play_all(players, game.players, play, empty)
    rounds = [_orders(match.names, played) for match in matches for played in match.rounds]
    return rate_rounds(rounds, anchor=players[0].name) if rounds else [], matches


def _orders(names: Sequence[str], played: Round) -> dict[tuple[str, str], tuple[float, int]]:
    """Returns for each two players how often the first came before the second, and the games."""
    found = {}
    for (i, first), (j, second) in combinations(enumerate(names), 2):
        points = [(one[i] > one[j]) - (one[i] < one[j]) for one in played.outcomes(0)]
        found[first, second] = (sum(points) / 2 + len(points) / 2, len(points))
    return found


class _RoundPlayer(Crew[tuple[Seat, ...]]):
    """Plays the round of an opening."""

    def __init__(self, game: Game, players: tuple[Player, ...], limits: Limits, seed: int) -> None:
        super().__init__(game, players, limits, seed)
        self.game, self.players, self.limits, self.seed = game, players, limits, seed

    def __call__(self, task: tuple[int, tuple[Any, ...]]) -> Round:
        """Play the round of a numbered opening; unfinished games are drawn once stopped."""
        number, opening = task
        records = []
        with self.seats() as seats:
            for shift in range(len(seats)):
                record = GameRecord(self.game)
                for move in opening:
                    record.play(move)
                for player, seat in enumerate(seats):
                    seat.begin(hash((self.seed, number, shift, player)) & 0x7FFFFFFF)
                while not record.over:
                    if self.stopped.is_set() or record.ply >= MOST_PLIES:
                        record.declare(0.0, f"{record.ply} plies")
                        break
                    seats[(record.to_move - shift) % len(seats)].move(record)
                records.append(record)
        return Round(tuple(records))

    def new_seats(self) -> tuple[Seat, ...]:
        """Returns a seat of each player."""
        return tuple(player.seat(self.game, self.limits) for player in self.players)

"""Matches of two players over paired openings, by several workers, with an error bar.

Every opening is played twice with colours swapped, and statistics count the pair. Results depend on
the seed alone, not on the backend or the number of workers: pairs are counted in the order in which
their openings were drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import islice
from threading import Event
from typing import Any

from games.contract import DiceGame, Game
from games.record import GameRecord
from play.crew import Crew
from play.match.balanced import BalancedOpenings, usual_openings
from play.match.driver import play_units
from play.match.game_loop import GameLoop
from play.match.journal import Journal, plain_game, read_game
from play.match.openings import Openings
from play.players.limits import Limits
from play.players.player import Player
from play.players.seats import Seat
from play.ratings.sprt import Sprt
from play.ratings.statistics import MatchSummary
from play.workers import Workers
from search.lookups.database import DatabaseLookup

__all__ = ["Match", "Pair", "play_game", "play_match"]

#: Longer games are drawn.
MOST_PLIES = 1000


@dataclass(frozen=True)
class Pair:
    """Two games of one opening; the first player begins the first of them.

    seconds: time of each move of external engines.
    """

    games: tuple[GameRecord, GameRecord]
    seconds: tuple[float, ...] = ()

    def points(self) -> tuple[float, float]:
        """Returns the first player's score in each game: 1, 0.5 or 0."""
        outcomes = self.games[0].outcome() or 0.0, -(self.games[1].outcome() or 0.0)
        # By the winner alone, also in a game whose outcomes are points.
        first, second = (0.5 * ((outcome > 0) - (outcome < 0) + 1) for outcome in outcomes)
        return first, second

    def plain(self) -> dict[str, Any]:
        """Returns the same as plain values."""
        return {"games": [plain_game(game) for game in self.games], "seconds": self.seconds}

    @classmethod
    def of(cls, game: Game, plain: Any) -> Pair:
        """Returns what `plain` made the values from; raises ValueError if they are damaged."""
        try:
            first, second = (read_game(game, one) for one in plain["games"])
            return cls((first, second), tuple(map(float, plain["seconds"])))
        except (KeyError, TypeError) as error:
            raise ValueError(f"expected a pair of games, found {error!r}") from None


@dataclass
class Match:
    """A match of two players; scores are the first player's.

    pairs: the pairs counted.
    repeated: number of pairs that repeated earlier games and were not counted.
    interrupted: whether Ctrl-C ended the match.
    failure: error of the external engine that ended the match, or empty.
    verdict: last verdict of the sequential test, or empty.
    """

    first: str
    second: str
    limits: Limits
    pairs: list[Pair] = field(default_factory=list)
    repeated: int = 0
    interrupted: bool = False
    failure: str = ""
    verdict: str = ""

    def __repr__(self) -> str:
        found = self.summary()
        text = f"{self.title}, {found.games} games"
        if found.games:
            text += f", +{found.wins} ={found.draws} -{found.losses}"
            text += f", Elo {found.elo.text('+.0f')}"
        return f"Match({text})"

    @property
    def title(self) -> str:
        """The names of both players."""
        return f"{self.first} against {self.second}"

    def summary(self) -> MatchSummary:
        """Wins, draws, losses and the statistics of the pairs, from the first player's view."""
        return MatchSummary.of_pairs(pair.points() for pair in self.pairs)

    @property
    def games(self) -> int:
        """The number of games counted."""
        return 2 * len(self.pairs)

    @property
    def different(self) -> int:
        """The number of different games; players who play alike repeat one with colours swapped."""
        return len({(game.start, *game.moves) for pair in self.pairs for game in pair.games})

    def seconds(self) -> list[float]:
        """Returns the time of each move of external engines."""
        return [seconds for pair in self.pairs for seconds in pair.seconds]

    def so_far(self) -> str:
        """Returns the score in a few words."""
        return f"{self.first} {100 * self.summary().score.value:.1f} % of {self.second}"

    def figures(self) -> dict[str, Any]:
        """Returns the match as plain values, for JSON."""
        summary = self.summary()
        return {
            "first": self.first,
            "second": self.second,
            "limits": str(self.limits),
            "games": summary.games,
            "wins": summary.wins,
            "draws": summary.draws,
            "losses": summary.losses,
            "score": summary.score.plain(),
            "elo": summary.elo.plain(),
            "normalised_elo": summary.normalised_elo.plain(),
            "superiority": summary.superiority,
            "repeated_pairs": self.repeated,
            "verdict": self.verdict,
            "interrupted": self.interrupted,
            "failure": self.failure,
        }


def play_game(
    game: Game,
    seats: tuple[Seat, Seat],
    opening: tuple[Any, ...],
    stopped: Event | None = None,
    loop: GameLoop | None = None,
    database: DatabaseLookup | None = None,
) -> GameRecord:
    """Play one game from an opening on; `seats[0]` has the side that begins.

    stopped: once set, the game ends unfinished.
    loop: plays the game in native code, if given; it asks no database.
    database: once it knows the position after a move, the game ends with the result that it gives.
    """
    if loop is not None:
        return loop.play(opening).record()
    record = GameRecord(game)
    for move in opening:
        record.play(move)
    probe = None if database is None else database.plain()
    while not record.over and not (stopped is not None and stopped.is_set()):
        known, value, *_ = (False, 0.0) if probe is None else probe(record.position)
        if known:
            won = (value > 0) - (value < 0)
            record.declare(float(-won if record.to_move else won), "database")
            break
        if record.ply >= MOST_PLIES:
            record.declare(0.0, f"{MOST_PLIES} plies")
            break
        seats[record.to_move].move(record)
    return record


def play_match(
    game: Game,
    first: Player,
    second: Player,
    *,
    limits: Limits,
    games: int = 400,
    openings: Openings | BalancedOpenings | None = None,
    threads: int = 2,
    workers: Workers | None = None,
    table_mib: float | None = None,
    sprt: Sprt | None = None,
    seed: int = 0,
    progress: Callable[[Match], None] | None = None,
    journal: Journal | None = None,
    database: DatabaseLookup | None = None,
) -> Match:
    """Play until `games` different games are counted, the SPRT decides or openings run out.

    A pair is not counted if one of its games repeats an earlier game of the match move for move.

    limits: limits of a move, for players without limits of their own.
    games: number of games, an odd one rounded up.
    openings: default: `usual_openings(game, seed=seed)`, balanced ones if the game has them.
    threads: threads of this process that play.
    workers: processes or a cluster that play instead of threads.
    table_mib: size of each player's transposition table; None for one that fits its limits.
    sprt: test that ends the match once it decides.
    seed: decides openings and random choices.
    progress: called with the match after each pair.
    journal: where each pair is kept as it ends; the match goes on from those it holds already,
        with the result of one that was never stopped.
    database: ends a game with its result as soon as it knows the position, whatever the drawing
        rules would still allow; None for games that are played to the end.

    Ctrl-C ends the match with the games played, marked as interrupted. So does an external engine
    that fails (`failure`); if it fails in the first pair, its MoveError or ChildProcessError is
    raised. Raises ValueError for a game with dice and for options out of range.
    """
    if isinstance(game, DiceGame):
        raise ValueError(
            f"expected a game without dice, found {game.name}: see play.match.dice_match"
        )
    if game.players > 2:
        raise ValueError(
            f"expected a game for two players, found {game.name}: see play.match.multiplayer"
        )
    limits.check(game)
    if games < 2:
        raise ValueError(f"games: expected at least 2, found {games}")
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, found {threads}")
    if seed < 0:
        raise ValueError(f"seed: expected at least 0, found {seed}")
    match = Match(first.name, second.name, limits)
    play_pair = _PairPlayer(game, first, second, limits, table_mib, seed, database)
    drawn = enumerate(usual_openings(game, seed=seed) if openings is None else openings)
    seen: set[Any] = set()

    def count(pair: Pair) -> bool:
        _judge(match, pair, seen, progress, sprt)
        return match.verdict in ("", "continue")

    goes_on = True
    for kept, _ in zip(journal.results(match.title) if journal else (), drawn, strict=False):
        goes_on = count(Pair.of(game, kept))
    with nullcontext(workers) if workers is not None else Workers(jobs=threads) as crew:
        while goes_on and len(match.pairs) * 2 < games:
            # as many as are missing: what repeats earlier games is not counted
            tasks = islice(drawn, (games + 1) // 2 - len(match.pairs))
            before = len(match.pairs) + match.repeated
            goes_on = play_units(match, crew, play_pair, tasks, count, journal, Pair.plain)
            goes_on = goes_on and len(match.pairs) + match.repeated > before
    return match


def _judge(
    match: Match,
    pair: Pair,
    seen: set[Any],
    progress: Callable[[Match], None] | None,
    sprt: Sprt | None,
) -> None:
    """Count a pair, unless one of its games is among those `seen`, and ask the test."""
    keys = {(i, record.start, *record.moves) for i, record in enumerate(pair.games)}
    if keys & seen:
        match.repeated += 1
        return
    seen |= keys
    match.pairs.append(pair)
    if progress is not None:
        progress(match)
    if sprt is not None:
        match.verdict = sprt.verdict(match.summary().tally)


class _PairPlayer(Crew[tuple[Seat, Seat, GameLoop | None, GameLoop | None]]):
    """Plays the pair of an opening."""

    def __init__(
        self,
        game: Game,
        first: Player,
        second: Player,
        limits: Limits,
        table_mib: float | None,
        seed: int,
        database: DatabaseLookup | None,
    ) -> None:
        super().__init__(game, first, second, limits, table_mib, seed, database)
        self.game = game
        self.players = first, second
        self.random = first.random and second.random
        self.limits = limits
        self.table_mib = table_mib
        self.seed = seed
        self.database = database

    def __call__(self, task: tuple[int, tuple[Any, ...]]) -> Pair:
        """Play the pair of a numbered opening; unfinished once stopped."""
        number, opening = task
        records = []
        seconds: list[float] = []
        with self.seats() as (first, second, begun, answered):
            for index, loop in enumerate((begun, answered)):
                for colour, seat in enumerate((first, second)):
                    # the same random numbers for the same colour in both games, unless that would
                    # make them one game
                    other = (index,) if self.random else ()
                    seat.begin(hash((self.seed, number, colour ^ index, *other)) & 0x7FFFFFFF)
                seats = (first, second) if index == 0 else (second, first)
                records.append(
                    play_game(self.game, seats, opening, self.stopped, loop, self.database)
                )
                seconds += (took for seat in seats for took in seat.seconds)
        return Pair((records[0], records[1]), tuple(seconds))

    def new_seats(self) -> tuple[Seat, Seat, GameLoop | None, GameLoop | None]:
        """The seats of both players, and two loops of native code if it can play for them, or None.

        The first loop is for the game in which the first player begins.
        """
        first, second = self.players
        seats = tuple(
            player.seat(self.game, self.limits, table_mib=self.table_mib) for player in self.players
        )
        engines = [seat.engine for seat in seats if seat.engine is not None]
        limits = first.within(self.limits)
        native = len(engines) == 2 and all(e.native and e.steady for e in engines)
        native = native and first.book is None and second.book is None and self.database is None
        if not native or limits != second.within(self.limits) or limits.time is not None:
            return seats[0], seats[1], None, None
        loops = [
            GameLoop(
                self.game, *order, depth=limits.depth, nodes=limits.nodes, most_plies=MOST_PLIES
            )
            for order in (engines, engines[::-1])
        ]
        return seats[0], seats[1], loops[0], loops[1]


def all_games(matches: list[Match]) -> Iterator[tuple[str, str, GameRecord]]:
    """Every counted game with the names of the side that began and the other."""
    for match in matches:
        yield from games_from(match, 0)


def games_from(match: Match, pair: int) -> Iterator[tuple[str, str, GameRecord]]:
    """The games of a match from a pair on, as `all_games` gives them."""
    for both in match.pairs[pair:]:
        yield match.first, match.second, both.games[0]
        yield match.second, match.first, both.games[1]

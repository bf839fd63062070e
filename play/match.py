"""Matches of two players over paired openings, on several threads, with an error bar.

Every opening is played twice with colours swapped, and the pair is what statistics count. What is
played depends on the seed alone, not on the number of threads: pairs are judged in the order in
which their openings were drawn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from threading import Event, Lock
from typing import Any

from games.contract import Game
from games.record import GameRecord
from play.openings import Openings
from play.player import Limits, Player, Seat
from play.sprt import Sprt
from play.statistics import MatchSummary

__all__ = ["Match", "Pair", "play_game", "play_match"]

#: Longer games are drawn, whatever the rules say.
MOST_PLIES = 1000


@dataclass(frozen=True)
class Pair:
    """Two games of one opening; the first player begins the first of them."""

    games: tuple[GameRecord, GameRecord]

    def points(self) -> tuple[float, float]:
        """What the first player scored in each game: 1, 0.5 or 0."""
        outcomes = self.games[0].outcome() or 0.0, -(self.games[1].outcome() or 0.0)
        # By who won, also in a game whose outcomes are points.
        first, second = (0.5 * ((outcome > 0) - (outcome < 0) + 1) for outcome in outcomes)
        return first, second


@dataclass
class Match:
    """What was played between two players; scores are the first player's."""

    first: str
    second: str
    limits: Limits
    pairs: list[Pair] = field(default_factory=list)
    repeated: int = 0
    interrupted: bool = False
    verdict: str = ""

    def summary(self) -> MatchSummary:
        """Wins, draws, losses and the statistics of the pairs, from the first player's view."""
        return MatchSummary.of_pairs(pair.points() for pair in self.pairs)


def play_game(
    game: Game, seats: tuple[Seat, Seat], opening: tuple[Any, ...], stopped: Event | None = None
) -> GameRecord:
    """One game from an opening on; `seats[0]` has the side that begins.

    It is left unfinished once `stopped` is set.
    """
    record = GameRecord(game)
    for move in opening:
        record.play(move)
    while not record.over and not (stopped is not None and stopped.is_set()):
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
    openings: Openings | None = None,
    threads: int = 2,
    table_mib: float = 4.0,
    sprt: Sprt | None = None,
    seed: int = 0,
    progress: Callable[[Match], None] | None = None,
) -> Match:
    """Play until `games` different games are counted, the SPRT decides or openings run out.

    A pair of which a game repeats an earlier game of the match move for move is not counted.
    `progress` is called after each pair. Ctrl-C ends the match with what was played, marked as
    interrupted.
    """
    if games < 2:
        raise ValueError(f"games: expected at least 2, found {games}")
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, found {threads}")
    if seed < 0:
        raise ValueError(f"seed: expected at least 0, found {seed}")
    match = Match(first.name, second.name, limits)
    stopped = Event()
    tables = _Tables(game, first, second, limits, table_mib)

    def play_pair(number: int, opening: tuple[Any, ...]) -> Pair | None:
        with tables.borrow() as seats:
            return _play_pair(game, seats, opening, seed, number, stopped)

    drawn = enumerate(openings if openings is not None else Openings(game, seed=seed))
    with ThreadPoolExecutor(threads) as pool:
        running: deque[Future[Pair | None]] = deque()
        seen: set[Any] = set()
        try:
            while len(match.pairs) * 2 < games:
                missing = (games + 1) // 2 - len(match.pairs) - len(running)
                wanted = min(2 * threads - len(running), missing)
                running.extend(pool.submit(play_pair, *draw) for draw in islice(drawn, wanted))
                if not running:
                    break
                pair = running[0].result()
                running.popleft()
                if pair is None:
                    break
                keys = {(i, record.start, *record.moves) for i, record in enumerate(pair.games)}
                if keys & seen:
                    match.repeated += 1
                    continue
                seen |= keys
                match.pairs.append(pair)
                if progress is not None:
                    progress(match)
                if sprt is not None:
                    match.verdict = sprt.verdict(match.summary().tally)
                    if match.verdict != "continue":
                        break
        except KeyboardInterrupt:
            match.interrupted = True
        finally:
            stopped.set()
            for future in running:
                future.cancel()
            # Again and again, for a search that is only just beginning misses it.
            while wait(running, timeout=0.02).not_done:
                tables.stop()
    return match


def _play_pair(
    game: Game,
    seats: tuple[Seat, Seat],
    opening: tuple[Any, ...],
    seed: int,
    number: int,
    stopped: Event,
) -> Pair | None:
    records = []
    for index in range(2):
        for colour, seat in enumerate(seats):
            # the same chance for the same colour in both games
            seat.begin(hash((seed, number, colour ^ index)) & 0x7FFFFFFF)
        record = play_game(game, seats if index == 0 else (seats[1], seats[0]), opening, stopped)
        if stopped.is_set():
            return None
        records.append(record)
    return Pair((records[0], records[1]))


class _Tables:
    """Seats for both players, one set for each thread that plays at the time."""

    def __init__(
        self, game: Game, first: Player, second: Player, limits: Limits, table_mib: float
    ) -> None:
        self._make = lambda: (
            first.seat(game, limits, table_mib=table_mib),
            second.seat(game, limits, table_mib=table_mib),
        )
        self._free: list[tuple[Seat, Seat]] = []
        self._all: list[tuple[Seat, Seat]] = []
        self._lock = Lock()

    def borrow(self) -> _Borrowed:
        return _Borrowed(self)

    def take(self) -> tuple[Seat, Seat]:
        with self._lock:
            if self._free:
                return self._free.pop()
            seats = self._make()
            self._all.append(seats)
            return seats

    def give(self, seats: tuple[Seat, Seat]) -> None:
        with self._lock:
            self._free.append(seats)

    def stop(self) -> None:
        for seats in self._all:
            for seat in seats:
                seat.stop()


class _Borrowed:
    def __init__(self, tables: _Tables) -> None:
        self._tables = tables

    def __enter__(self) -> tuple[Seat, Seat]:
        self._seats = self._tables.take()
        return self._seats

    def __exit__(self, *_: object) -> None:
        self._tables.give(self._seats)


def all_games(matches: list[Match]) -> Iterator[tuple[str, str, GameRecord]]:
    """Every counted game with the names of the side that began and the other."""
    for match in matches:
        for pair in match.pairs:
            yield match.first, match.second, pair.games[0]
            yield match.second, match.first, pair.games[1]

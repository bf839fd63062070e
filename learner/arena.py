"""Matches during training: other processes measure snapshots while the learner continues."""

from __future__ import annotations

import math
import multiprocessing
import os
from collections.abc import Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import resource_tracker
from types import TracebackType
from typing import Any

from games.contract import Game
from play.matches.driver import play_match
from play.matches.openings import Openings
from play.matches.report import Match
from play.players.limits import Limits
from play.players.parse import parse_player
from play.players.player import Player
from play.ratings.places import PlaceSummary
from play.ratings.points import DiceSummary
from play.ratings.statistics import Estimate, MatchSummary
from play.workers.transport import pack, unpack
from play.workers.workers import Workers, serve, starting_processes
from search import Evaluator, as_evaluator

__all__ = ["ELO", "FIRST", "POINTS", "Arena", "Strength", "measure"]

#: Units of strength.
ELO, POINTS, FIRST = MatchSummary.unit, DiceSummary.unit, PlaceSummary.unit

#: Matches that a cluster plays at a time.
MATCHES = 2


@dataclass(frozen=True)
class Strength:
    """The result of an evaluator against one opponent: score, and strength with its 95 % interval.

    In games without dice the score is 0 to 1 and the strength is in Elo. In games with dice both
    are points per game. With more than two players the opponent has all other seats, and both are
    the share of games in which the evaluator alone came first.
    """

    opponent: str
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    value: float
    low: float
    high: float
    unit: str = ELO

    def as_dict(self) -> dict[str, Any]:
        """Returns the same as plain values."""
        return asdict(self)

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Strength:
        """Returns the strength of a dictionary from `as_dict`; null stands for an infinite end."""
        ends = {"low": -math.inf, "high": math.inf, "value": math.inf}
        if entry["score"] == 0:
            ends["value"] = -math.inf
        return cls(**{**entry, **{n: end for n, end in ends.items() if entry[n] is None}})

    def text(self) -> str:
        """Returns the match in one line."""
        estimate = Estimate(self.value, self.low, self.high)
        if self.unit == POINTS:
            return (
                f"against {self.opponent:>8}: {estimate.text('+.3f', named=f' {POINTS}')},"
                f" {self.games} games (+{self.wins} -{self.losses})"
            )
        if self.unit == FIRST:
            share = Estimate(100 * self.value, 100 * self.low, 100 * self.high)
            text = share.text("5.1f", named=" %")
            return f"against {self.opponent:>8}: first in {text} of {self.games} games"
        return (
            f"against {self.opponent:>8}: {100 * self.score:5.1f} % of {self.games} games"
            f" (+{self.wins} ={self.draws} -{self.losses}), Elo {estimate.text('+.0f')}"
        )

    def brief(self) -> str:
        """Opponent and score, abbreviated."""
        score = f"{self.value:+.2f}" if self.unit == POINTS else f"{100 * self.score:.0f}%"
        return f"{self.opponent} {score}"


def measure(
    game: Game,
    player: Any,
    opponent: Any,
    *,
    games: int,
    limits: Limits,
    seed: int,
    plies: int = 3,
    threads: int = 1,
    workers: Workers | None = None,
) -> Strength:
    """Play a match of an evaluator or player against an opponent; returns the strength.

    opponent: a player or its name, or another evaluator.
    seed: the order of the openings; with dice, the rolls.
    plies: length of the openings in plies; unused in games with dice.
    threads, workers: as in `play_match`.

    Players without randomness repeat a game if its opening is repeated. Therefore an evaluator that
    was chosen by one measurement is measured again on openings of another length.
    """
    if not isinstance(player, Player):
        player = Player("learned", as_evaluator(game, player))
    rival = opponent if isinstance(opponent, Player) else None
    if isinstance(opponent, str):
        rival = parse_player(game, opponent, techniques="exact")  # as what is learned searches
    rival = rival or Player(opponent.name, opponent)
    match = play_match(
        game,
        player,
        *[rival] * (game.players - 1),
        limits=limits,
        games=games,
        openings=None if game.dice else Openings(game, plies=plies, seed=seed),
        threads=threads,
        workers=workers,
        seed=seed,
    )
    if match.interrupted:
        raise KeyboardInterrupt
    return _strength(match, rival.name)


def _strength(match: Match, opponent: str) -> Strength:
    """Returns the strength of the first player of a match."""
    summary: Any = match.summary()
    wins, draws, value, score = summary.first_player()
    counts = match.games, wins, draws, match.games - wins - draws
    return Strength(opponent, *counts, score, value.value, value.low, value.high, summary.unit)


class Arena:
    """Measures evaluators in the background.

    processes: number of processes that play.
    workers: a cluster that plays instead.

    A context manager: at its end, matches that have not begun are cancelled, and those in progress
        are finished, or killed after an exception.
    """

    def __init__(
        self, game: Game, *, limits: Limits, processes: int = 1, workers: Workers | None = None
    ) -> None:
        self._game = game
        self._limits = limits
        self._workers = workers
        self._pool: Executor
        if self._workers is not None:
            self._pool = ThreadPoolExecutor(MATCHES, thread_name_prefix="arena")
            return
        with starting_processes(resource_tracker):  # its locks start the tracker already
            self._pool = ProcessPoolExecutor(
                processes,
                multiprocessing.get_context("spawn"),
                initializer=serve,
                initargs=(os.getpid(),),
            )

    def submit(
        self, evaluator: Evaluator, opponent: str, *, games: int, seed: int, plies: int = 3
    ) -> Future[Strength]:
        """Start measuring an evaluator as it is now; returns a future of its strength."""
        match = pack((self._game, evaluator, opponent))
        with starting_processes(resource_tracker):  # the first call starts the processes
            return self._pool.submit(
                _measure, match, games=games, limits=self._limits, seed=seed, plies=plies,
                workers=self._workers,
            )  # fmt: skip

    def __enter__(self) -> Arena:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if kind is not None and self._workers is not None:
            self._workers.close()
        elif kind is not None:
            for process in list((getattr(self._pool, "_processes", None) or {}).values()):
                process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _measure(match: bytes, **options: Any) -> Strength:
    return measure(*unpack(match), **options)

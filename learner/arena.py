"""Matches beside the learning: a second process measures what the first has learned so far."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import games as all_games
from games.contract import Game
from play.match import play_match
from play.openings import Openings
from play.player import Limits, Player, parse_player
from search import as_evaluator

__all__ = ["Arena", "Strength", "measure"]


@dataclass(frozen=True)
class Strength:
    """How an evaluator did against one opponent: score 0 to 1, Elo with its 95 % interval."""

    opponent: str
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    elo: float
    low: float
    high: float

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def measure(
    game: Game | str,
    player: Any,
    opponents: Sequence[str],
    *,
    games: int,
    limits: Limits,
    seed: int,
    threads: int = 1,
) -> list[Strength]:
    """Play an evaluator (or player) against each opponent; one entry for each.

    `seed` decides the openings, so that a later measurement with another seed is independent of
    what was chosen by an earlier one.
    """
    game = all_games.load(game) if isinstance(game, str) else game
    first = player if isinstance(player, Player) else Player("learned", as_evaluator(game, player))
    found = []
    for name in opponents:
        match = play_match(
            game,
            first,
            parse_player(game, name),
            limits=limits,
            games=games,
            openings=Openings(game, seed=seed),
            threads=threads,
            seed=seed,
        )
        if match.interrupted:
            raise KeyboardInterrupt
        summary = match.summary()
        found.append(
            Strength(
                name,
                summary.games,
                summary.wins,
                summary.draws,
                summary.losses,
                summary.score.value,
                summary.elo.value,
                summary.elo.low,
                summary.elo.high,
            )
        )
    return found


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Arena:
    """Measures evaluator files one after another on the second core.

    A game that `games.load` knows is played in a process of its own, any other in a thread.
    """

    def __init__(
        self, game: Game, opponents: Sequence[str], *, games: int, limits: Limits, seed: int
    ) -> None:
        self._game: Game | str = game.name if game.name in all_games.names() else game
        self._options: dict[str, Any] = {"games": games, "limits": limits, "seed": seed}
        self._opponents = list(opponents)
        self._pool: ProcessPoolExecutor | ThreadPoolExecutor
        if isinstance(self._game, str):
            self._pool = ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn"), initializer=_ignore_interrupts
            )
        else:
            self._pool = ThreadPoolExecutor(1)

    def submit(self, path: Any) -> Future[list[Strength]]:
        """Ask for the strength of the evaluator in a file."""
        return self._pool.submit(measure, self._game, str(path), self._opponents, **self._options)

    def close(self) -> None:
        """Drop what has not begun and wait for what has."""
        self._pool.shutdown(wait=True, cancel_futures=True)

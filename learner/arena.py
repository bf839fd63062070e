"""Matches beside the learning: a second process measures what the first has learned so far."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
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
    opponent: str,
    *,
    games: int,
    limits: Limits,
    seed: int,
    threads: int = 1,
) -> Strength:
    """Play an evaluator (or player) against an opponent.

    `seed` decides the order of the openings. Another seed draws from the same positions, so it is
    not independent of what was chosen by an earlier measurement: between players without chance
    an opening that comes again gives the same game.
    """
    game = all_games.load(game) if isinstance(game, str) else game
    if not isinstance(player, Player):
        player = Player("learned", as_evaluator(game, player))
    match = play_match(
        game,
        player,
        parse_player(game, opponent),
        limits=limits,
        games=games,
        openings=Openings(game, seed=seed),
        threads=threads,
        seed=seed,
    )
    if match.interrupted:
        raise KeyboardInterrupt
    summary = match.summary()
    return Strength(
        opponent,
        summary.games,
        summary.wins,
        summary.draws,
        summary.losses,
        summary.score.value,
        summary.elo.value,
        summary.elo.low,
        summary.elo.high,
    )


def _serve() -> None:
    """Make this a process that leaves Ctrl-C to its parent and ends with it, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def outlive() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=outlive, daemon=True).start()


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let processes begin without hearing Ctrl-C, which is theirs to ignore from the start."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Arena:
    """Measures evaluators while something else goes on.

    A game that `games.load` knows is played in `workers` processes, any other in as many threads.
    """

    def __init__(self, game: Game, *, limits: Limits, workers: int = 1) -> None:
        self._game: Game | str = game.name if game.name in all_games.names() else game
        self._limits = limits
        self._pool: ProcessPoolExecutor | ThreadPoolExecutor
        if isinstance(self._game, str):
            self._pool = ProcessPoolExecutor(
                workers, multiprocessing.get_context("spawn"), initializer=_serve
            )
        else:
            self._pool = ThreadPoolExecutor(workers)

    def submit(self, player: Any, opponent: str, *, games: int, seed: int) -> Future[Strength]:
        """Ask for the strength of the evaluator in a file against an opponent."""
        with _interrupts_ignored():  # the first call starts the processes
            return self._pool.submit(
                measure,
                self._game,
                str(player),
                opponent,
                games=games,
                limits=self._limits,
                seed=seed,
            )

    def close(self) -> None:
        """Drop what has not begun and wait for what has."""
        self._pool.shutdown(wait=True, cancel_futures=True)

"""The labels that invented terms explain: searched values of an evaluator, results of games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from learner.books.book import read_records
from learner.fit.targets import expectations, fit_scale
from learner.positions.filters import Filter, Games, distinct
from learner.positions.shards import UNKNOWN, Rows
from learner.positions.store import PositionStore
from learner.self_play import Task, game_rows, in_tasks, play_task
from play.match.openings import Openings
from play.workers import Workers
from search import Evaluator

__all__ = ["FEWEST_GAMES", "FEWEST_POSITIONS", "Labels", "labels_of", "play_games", "read_games"]

#: Fewer positions or games say nothing about terms.
FEWEST_POSITIONS, FEWEST_GAMES = 1000, 20
#: Games that are stored together; an interrupted call goes on after the last of them.
GAMES_AT_ONCE = 100
#: Longer games of self-play are drawn.
MOST_PLIES = 300
#: Share of the games that are held out.
HELD_OUT = 0.2


@dataclass(frozen=True, eq=False)
class Labels:
    """Positions and what is expected of them, [positions] each; games follow one another.

    positions: int64 [positions, integers].
    expected: 0 to 1, for the side to move.
    weights: how many positions of the games each stands for.
    games: the number of each position's game.
    held_out: whether the game only tests what is learned from others.
    scale: a value v, in the game's unit, stands for the expectation sigmoid(scale * v).
    """

    positions: NDArray[np.int64]
    expected: NDArray[np.float64]
    weights: NDArray[np.float64]
    games: NDArray[np.int64]
    held_out: NDArray[np.bool_]
    scale: float = 1.0


def labels_of(
    game: Game, rows: Rows, *, blend: float = 0.0, most: int = 100_000, seed: int = 0
) -> Labels:
    """Returns the labels of stored positions: quiet ones, each once, that no search has decided.

    blend: share of the result in an expectation; the rest is the value.
    most: at most about this many positions, of games drawn as a whole.
    seed: chooses these games, and the fifth of them that is held out.

    Raises ValueError for too few positions or games, and with a share of results for games without.
    """
    passing = Filter(quiet=True, undecided=True, known=blend > 0)
    rows = distinct(game, passing.apply(game, rows))
    if len(rows) > most:
        rows = rows.take(Games(0.0, most / len(rows), seed).holds(rows.game_number))
    count = len(np.unique(rows.game_number))
    if len(rows) < FEWEST_POSITIONS or count < FEWEST_GAMES:
        known = " with a known result" * (blend > 0)
        raise ValueError(
            f"expected at least {FEWEST_POSITIONS} quiet positions{known} of {FEWEST_GAMES} games,"
            f" found {len(rows)} of {count}"
        )
    scale = 1.0
    if rows.value.any() and (rows.result != UNKNOWN).any():
        scale = fit_scale(rows.value, rows.result, sample_weight=rows.count)
    elif blend < 1:
        raise ValueError("expected positions with values and known results, found none")
    rows = rows.take(np.argsort(rows.game_number, kind="stable"))
    return Labels(
        rows.positions,
        expectations(rows.value, rows.result, scale=scale, blend=blend),
        rows.count.astype(np.float64),
        rows.game_number.astype(np.int64),
        Games(0.0, HELD_OUT, seed + 1).holds(rows.game_number),
        scale,
    )


def play_games(
    store: PositionStore,
    evaluator: Evaluator,
    *,
    games: int,
    nodes: int,
    plies: int = 6,
    seed: int = 0,
    threads: int = 2,
    progress: Callable[[int], Any] = lambda games: None,
) -> None:
    """Fill a store with the positions of self-play, with their searched values and results.

    store: an empty store, or one that an interrupted call with the same options has begun.
    evaluator: plays the games; its values are stored in the game's unit.
    games: number of games.
    nodes: positions searched for each move.
    plies: length of the shortest random openings.
    seed: decides the openings.
    threads: number of threads; they do not change the result.
    progress: called with the number of games that have been stored.
    """
    game = store.game
    first = _begun(store)
    progress(first)
    openings = islice(iter(Openings(game, plies=plies, seed=seed)), first, games)
    task = Task(game, evaluator, None, None, nodes, MOST_PLIES + plies, decide=True)
    number = first
    with (
        Workers(jobs=threads) as workers,
        closing(workers.map(play_task, in_tasks(task, openings))) as played,
    ):
        for lessons in played:
            for lesson in lessons:
                rows = game_rows(lesson.played, number)
                store.append(
                    rows.positions,
                    value=[evaluator.in_units(value) for value in rows.value.tolist()],
                    result=rows.result,
                    ply=rows.ply,
                    game_number=number,
                )
                number += 1
            if number % GAMES_AT_ONCE == 0:
                store.flush()
            progress(len(lessons))
    store.flush()


def _begun(store: PositionStore) -> int:
    """Cut a store back to whole batches of games; returns the number of their games."""
    if not len(store):
        return 0
    numbers = store.load().game_number
    first = (int(numbers.max()) + 1) // GAMES_AT_ONCE * GAMES_AT_ONCE
    store.truncate(int((numbers < first).sum()))
    return first


def read_games(game: Game, paths: Sequence[Any]) -> Rows:
    """Returns the positions of files of games with their results, without values.

    Raises ValueError for a file of another game, OSError if a file cannot be read.
    """
    parts = []
    width = len(game.start())
    for number, (record, _) in enumerate(read_records(game, paths)):
        outcome = record.outcome()
        if outcome is None or not record.ply:
            continue
        positions = record.positions[: record.ply]
        movers = np.array([game.to_move(position) for position in positions])
        parts.append(
            Rows.of(
                np.array(positions, dtype=np.int64),
                result=(np.sign(outcome) * np.where(movers == 0, 1, -1)).astype(np.int64),
                ply=np.arange(record.ply),
                game_number=number,
                width=width,
            )
        )
    return Rows.concatenate(parts, width)

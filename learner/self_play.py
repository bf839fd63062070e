"""Self-play for learners, which workers carry out.

A task says how games are played, with frozen weights. Native code plays one from an opening and
returns a lesson: the rows that the model learns from, the targets, and the game for the log. A
lesson depends neither on the worker nor on earlier games, so that games can go to threads,
processes or other machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from learner.dice_play import DiceSelfPlay, starts_of
from learner.multiplayer_play import MultiplayerSelfPlay, PlayedByMany
from learner.positions.positions import each, noisy
from learner.positions.shards import Rows
from play.matches.game_loop import GameLoop, Played
from play.workers import Workers
from play.workers.crew import Crew
from programs.arguments import THREADS
from search import AlphaBetaOptions, Engine, Evaluator, Lookup

__all__ = [
    "Lesson",
    "SelfPlay",
    "Target",
    "Task",
    "Teacher",
    "evenly",
    "final",
    "game_rows",
    "games_of",
    "lambda_returns",
    "pick",
    "quiet",
    "rows_of",
    "sides",
    "squashed_outcome",
]

#: A learner's table is small: its searches are short, and clearing it costs time.
TABLE_MIB = 1.0
#: Positions of a game's searches; at five plies a game has some ten thousand.
TRACE_ROOM = 1 << 18


@dataclass(frozen=True)
class Target:
    """Positions, and for each the interval in which its squashed value should lie, low <= high."""

    positions: Any
    low: NDArray[np.float64]
    high: NDArray[np.float64]


#: Returns the targets of a game; the engine holds the traces of its searches.
Teacher = Callable[[Played, Engine], Target]


@dataclass(frozen=True)
class Task:
    """Games with one evaluator; without a teacher only the games are returned."""

    game: Game
    evaluator: Evaluator
    inputs: Any
    depth: int | None
    nodes: int | None
    most_plies: int
    decide: bool
    teacher: Teacher | None = None
    #: whether searches record the positions that they visit
    traces: bool = False
    #: lookup and selective techniques of the search (see `search.Engine`)
    lookup: Lookup | None = None
    techniques: Any = None
    #: with dice, whether to back up each position. Openings are then seeds of the dice; with more
    #: than two players they are those of `late_starts`
    backups: bool = True


@dataclass(frozen=True)
class Lesson:
    """A game, and with a teacher its rows of inputs [positions, ...] and their targets."""

    played: Played
    rows: Any = ()
    low: Any = ()
    high: Any = ()


def rows_of(inputs: Any, positions: Any) -> NDArray[Any]:
    """Returns a model's inputs: the values of terms, or the active indices of an encoding.

    Without inputs (None) they are the positions themselves.
    """
    if inputs is None:
        return np.asarray(positions)
    if hasattr(inputs, "active_rows"):
        return np.asarray(inputs.active_rows(positions))
    return np.asarray(inputs.measure(positions))


def loop_of(task: Task, engine: Engine) -> GameLoop | DiceSelfPlay | MultiplayerSelfPlay:
    """Returns the loop that plays the games of a task with an engine."""
    game: Any = task.game
    if game.dice:
        return DiceSelfPlay(
            game, engine, depth=task.depth or 0, backups=task.backups, most_plies=task.most_plies
        )
    limits: Any = {"depth": task.depth, "nodes": task.nodes, "most_plies": task.most_plies}
    if game.players > 2:
        return MultiplayerSelfPlay(game, engine, **limits)
    return GameLoop(
        game, engine, engine, decide=task.decide, leaves=task.teacher is not None,
        traces=task.traces, **limits,
    )  # fmt: skip


class SelfPlay(Crew[tuple[Engine, Any]]):
    """Plays a game of a task from each opening, independent of the others; returns its lesson."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.task = task

    def new_seats(self) -> tuple[Engine, Any]:
        task = self.task
        room = TRACE_ROOM if task.traces else 0
        options = AlphaBetaOptions(trace=room, techniques=task.techniques)
        asked = options if room or task.techniques is not None else None
        engine = Engine(task.game, task.evaluator, asked, table_mib=TABLE_MIB, lookup=task.lookup)
        return engine, loop_of(task, engine)

    def __call__(self, opening: tuple[Any, ...]) -> Lesson:
        with self.seats() as (engine, loop):
            engine.clear()
            played = loop.play(opening)
            if self.task.teacher is None:
                return Lesson(played)
            target = self.task.teacher(played, engine)
            rows = rows_of(self.task.inputs, target.positions)
            return Lesson(played, rows, target.low, target.high)


def games_of(
    task: Task,
    *,
    games: int,
    plies: int,
    seed: int,
    threads: int = THREADS,
    workers: Workers | None = None,
    progress: Callable[[int], Any] | None = None,
) -> Iterator[Played]:
    """Yields at most `games` games of a task, in order, each from another opening or other dice.

    plies, seed: see `learner.dice_play.starts_of`.
    threads, workers: number of threads, or workers instead; they do not change the games.
    progress: called with the number of games done after some of them.
    """
    openings = islice(starts_of(task.game, plies=plies, seed=seed), games)
    with (
        nullcontext(workers) if workers is not None else Workers(jobs=threads) as at_work,
        closing(at_work.map(SelfPlay(task), openings)) as lessons,
    ):
        for lesson in lessons:
            yield lesson.played
            if progress is not None:
                progress(1)


def quiet(game: Game, positions: Any) -> NDArray[np.bool_]:
    """Returns for each position whether it is quiet enough for a static value."""
    return ~noisy(game, positions)


def final(game: Game, positions: Any) -> NDArray[np.bool_]:
    """Returns for each position whether the game is over, so that it has no static value."""
    return np.array([game.outcome(position) is not None for position in each(positions)], bool)


def pick(positions: Any, chosen: NDArray[np.int64]) -> Any:
    """Returns the positions of an array or a list that have the given indices."""
    return (
        positions[chosen] if isinstance(positions, np.ndarray) else [positions[i] for i in chosen]
    )


def evenly(chosen: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Returns at most `most` of the indices, taken evenly, which no worker can change."""
    if len(chosen) <= most:
        return chosen
    return chosen[np.linspace(0, len(chosen) - 1, most).astype(np.int64)]


def sides(plies: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns 1 for an even number of plies (the same side moves), -1 for an odd number."""
    return np.where(plies % 2 == 0, 1.0, -1.0)


def game_rows(played: Played, number: int) -> Rows:
    """Returns the searched positions of game `number` as rows of a store.

    With more than two players they are all positions, as each player sees them.
    """
    if isinstance(played, PlayedByMany):
        return played.rows(number)
    plies = np.arange(played.opening, len(played.moves))
    return Rows.of(
        played.positions[played.opening : len(played.moves)],
        value=played.values[plies],
        result=np.sign(played.outcomes()[plies]),
        ply=plies,
        game_number=number,
        width=len(played.game.start()),
    )


def lambda_returns(
    values: NDArray[np.float64], outcome: float, lambda_: float
) -> NDArray[np.float64]:
    """Returns the lambda-return of each position of a game, from one side's view, [positions].

    values: the value of each position, in order, [positions].
    outcome: the outcome of the game.
    lambda_: 0 for the next value (the outcome for the last position), 1 for the outcome (Sutton
        1988).
    """
    following = np.append(values[1:], outcome)
    returns = np.empty_like(values)
    later = outcome
    for i in range(len(values) - 1, -1, -1):
        later = (1.0 - lambda_) * following[i] + lambda_ * later
        returns[i] = later
    return returns


def squashed_outcome(played: Played, scale: float) -> float:
    """Returns the outcome of a game, -1 to 1, for the side to move after the opening."""
    outcome = float(played.outcomes()[played.opening])
    return outcome if played.game.wins else float(np.tanh(outcome / scale))

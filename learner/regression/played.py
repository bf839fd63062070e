"""Games of self-play at several numbers of nodes a move, kept in a folder, for calibration.

Their openings are even, uneven and nearly lost, so that values of every size occur.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from itertools import count, islice, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from games.contract import Game
from games.kinds import FOR_TWO_WITHOUT_DICE
from learner.regression.calibration import CalibrationSample, sample_of
from play.matches.game_loop import GameLoop, Played
from play.matches.openings import random_line
from play.workers import Workers
from programs.whole_files import write_atomically
from search import AlphaBetaOptions, Engine, Evaluator
from search.evaluators.samples import value_mark

__all__ = ["GAMES_PER_FILE", "games_at", "uneven_openings"]

#: Games of one file, and of one task of a worker.
GAMES_PER_FILE = 20
#: Longer games are drawn.
MOST_PLIES = 400
#: More than the games of one number of nodes; even, as halves of a sample are told by it.
MOST_GAMES = 10**6
COLUMNS = ("values", "results", "phases", "games", "nodes", "pieces")


@dataclass(frozen=True)
class _Task:
    """Games from number `first` on, with `nodes` a move."""

    game: Game
    evaluator: Evaluator
    techniques: Any
    nodes: int
    seed: int
    first: int


def games_at(
    game: Game,
    evaluator: Evaluator,
    techniques: Any,
    *,
    nodes: Sequence[int],
    games: Sequence[int],
    seeds: Sequence[int],
    folder: Path,
    threads: int = 1,
    progress: Callable[[int], Any] = lambda number: None,
) -> CalibrationSample:
    """Returns the positions of games at several numbers of nodes a move.

    evaluator: plays against itself, searched with `techniques`, from `uneven_openings`.
    nodes: positions searched for a move, one number for each sample.
    games: number of games with each, seed by seed; the games of a file are all
        played.
    seeds: decide the openings.
    folder: where the files are; what it holds is not played again.
    progress: called with the number of games of each file that was played.

    Raises ValueError in a game with dice, or for more than two players, or for numbers below 1.
    """
    FOR_TWO_WITHOUT_DICE.expect(game, where="--nodes: for several numbers")
    if min(*nodes, *games) < 1:
        raise ValueError(f"expected at least 1 node and game, found {nodes} and {games}")
    folder.mkdir(parents=True, exist_ok=True)
    mark = value_mark(game, evaluator)
    samples = zip(product(seeds, nodes), games, strict=True)
    files = {
        folder / f"{mark}-{level}-{seed}-{first:06d}.npz": (
            _Task(game, evaluator, techniques, level, seed, first), place * MOST_GAMES
        )
        for place, ((seed, level), many) in enumerate(samples)
        for first in range(0, many, GAMES_PER_FILE)
    }  # fmt: skip
    missing = [path for path in files if not path.exists()]
    with (
        Workers(jobs=threads) as workers,
        closing(workers.map(_play, (files[path][0] for path in missing))) as played,
    ):
        for path, sample in zip(missing, played, strict=True):
            packed = BytesIO()
            np.savez_compressed(packed, **{name: getattr(sample, name) for name in COLUMNS})
            write_atomically(path, packed.getvalue())
            progress(GAMES_PER_FILE)
    parts = []
    for path, (_, number) in files.items():
        with np.load(path) as file:
            columns = {name: file[name] for name in COLUMNS}
        columns["games"] += number
        parts.append(columns)
    whole = [-(-many // GAMES_PER_FILE) * GAMES_PER_FILE for many in games]
    origin = {"games": whole, "nodes": list(nodes), "seeds": list(seeds)}
    joined = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}
    return CalibrationSample(**joined, origin=origin)


def _play(task: _Task) -> CalibrationSample:
    """Returns the undecided positions of the games of a task."""
    game = task.game
    engine = Engine(game, task.evaluator, AlphaBetaOptions(techniques=task.techniques))
    loop = GameLoop(game, engine, engine, nodes=task.nodes, most_plies=MOST_PLIES, decide=True)
    openings = uneven_openings(
        game, task.evaluator, techniques=task.techniques, seed=task.seed, first=task.first
    )

    def games_played() -> Iterator[tuple[int, Played]]:
        for number, opening in enumerate(islice(openings, GAMES_PER_FILE), task.first):
            engine.clear()
            yield number, loop.play(opening)

    return sample_of(game, games_played(), task.nodes)


# --- openings -----------------------------------------------------------------------------------


class OpeningKind(NamedTuple):
    """The making of an opening: random moves, then a search's, to a value within bounds.

    share: of all openings.
    random: fewest and most random plies.
    played: maximum number of plies that a short search plays after them.
    least, most: bounds of the final position's distance from even, in the game's unit.
    """

    share: float
    random: tuple[int, int]
    played: int
    least: float
    most: float


KINDS = (
    OpeningKind(0.15, (4, 12), 0, 0.0, np.inf),  # as they come
    OpeningKind(0.15, (4, 24), 0, 0.7, 1.6),  # about a man down
    OpeningKind(0.20, (13, 44), 0, 0.0, 1.3),
    OpeningKind(0.50, (4, 10), 60, 0.08, 0.6),  # between a draw and a win
)
#: Nodes of the search that plays, and of the one that values.
PLAYED, VALUED = 500, 3_000
#: Number of openings that are tried before one whose value is out of bounds is accepted.
TRIES = 200


def uneven_openings(
    game: Game, evaluator: Evaluator, *, techniques: Any = None, seed: int = 0, first: int = 0
) -> Iterator[tuple[Any, ...]]:
    """Yields openings of `KINDS` endlessly, each a tuple of moves from the start.

    evaluator: plays and values, searched with `techniques`.
    seed: decides them; the opening of a number is the same wherever one begins.
    first: the number of the first.
    """
    engine = Engine(game, evaluator, techniques=techniques, table_mib=1.0)
    shares = [kind.share for kind in KINDS]
    for number in count(first):
        random = np.random.default_rng([seed, number])
        kind = KINDS[int(random.choice(len(KINDS), p=shares))]
        engine.clear()
        yield _opening(game, engine, kind, random)


def _opening(game: Game, engine: Engine, kind: OpeningKind, random: Any) -> tuple[Any, ...]:
    moves: list[Any] = []
    for _ in range(TRIES):
        position, moves = random_line(game, int(random.integers(*kind.random) + 1), random)
        for _ in range(int(random.integers(kind.played + 1))):
            if game.outcome(position) is not None:
                break
            moves.append(engine.search(position, nodes=PLAYED).whole().move)
            position = game.play(position, moves[-1])
        if game.outcome(position) is not None:
            moves.pop()  # a game that is over has no value
            continue
        value = engine.evaluator.in_units(engine.search(position, nodes=VALUED).whole().value)
        if kind.least <= abs(value) <= kind.most:
            break
    return tuple(moves)

"""Openings for calibration: even, uneven and nearly lost, so that values of every size occur."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from games.contract import Game
from play.match.openings import random_line
from search import Engine, Evaluator

__all__ = ["KINDS", "Kind", "uneven_openings"]


class Kind(NamedTuple):
    """How an opening is made: random moves, then a search's, to a value within bounds.

    share: of all openings.
    random: fewest and most random plies.
    played: most plies that a short search plays after them.
    least, most: bounds of the final position's distance from even, in the game's unit.
    """

    share: float
    random: tuple[int, int]
    played: int
    least: float
    most: float


KINDS = (
    Kind(0.15, (4, 12), 0, 0.0, np.inf),  # as they come
    Kind(0.15, (4, 24), 0, 0.7, 1.6),  # about a man down
    Kind(0.20, (13, 44), 0, 0.0, 1.3),
    Kind(0.50, (4, 10), 60, 0.08, 0.6),  # between a draw and a win
)
#: Nodes of the search that plays, and of the one that values.
PLAYED, VALUED = 500, 3_000
#: Openings that are tried before a value out of bounds is taken.
TRIES = 200


def uneven_openings(
    game: Game, evaluator: Evaluator, *, techniques: Any = None, seed: int = 0, first: int = 0
) -> Iterator[tuple[Any, ...]]:
    """Yields openings of `KINDS` without end, each a tuple of moves from the start.

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


def _opening(game: Game, engine: Engine, kind: Kind, random: Any) -> tuple[Any, ...]:
    moves: list[Any] = []
    for _ in range(TRIES):
        position, moves = random_line(game, int(random.integers(*kind.random) + 1), random)
        for _ in range(int(random.integers(kind.played + 1))):
            if game.outcome(position) is not None:
                break
            moves.append(engine.search(position, nodes=PLAYED).move)
            position = game.play(position, moves[-1])
        if game.outcome(position) is not None:
            moves.pop()  # a game that is over has no value
            continue
        value = engine.evaluator.in_units(engine.search(position, nodes=VALUED).value)
        if kind.least <= abs(value) <= kind.most:
            break
    return tuple(moves)

"""Positions of search trees as stored rows: what a search found on its way to the move.

A search of thousands of positions labels many of them at no further cost, among them positions that
no game reaches but that searches evaluate. For most, alpha-beta finds only a lower or an upper
bound. (J. Veness, D. Silver, W. Uther and A. Blair, "Bootstrapping from Game Tree
Search", NIPS 22, 2009.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from games.contract import Game
from games.values import EXACT, LOWER, UPPER
from learner.positions.shards import Rows
from learner.self_play import Lesson, Target, evenly, game_rows, pick, quiet
from play.matches.game_loop import Played
from search import Engine, Evaluator

__all__ = ["TreeTeacher", "bounded_expectations", "lesson_rows"]


@dataclass(frozen=True)
class TreeTeacher:
    """Takes quiet positions of the searches of a game, evenly, with their values or bounds.

    They were searched at least half as deep as the middle one of the game's positions.

    positions_per_game: maximum number of positions of a game.
    """

    game: Game
    positions_per_game: int

    def __call__(self, played: Played, engine: Engine) -> Target:
        """Returns values as they are, not squashed; a bound leaves one end of them infinite."""
        positions, values, depths, bounds = (np.asarray(part) for part in engine.traced())
        roots = played.depths[played.opening : len(played.moves)]
        deep = np.flatnonzero(depths >= np.median(roots) / 2) if len(roots) else np.arange(0)
        # twice the number, because not all are quiet
        deep = evenly(deep, 2 * self.positions_per_game)
        deep = deep[quiet(self.game, pick(positions, deep))]
        chosen = evenly(deep, self.positions_per_game)
        value, bound = values[chosen], bounds[chosen]
        return Target(
            pick(positions, chosen),
            np.where(bound == UPPER, -np.inf, value),
            np.where(bound == LOWER, np.inf, value),
        )


def lesson_rows(lesson: Lesson, number: int) -> Rows:
    """Returns the rows of game `number`: its searched positions, then those of the search trees.

    The result of the latter is unknown; their ply is that of the first search.
    """
    rows = game_rows(lesson.played, number)
    if not len(lesson.rows):
        return rows
    bound = np.where(np.isinf(lesson.low), UPPER, np.where(np.isinf(lesson.high), LOWER, EXACT))
    trees = Rows.of(
        lesson.rows,
        value=np.where(bound == UPPER, lesson.high, lesson.low),
        ply=lesson.played.opening,
        game_number=number,
        bound=bound,
    )
    return Rows.concatenate([rows, trees], lesson.rows.shape[1])


def bounded_expectations(rows: Rows, evaluator: Evaluator, scale: float) -> NDArray[np.float64]:
    """Returns targets of bounds, 0 to 1: the static expectation, or half way from it to the bound.

    evaluator: gives the static value.
    scale: a value predicts the expectation sigmoid(value * scale).

    A static value on the right side of its bound is its own target: without that, errors of bounds,
    which all push one way, would carry the values with them.
    """
    static = expit(scale * np.asarray(evaluator.values(rows.positions)))
    bound = expit(scale * rows.value.astype(np.float64))
    beyond = np.where(rows.bound == LOWER, np.maximum(static, bound), np.minimum(static, bound))
    targets: NDArray[np.float64] = (static + beyond) / 2.0
    return targets

"""TDLeaf(lambda): the leaves of principal variations follow one another.

Source: J. Baxter, A. Tridgell and L. Weaver, "Learning to Play Chess Using Temporal Differences",
    Machine Learning 40 (2000). The value of a position is that of the leaf of its principal
    variation, and the leaf's static value is changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from games.contract import Game
from learner.gradient.frame import GradientLearner
from learner.models.model import squash
from learner.options import ranged
from learner.self_play import Target, final, lambda_returns, pick, quiet, sides, squashed_outcome
from play.matches.game_loop import Played
from search import PROVEN, Engine

__all__ = ["TDLeaf"]


@dataclass(frozen=True)
class _Teacher:
    game: Game
    lambda_: float
    scale: float

    def __call__(self, played: Played, engine: Engine) -> Target:
        first, last = played.opening, len(played.moves)
        values, leaves = played.values[first:last], played.leaves[first:last]
        begins = sides(np.arange(last - first))  # to the view of the side that begins
        returns = lambda_returns(
            begins * squash(values, self.scale), squashed_outcome(played, self.scale), self.lambda_
        )
        assert played.leaf_plies is not None
        moves = sides(played.leaf_plies[first:last])  # to the view of the side to move at the leaf
        # a value of a finished game is not a static value
        ends = final(self.game, leaves) | (np.abs(values) > PROVEN)
        chosen = np.flatnonzero(~ends & quiet(self.game, leaves))
        # nor is the value of a draw by repetition
        static = moves[chosen] * engine.evaluator.values(pick(leaves, chosen))
        chosen = chosen[np.isclose(static, values[chosen])]
        targets = (begins * moves * returns)[chosen]
        return Target(pick(leaves, chosen), targets, targets)


@dataclass(kw_only=True, eq=False, repr=False)
class TDLeaf(GradientLearner):
    """The value of the leaf of move t moves towards the lambda-return of the leaves.

    lambda_: 0 for the next leaf's value, 1 for the outcome. KnightCap used 0.7; in checkers, where
        an error takes many plies to show, 0.9 was better (docs/notebook.md).
    """

    lambda_: float = ranged(0.9, 0, 1)

    def _teacher(self) -> _Teacher:
        return _Teacher(self.game_, self.lambda_, self.scale)

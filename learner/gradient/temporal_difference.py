"""TD(lambda): values follow the values of the positions that came next.

Source: R. S. Sutton, "Learning to Predict by the Methods of Temporal Differences", Machine Learning
    3 (1988); games are self-play, as in TD-Gammon (Tesauro 1992). This is the forward view, in
    which each position has the lambda-return as its target; over a game with fixed weights the
    forward and the backward view make the same changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from games.contract import Game
from games.kinds import FOR_TWO
from learner.gradient.frame import GradientLearner
from learner.models.model import squash
from learner.options import ranged
from learner.self_play import Target, lambda_returns, pick, quiet, sides, squashed_outcome
from play.matches.game_loop import Played
from search import Engine

__all__ = ["TemporalDifference"]


@dataclass(frozen=True)
class _Teacher:
    game: Game
    lambda_: float
    scale: float

    def __call__(self, played: Played, engine: Engine) -> Target:
        first, last = played.opening, len(played.moves)
        chosen = np.flatnonzero(quiet(self.game, played.positions[first:last])) + first
        positions = pick(played.positions, chosen)
        static = engine.evaluator.values(positions)
        signs = sides(chosen - first)  # to the view of the side that begins
        returns = lambda_returns(
            signs * squash(static, self.scale), squashed_outcome(played, self.scale), self.lambda_
        )
        return Target(positions, signs * returns, signs * returns)


@dataclass(kw_only=True, eq=False, repr=False)
class TemporalDifference(GradientLearner):
    """Static values follow static values: V(s) += rate * (lambda-return - V(s)) * grad V(s).

    lambda_: 0 for the next position's value, 1 for the outcome.

    Search chooses the moves and gives no targets. Only quiet positions have a static value and are
    learned from. In games with dice the outcome is in points; the targets contain the luck of the
    dice, which averages out only over many games.
    """

    games: int = 4000
    depth: int | None = 1
    lambda_: float = ranged(0.7, 0, 1)

    kinds = (FOR_TWO,)
    backups = False

    def _teacher(self) -> _Teacher:
        return _Teacher(self.game_, self.lambda_, self.scale)

"""RootStrap: the static value of a position follows what its search backs up.

Source: J. Veness, D. Silver, W. Uther and A. Blair, "Bootstrapping from Game Tree Search", NIPS 22
(2009).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from games.contract import Game
from games.kinds import FOR_TWO
from learner.gradient.frame import GradientLearner
from learner.models.model import squash
from learner.self_play import Target, pick, quiet
from play.matches.game_loop import Played
from search import Engine

__all__ = ["RootStrap"]


@dataclass(frozen=True)
class _Teacher:
    game: Game
    scale: float

    def __call__(self, played: Played, engine: Engine) -> Target:
        first, last = played.opening, len(played.moves)
        chosen = np.flatnonzero(quiet(self.game, played.positions[first:last])) + first
        values = squash(played.values[chosen], self.scale)
        return Target(pick(played.positions, chosen), values, values)


@dataclass(kw_only=True, eq=False, repr=False)
class RootStrap(GradientLearner):
    """The static values of the quiet positions of games follow their backed-up values.

    In games with dice the backed-up values are exact averages over all rolls, without luck.
    """

    kinds = (FOR_TWO,)

    def _teacher(self) -> _Teacher:
        return _Teacher(self.game_, self.scale)

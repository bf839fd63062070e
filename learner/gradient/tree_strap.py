"""TreeStrap: every position of the search tree follows the value or bound that search found for it.

Source: J. Veness, D. Silver, W. Uther and A. Blair, "Bootstrapping from Game Tree Search", NIPS 22
    (2009). Alpha-beta usually proves only a lower or an upper bound; a bound is a target
    only for values on its wrong side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from games.contract import Game
from learner.gradient.frame import GradientLearner
from learner.models.model import squash
from learner.self_play import Target, evenly, pick, quiet
from play.matches.game_loop import Played
from search import EXACT, LOWER, UPPER, Engine

__all__ = ["TreeStrap"]

#: Maximum number of positions of each game, taken evenly.
POSITIONS = 4000


@dataclass(frozen=True)
class _Teacher:
    game: Game
    scale: float
    positions_per_game: int

    def __call__(self, played: Played, engine: Engine) -> Target:
        first, last = played.opening, len(played.moves)
        positions, values, depths, bounds = engine.traced()
        roots = played.positions[first:last]
        if isinstance(positions, np.ndarray):
            positions = np.concatenate([positions, roots])
        else:
            positions = [*positions, *roots]
        values = np.concatenate([values, played.values[first:last]])
        bounds = np.concatenate([bounds, np.full(len(roots), EXACT)])
        depths = np.concatenate([depths, played.depths[first:last]])
        # positions without a depth were not searched
        fit = quiet(self.game, positions) & (depths >= 1)
        chosen = evenly(np.flatnonzero(fit), self.positions_per_game)
        values, bounds = squash(values[chosen], self.scale), bounds[chosen]
        return Target(
            pick(positions, chosen),
            np.where(bounds == UPPER, -1.0, values),
            np.where(bounds == LOWER, 1.0, values),
        )


@dataclass(kw_only=True, eq=False, repr=False)
class TreeStrap(GradientLearner):
    """All quiet positions that were searched follow their backed-up values or bounds.

    That is TreeStrap(alpha-beta).
    """

    games: int = 1000

    traces = True

    def _teacher(self) -> _Teacher:
        return _Teacher(self.game_, self.scale, POSITIONS)

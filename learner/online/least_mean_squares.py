"""Least mean squares: Samuel's correction as gradient descent.

The games, and the difference between the value that search backs up and the static value of
Alpha's earlier position, are those of `learner.online.samuel1959`. The weights move by the
difference itself, along the gradient of its square (Widrow and Hoff 1960), instead of by counted
agreements of sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from learner.models.model import numbers_of
from learner.models.schedule import Schedule
from learner.online.frame import OnlineLearner, Step, decided
from learner.options import ranged
from search import LinearEvaluator

__all__ = ["LeastMeanSquares"]

#: The last rate as a share of the first.
LAST_SHARE = 0.1


@dataclass(kw_only=True, eq=False, repr=False)
class LeastMeanSquares(OnlineLearner):
    """Weights of all terms follow the difference: w += rate * difference * term / spread.

    features: a feature set or its name (None: the game's first).
    rate: share of the difference that one update would remove if one term explained it all; it
        falls linearly to a tenth over the `games`.
    scale: differences are squashed to tanh(difference / scale) * scale, so that one blunder does
        not outweigh a hundred quiet positions; in the unit of the fixed weights.
    win: value of a game that search has proven won, or the static value if that is higher; in the
        unit of the fixed weights.
    trial: number of games after which Beta takes over Alpha's weights.

    Each term's step is divided by the running mean of its square, so that terms of different units
    learn alike.

    After `fit`: `evaluator_`, and `spread_`, the mean square of each term.
    """

    features: Any = None
    rate: float = ranged(0.001, above=0, high=1)
    scale: float = ranged(0.3, above=0)
    win: float = ranged(3.0, above=0)
    trial: int = ranged(4, 1)

    #: The unit of the others.
    usual_fixed: ClassVar[dict[str, float]] = {"men": 1.0}
    takes_dice = True

    def _begin(self, start: LinearEvaluator) -> None:
        self.spread_ = np.ones(len(self.features_))
        self._learned = np.where(self.fixed_, 0.0, 1.0)

    def _correct(self, earlier: list[Step], now: Step) -> bool:
        terms = earlier[-1].terms
        static = self._static(terms)
        backed_up = now.result.value
        if decided(backed_up):
            backed_up = float(np.copysign(max(self.win, abs(static)), backed_up))
        difference = float(np.tanh((backed_up - static) / self.scale)) * self.scale
        self.spread_ += 0.001 * (terms * terms - self.spread_)
        rate = Schedule(self.rate, LAST_SHARE).at(self.games_played_, self.games)
        step = self._learned * terms / np.maximum(self.spread_, 0.01)
        self._alpha.weights += rate * difference * step
        return True

    def _after_game(self, alpha_won: float) -> str:
        if (self.games_played_ + 1) % self.trial == 0:
            self._beta.weights[:] = self._alpha.weights
        return ""

    def get_state(self) -> dict[str, Any]:
        return {
            "alpha": self._alpha.weights.tolist(),
            "beta": self._beta.weights.tolist(),
            "spread": self.spread_.tolist(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        arrays = {"alpha": self._alpha.weights, "beta": self._beta.weights, "spread": self.spread_}
        for name, array in arrays.items():
            array[:] = numbers_of(state[name], len(array))

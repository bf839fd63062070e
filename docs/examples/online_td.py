"""TD(lambda) with eligibility traces over the terms of a game, as a learner of one's own.

python train.py connect_four --learner docs.examples.online_td:OnlineTD
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from learner import GameLearner, Progress
from learner.options import ranged
from search import Engine, LinearEvaluator

__all__ = ["OnlineTD"]


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineTD(GameLearner):
    """The value of a position, tanh(weights @ terms), follows that of the next, move by move."""

    games: int = 100
    depth: int | None = 1
    opening_plies: int = 2
    inputs: Any = None
    rate: float = ranged(0.02, above=0)
    lambda_: float = ranged(0.7, 0, 1)

    def begin(self, evaluator: Any) -> None:
        features = self.game_.features[self.inputs or next(iter(self.game_.features))]
        self.evaluator_ = LinearEvaluator(self.game_, features, {}, name="onlinetd")

    def learn(self) -> Iterator[Progress]:
        weights, features = self.evaluator_.weights, self.evaluator_.features
        engine = Engine(self.game_, self.evaluator_, table_mib=1)
        for record in self.records():
            trace, before = np.zeros(len(weights)), None
            while not record.over:
                sign = -1.0 if record.to_move else 1.0  # terms are those of the side to move
                terms = sign * features.measure([record.position])[0]
                value = np.tanh(weights @ terms)
                if before is not None:
                    weights += self.rate * (value - before) * trace
                trace = self.lambda_ * trace + (1.0 - value**2) * terms
                before = value
                engine.clear()
                record.play(engine.search(record.position, depth=self.depth).move)
                self.updates_ += 1
            weights += self.rate * (record.outcome() - before) * trace
            self.games_played_ += 1
            yield self.progress(record)

    def _get_state(self) -> dict[str, Any]:
        return {"weights": self.evaluator_.weights.tolist()}

    def _set_state(self, state: dict[str, Any]) -> None:
        self.evaluator_.weights[:] = state["weights"]

"""From the rules of a game with dice to terms in words, which say what its networks know."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any

from learner.frame import Progress
from learner.invention.inventor import Inventor
from learner.invention.labels import Labels, decisions
from learner.options import ranged
from learner.td_gammon.td_gammon import TDGammon
from search import LinearEvaluator
from search.evaluators.linear import MOST_TERMS

__all__ = ["InventWithDice"]


@dataclass(kw_only=True, eq=False, repr=False)
class InventWithDice(TDGammon):
    """Networks that learn as TD-Gammon did, and weights over terms that explain their moves.

    terms: maximum number of terms.
    every: reports after which terms are invented anew.
    explained: games that the networks then play, whose moves are explained.

    After `fit`: `evaluator_`, the weights over the newest terms, and the other results of
    `TDGammon`.
    """

    settles = True

    inputs: Any = "points"
    hidden: tuple[int, ...] = (64,)
    terms: int = ranged(20, 1, MOST_TERMS)
    every: int = ranged(10, 1)
    explained: int = ranged(400, 20)
    evaluator_: LinearEvaluator = field(init=False)  # type: ignore[assignment]

    def begin(self, evaluator: Any) -> None:
        self._inventor = Inventor(self.game_, self.terms, self.seed)
        super().begin(evaluator)
        self.evaluator_ = self._inventor.evaluator

    def learn(self) -> Generator[Progress, None, None]:
        for progress in super().learn():
            figures = dict(progress.figures)
            if len(self.errors_) % self.every == 0 or self.games_played_ >= self.games:
                figures |= self._inventor.invent(self._labels)
                self.evaluator_ = self._inventor.evaluator
            yield replace(progress, figures=figures)

    def _labels(self) -> Labels:
        game: Any = self.game_
        return decisions(game, self.network_, self.explained, seed=self.seed)

    def _get_state(self) -> dict[str, Any]:
        return {**super()._get_state(), "invented": self._inventor.get_state()}

    def _set_state(self, state: dict[str, Any]) -> None:
        self._inventor.set_state(state["invented"])
        self.evaluator_ = self._inventor.evaluator
        super()._set_state(state)

"""From the rules to terms in words: a network learns by self-play, and terms say what it knows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from games.features.cells import CELL_INPUTS
from learner.invention.inventor import Inventor
from learner.invention.labels import Labels, labels_of
from learner.options import ranged
from learner.positions.filters import Filter
from learner.positions.shards import Rows
from learner.rounds.frame import RoundsLearner
from learner.rounds.network_fit import NetworkFitter
from search import Evaluator, LinearEvaluator
from search.evaluators.linear import MOST_TERMS

__all__ = ["Invent"]


@dataclass(kw_only=True, eq=False, repr=False)
class Invent(RoundsLearner):
    """A network that learns by self-play, and weights over terms that explain its searches.

    inputs: as with `NetworkFit`; "cells" are the pieces on the squares.
    hidden, epochs, rate, batch_size, device, scale: as with `NetworkFit`, whose fit it has.
    terms: maximum number of terms.
    every: rounds after which terms are invented anew.
    explained: number of the last games whose positions the terms explain.

    After `fit`: `evaluator_`, the weights over the newest terms, and `network_`.
    """

    inputs: Any = CELL_INPUTS
    hidden: tuple[int, ...] = (64, 32)
    round_games: int = 200
    keep_rounds: int = 5
    epochs: int = ranged(1, 1)
    rate: float = ranged(0.001, above=0, high=1)
    batch_size: int = ranged(256, 1)
    device: str = "cpu"
    scale: float | None = ranged(1.5, above=0)
    terms: int = ranged(20, 1, MOST_TERMS)
    every: int = ranged(10, 1)
    explained: int = ranged(3000, 20)
    evaluator_: LinearEvaluator = field(init=False)
    _fitter: NetworkFitter = field(init=False)

    settles = True

    def begin(self, evaluator: Any) -> None:
        self._inventor = Inventor(self.game_, self.terms, self.seed)
        super().begin(evaluator)
        self._fitter = NetworkFitter(self.game_, self, evaluator, "invent")
        self.network_ = self._fitter.evaluator
        self.evaluator_ = self._inventor.evaluator

    def player_of(self, number: int) -> Evaluator:
        return self.network_

    def fit_rows(self, rows: Rows) -> dict[str, Any]:
        figures = self._fitter.fit(rows, self.rounds_)
        if (len(self.rounds_) + 1) % self.every == 0 or self.games_played_ >= self.games:
            self.store_.flush()
            figures |= self._inventor.invent(self._labels)
            self.evaluator_ = self._inventor.evaluator
        return figures

    def _labels(self) -> Labels:
        last = Filter(first_game=max(0, self.games_played_ - self.explained))
        return labels_of(self.game_, self.store_.load(keep=last), seed=self.seed)

    def _get_state(self) -> dict[str, Any]:
        return {**super()._get_state(), "invented": self._inventor.get_state()}

    def _set_state(self, state: dict[str, Any]) -> None:
        self._inventor.set_state(state["invented"])
        self.evaluator_ = self._inventor.evaluator
        super()._set_state(state)

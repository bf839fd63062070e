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
from learner.rounds.network_fit import NetworkFit
from search import Evaluator, LinearEvaluator
from search.evaluators.linear import MOST_TERMS

__all__ = ["Invent"]


@dataclass(kw_only=True, eq=False, repr=False)
class Invent(NetworkFit):
    """A network that learns by self-play, and weights over terms that explain its searches.

    inputs: as with `NetworkFit`; "cells" are the pieces on the squares.
    terms: maximum number of terms.
    every: rounds after which terms are invented anew.
    explained: number of the last games whose positions the terms explain.

    After `fit`: `evaluator_`, the weights over the newest terms, and `network_`.
    """

    settles = True
    takes_many = False

    inputs: Any = CELL_INPUTS
    terms: int = ranged(20, 1, MOST_TERMS)
    every: int = ranged(10, 1)
    explained: int = ranged(3000, 20)
    evaluator_: LinearEvaluator = field(init=False)

    def begin(self, evaluator: Any) -> None:
        self._inventor = Inventor(self.game_, self.terms, self.seed)
        super().begin(evaluator)
        self.network_ = self._network
        self.evaluator_ = self._inventor.evaluator

    def _player(self) -> Evaluator:
        return self.network_

    def _fit_to(self, rows: Rows, number: int) -> dict[str, Any]:
        figures: dict[str, Any] = super()._fit_to(rows, number)
        if (number + 1) % self.every == 0 or self.games_played_ >= self.games:
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

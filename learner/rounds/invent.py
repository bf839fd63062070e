"""From the rules to terms in words: a network learns by self-play, and terms say what it knows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from games.features.cell_terms import CellTerm
from games.features.cells import CELL_INPUTS
from games.features.term_file import feature_set_of, named
from learner.invention.labels import cells_of, labels_of
from learner.invention.term_search import TermSearch, bare_pieces
from learner.models.model import numbers_of
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
    terms: at most so many terms.
    every: rounds after which terms are invented anew.
    explained: the terms explain the positions of so many of the last games.

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
        self._cells = cells_of(self.game_)
        super().begin(evaluator)
        self.network_ = self._network
        bare = [CellTerm(piece) for piece in self._cells.pieces()]
        self.evaluator_ = self._polynomial(bare, np.ones(len(bare)))

    def _player(self) -> Evaluator:
        return self.network_

    def _fit_to(self, rows: Rows, number: int) -> dict[str, Any]:
        figures: dict[str, Any] = super()._fit_to(rows, number)
        if (number + 1) % self.every and self.games_played_ < self.games:
            return figures
        self.store_.flush()
        last = Filter(first_game=max(0, self.games_played_ - self.explained))
        try:
            labels = labels_of(self.game_, self.store_.load(keep=last), seed=self.seed)
        except ValueError as error:  # too few games
            return {**figures, "no terms": str(error)}
        before = list(self.evaluator_.features.cell_terms.values())
        search = TermSearch(
            self._cells, labels, bare_pieces(self._cells, self.terms), seed=self.seed
        )
        search.run(self.terms)
        if not search.terms:
            return {**figures, "no terms": "none explains more than luck"}
        self.evaluator_ = self._polynomial(search.terms, search.weights)
        come = "; ".join(t.text(self._cells) for t in search.terms if t not in before)
        gone = "; ".join(t.text(self._cells) for t in before if t not in search.terms)
        return {**figures, "held out": search.loss, "come": come, "gone": gone}

    def _polynomial(self, terms: list[CellTerm], weights: Any) -> LinearEvaluator:
        features = feature_set_of(self._cells, named(self._cells, terms))
        return LinearEvaluator(self.game_, features, weights, name="invent")

    def _get_state(self) -> dict[str, Any]:
        terms = [term.plain() for term in self.evaluator_.features.cell_terms.values()]
        # as a mapping, because the number of terms changes
        found = {"terms": terms, "weights": self.evaluator_.weights.tolist()}
        return {**super()._get_state(), "invented": found}

    def _set_state(self, state: dict[str, Any]) -> None:
        found = state["invented"]
        terms = [CellTerm.of(self._cells, plain) for plain in found["terms"]]
        self.evaluator_ = self._polynomial(terms, numbers_of(found["weights"], len(terms)))
        super()._set_state(state)

"""The common part of learners that invent terms: weights over the newest terms, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from games.contract import Game
from games.features.cell_terms import CellTerm
from games.features.term_file import feature_set_of, named
from learner.invention.labels import Labels, cells_of
from learner.invention.term_search import TermSearch, bare_pieces
from learner.models.model import numbers_of
from search import LinearEvaluator
from search.evaluators.linear import MOST_TERMS

__all__ = ["Inventor"]


class Inventor:
    """Weights over terms, invented anew whenever a learner asks for it.

    terms: maximum number of terms.
    seed: of the exchanges by which luck is measured.

    `evaluator` is over the newest terms; it begins with the bare pieces or amounts. Raises
    ValueError for a game without cells.
    """

    def __init__(self, game: Game, terms: int, seed: int) -> None:
        self._game, self._terms, self._seed = game, terms, seed
        self._cells = cells_of(game)
        bare = bare_pieces(self._cells, MOST_TERMS)
        self._use(bare, np.ones(len(bare)))

    def invent(self, labels: Callable[[], Labels]) -> dict[str, Any]:
        """Replace the terms by new ones that explain labels; returns figures for a report."""
        try:
            explained = labels()
        except ValueError as error:  # too few games
            return {"no terms": str(error)}
        before = list(self.evaluator.features.cell_terms.values())
        bare = bare_pieces(self._cells, self._terms)
        search = TermSearch(self._cells, explained, bare, seed=self._seed)
        search.run(self._terms)
        if not search.terms:
            return {"no terms": "no term explains more than luck"}
        self._use(search.terms, search.weights)
        come = "; ".join(t.text(self._cells) for t in search.terms if t not in before)
        gone = "; ".join(t.text(self._cells) for t in before if t not in search.terms)
        return {"held out": search.loss, "come": come, "gone": gone}

    def get_state(self) -> dict[str, Any]:
        """Returns the terms and their weights as plain JSON values."""
        terms = [term.plain() for term in self.evaluator.features.cell_terms.values()]
        return {"terms": terms, "weights": self.evaluator.weights.tolist()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take the terms and weights that `get_state` returned."""
        terms = [CellTerm.of(self._cells, plain) for plain in state["terms"]]
        self._use(terms, numbers_of(state["weights"], len(terms)))

    def _use(self, terms: list[CellTerm], weights: Any) -> None:
        features = feature_set_of(self._cells, named(self._cells, terms))
        self.evaluator = LinearEvaluator(self._game, features, weights, name="invent")

"""Book learning of a polynomial: weights from differences between preferred and other moves.

Source: A. L. Samuel, "Some Studies in Machine Learning Using the Game of Checkers", IBM Journal of
    Research and Development 3 (1959), and its second part, 11 (1967).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from games.contract import Game
from games.features import FeatureSet
from learner.books.book_learner import BookLearner, Floats
from learner.books.book_rows import BookRows, Pairs
from learner.online.samuel1959 import powers_of_two
from learner.options import ranged
from search import LinearEvaluator
from search.evaluators.signature_layout import layout_of

__all__ = ["BookPolynomial"]


@dataclass(kw_only=True, eq=False, repr=False)
class BookPolynomial(BookLearner):
    """Learns the weights of a feature set's terms from preferred moves; material is fixed.

    features: a feature set or its name (None: that of the game's signature tables).
    method: "samuel" takes C = (L - H) / (L + H) as a term's coefficient, where L and H count the
        other moves for which it is lower or higher than for the preferred one; weights are signed
        powers of two of these (`learner.online.samuel1959.powers_of_two`), the largest 1 before
        scaling. "logistic" fits the weights by logistic regression: a move is preferred to another
        with probability 1 / (1 + exp(-d)), where d is the difference of their values.
    penalty: with "logistic", factor of the squared weights, for terms in units of their spread.
    material, within, half_life, scale: as for `BookLearner`; terms of `material` belong to the set
        and their weights are not learned.

    After `fit` also `coefficients_`: C, or the fitted weights before scaling; 0 for material.
    """

    features: Any = None
    penalty: float = ranged(1.0, above=0)
    top_power: int = ranged(18, 1, 30)

    def _set_up(self, game: Game) -> tuple[FeatureSet, tuple[str, ...]]:
        features = self.features
        material: tuple[str, ...] = ("men", "kings", "superiority", "PIECES")
        if features is None:
            layout = layout_of(game)
            features, material = layout.features, layout.material
        if isinstance(features, str):
            if features not in game.features:
                raise ValueError(
                    f"features: expected one of {', '.join(game.features) or 'none'} for"
                    f" {game.name}, found {features!r}"
                )
            features = game.features[features]
        if self.material is not None:
            material = tuple(features.names)
        material = tuple(term for term in material if term in features.terms)
        self._evaluator = LinearEvaluator(game, features, {}, name=f"book, {self.method}")
        self.coefficients_ = np.zeros(len(features))
        return features, material

    def _inputs(self, rows: BookRows, terms: Floats) -> dict[str, NDArray[Any]]:
        return {"terms": (rows.signs[:, None] * terms).astype(np.float32)}

    def _learn(self, pairs: Pairs) -> tuple[Floats, float]:
        learned = self._worths == 0
        terms = self._kept["terms"]
        self.coefficients_ = np.zeros(len(learned))
        unit = 1.0
        if self.method == "samuel":
            self.coefficients_[learned] = _agreements(pairs, terms[:, learned])
            self._slopes = powers_of_two(self.coefficients_, self.top_power) / 2.0**self.top_power
        else:
            found, unit = self._regressed(pairs, terms[:, learned])
            self.coefficients_[learned] = found
            self._slopes = self.coefficients_.copy()
        return terms @ self._slopes, unit

    def _regressed(self, pairs: Pairs, terms: NDArray[np.float32]) -> tuple[Floats, float]:
        differences = np.concatenate(
            [terms[pairs.better] - terms[pairs.worse], pairs.material_ahead[:, None]], axis=1
        ).astype(np.float64)
        spread = np.sqrt(np.mean(differences**2, axis=0)) if len(differences) else np.ones(1)
        spread[spread == 0] = 1.0
        if len(differences) < 2:
            return np.zeros(terms.shape[1]), 1.0
        # reverse every other pair, because the estimator needs two classes
        turned = np.where(np.arange(len(differences)) % 2, -1.0, 1.0)
        model = LogisticRegression(
            C=1.0 / self.penalty, fit_intercept=False, solver="newton-cholesky"
        )
        model.fit(turned[:, None] * differences / spread, turned > 0, sample_weight=pairs.weight)
        slopes = model.coef_[0] / spread
        return slopes[:-1], 1.0 / slopes[-1] if slopes[-1] > 0 else 1.0

    def _apply_scale(self, scale: float) -> None:
        self._evaluator.weights[:] = self._worths + scale * self._slopes


def _agreements(pairs: Pairs, terms: NDArray[np.float32]) -> Floats:
    """Returns C of each term, [terms]; 0 for a term in which moves never differ."""
    agreements = np.zeros(terms.shape[1])
    for place, column in enumerate(terms.T):
        ahead = column[pairs.better] - column[pairs.worse]
        lower, higher = pairs.weight[ahead > 0].sum(), pairs.weight[ahead < 0].sum()
        agreements[place] = (lower - higher) / (lower + higher) if lower + higher else 0.0
    return agreements

"""Fitting the weights of a feature set to stored positions, all at once ("Texel tuning").

The value of a position is a sum of weights times terms, and the expected result is sigmoid(K *
value): 0 for a loss, 1 for a win. The fit finds the weights that best predict the labels: the
results of the games, the values of a deeper search, or a blend of both (P. Österlund's method for
the chess program Texel, 2014, with the targets that later programs use).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from games.features import FeatureSet
from learner.options import LOSSES, check_options, choice, ranged
from learner.positions.shards import Rows
from learner.regression.matrix import Matrix
from learner.regression.newton import minimum
from learner.regression.targets import (
    expectations,
    fit_scale,
    mean_loss,
    row_weights,
)

__all__ = ["LogisticFit", "measure"]

Floats = NDArray[np.float64]
#: Positions that are measured at a time.
PART = 1 << 14


def measure(features: FeatureSet, positions: NDArray[np.int64]) -> NDArray[np.float32]:
    """Returns the terms of many positions, [positions, terms], as float32.

    It takes half the memory of `features.measure`, and all cores, which wait for a fit.
    """
    measured = np.zeros((len(positions), len(features)), dtype=np.float32)

    def fill(first: int) -> None:
        part = slice(first, first + PART)
        measured[part] = features.measure(positions[part])

    fill(0)  # alone, because it may compile
    with ThreadPoolExecutor() as threads:
        list(threads.map(fill, range(PART, len(positions), PART)))
    return measured


@dataclass(kw_only=True, eq=False, repr=False)
class LogisticFit(BaseEstimator):  # type: ignore[misc]
    """Weights w for which sigmoid(K * w @ terms) best predicts the targets.

    features: the feature set, or only the names of its terms.
    loss: "cross_entropy" (one optimum wherever it starts) or "squared" (Texel's).
    blend: share of the result in the targets of `fit_rows`, see `expectations`.
    scale: K of those targets (default: fitted to the rows; 1 in `fit`).
    alpha: penalty: the mean loss grows by alpha / 2 times the square of each weight, in logits for
        a feature at its root mean square, so that the size of terms does not matter. Features are
        scaled but not centred, because a value has no constant part.
    fixed: weights by term that are not learned. If one is not 0 and no scale is given, they set the
        unit of all weights and K is learned too, because stored values may have another unit.
        Otherwise it is the unit of the values for which K holds.

    After `fit`: `weights_` [terms], `K_`, `loss_` (the mean loss over the rows learned from,
    without the penalty), `steps_` (Newton's), and `spread_` [terms], the root mean square of each.
    """

    features: FeatureSet | Sequence[str] = field(kw_only=False)
    loss: str = choice("cross_entropy", LOSSES)
    blend: float = ranged(0.5, 0, 1)
    scale: float | None = ranged(None, above=0)
    alpha: float = ranged(1e-5, 0)
    fixed: Mapping[str, float] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the terms in order."""
        if isinstance(self.features, FeatureSet):
            return self.features.names
        return tuple(self.features)

    def fit_rows(self, rows: Rows, sample_weight: ArrayLike | None = None) -> LogisticFit:
        """Learn from stored positions, each weighted by its `count` unless told otherwise."""
        if not isinstance(self.features, FeatureSet):
            raise TypeError("features: expected a FeatureSet to measure positions, found names")
        weights = rows.count if sample_weight is None else sample_weight
        scale = self.scale
        if scale is None:
            scale = fit_scale(rows.value, rows.result, sample_weight=weights)
        targets = expectations(rows.value, rows.result, scale=scale, blend=self.blend)
        return self._fit(measure(self.features, rows.positions), targets, weights, scale)

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LogisticFit:
        """Learn from measured terms, [rows, terms], and the expectation of each row, 0 to 1."""
        return self._fit(X, y, sample_weight, 1.0 if self.scale is None else self.scale)

    def values(self, X: Any) -> Floats:
        """Returns the value of each row of measured terms, in the unit of the weights."""
        return np.asarray(X @ self.weights_, dtype=np.float64)

    def predict(self, X: Any) -> Floats:
        """Returns the expectation of each row of measured terms, 0 to 1."""
        expected: Floats = expit(self.K_ * self.values(X))
        return expected

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Returns minus the mean loss; higher is better, as in scikit-learn."""
        targets = np.asarray(y, dtype=np.float64)
        weights = row_weights(sample_weight, len(targets))
        return -float(mean_loss(self.loss, self.K_ * self.values(X), targets, weights)[0])

    def _fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, scale: float
    ) -> LogisticFit:
        self.check()
        names = self.names
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != len(names) or not len(rows):
            raise ValueError(f"X: expected [rows, {len(names)} terms], found shape {rows.shape}")
        targets = np.asarray(y, dtype=np.float64)
        if targets.shape != (len(rows),) or not (targets.min() >= 0 and targets.max() <= 1):
            raise ValueError(
                f"y: expected {len(rows)} numbers of 0 to 1, found shape {targets.shape}"
                f" of {targets.min(initial=np.inf)} to {targets.max(initial=-np.inf)}"
            )
        weights = row_weights(sample_weight, len(rows))
        squares = Matrix(len(names), rows).squares(weights)
        if not np.isfinite(squares).all():
            raise ValueError("X: expected finite numbers, found NaN or infinity")
        self.spread_ = np.sqrt(squares / weights.sum())
        unit = np.where(self.spread_ > 0, self.spread_, 1.0)
        fixed = dict(self.fixed or {})
        free = np.array([name not in fixed for name in names])
        base = np.array([float(fixed.get(name, 0.0)) for name in names])
        self._by_steps(rows, targets, weights, unit, free, base, scale)
        self.loss_ = -self.score(rows, targets, weights)
        return self

    def check(self) -> None:
        """Raise ValueError for an option that is not allowed."""
        check_options(self)
        unknown = [name for name in self.fixed or {} if name not in self.names]
        if unknown:
            raise ValueError(
                f"fixed: expected terms of {', '.join(self.names)}, found"
                f" {', '.join(map(str, unknown[:8]))}"
            )
        if len(self.fixed or {}) == len(self.names):
            raise ValueError("fixed: expected a term to learn, found all of them fixed")

    def _by_steps(
        self,
        rows: Any,
        targets: Floats,
        weights: Floats,
        unit: Floats,
        free: Any,
        base: Floats,
        scale: float,
    ) -> None:
        """Learn a change `u` of the free weights from `base` on, in logits for a usual feature.

        If fixed terms set the unit, K is one more weight: that of their sum.
        """
        columns = np.flatnonzero(free)
        margin = np.asarray(rows @ base, dtype=np.float64)
        anchored = self.scale is None and bool(base[~free].any())
        if anchored:
            try:
                scale = fit_scale(
                    margin, 2 * targets - 1, sample_weight=weights, loss="cross_entropy"
                )
            except ValueError:
                raise ValueError(
                    "fixed: expected terms whose weighted sum rises with the targets"
                ) from None
            chosen = np.empty((len(rows), len(columns) + 1), np.result_type(rows, np.float32))
            chosen[:, :-1] = rows[:, columns]
            chosen[:, -1] = margin
            spread = np.sqrt(weights @ np.square(margin) / weights.sum())
            units = np.append(unit[columns], spread)
        else:
            chosen = rows if free.all() else np.ascontiguousarray(rows[:, columns])
            units = unit[columns]
        least = minimum(
            Matrix(len(units), chosen), targets, weights, scale * margin, np.zeros(len(units)),
            squared=self.loss == "squared", ridge=self.alpha * np.square(units),
        )  # fmt: skip
        u, self.steps_ = least.weights, least.steps
        if not least.settled:
            warnings.warn("the weights were still moving", ConvergenceWarning, stacklevel=4)
        self.K_ = scale + float(u[-1]) if anchored else scale
        if not self.K_ > 0:
            raise ValueError(f"fixed: expected K above 0, found {self.K_}")
        self.weights_ = base
        self.weights_[columns] += u[: len(columns)] / self.K_

"""Targets from the labels of positions, and the losses of predictions.

The value of a position stands for an expectation, sigmoid(K * value): 0 for a game that is lost, 1
for one that is won. K is fitted to the results of games.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit

from games.values import PROVEN
from learner.options import LOSSES, Choice, Range
from learner.positions.shards import UNKNOWN
from learner.regression.row_kernels import losses

__all__ = ["expectations", "fit_scale", "mean_loss"]

Floats = NDArray[np.float64]


def expectations(
    value: ArrayLike, result: ArrayLike, *, scale: float, blend: float = 0.5
) -> Floats:
    """Returns the expected result of each row, 0 to 1 for the side to move; [rows].

    It is blend * (result + 1) / 2 + (1 - blend) * sigmoid(scale * value), and the part of the value
    alone if the result is unknown (2).
    """
    Range(0, 1).check("blend", blend)
    results = np.asarray(result, dtype=np.float64)
    searched: Floats = expit(scale * np.asarray(value, dtype=np.float64))
    blended: Floats = blend * (results + 1.0) / 2.0 + (1.0 - blend) * searched
    return np.where(results == UNKNOWN, searched, blended)


def fit_scale(
    value: ArrayLike,
    result: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    loss: str = "squared",
) -> float:
    """Returns the constant K for which sigmoid(K * value) best predicts the results, -1 to 1.

    The best K has the least mean squared error, as in Texel, or the least cross-entropy. Rows with
    an unknown result (2), or with the value of a game already decided, are left out. If the results
    can be predicted without error there is no best K, and the result is a large number. Raises
    ValueError if no row is left, or if results do not rise with values.
    """
    Choice(LOSSES).check("loss", loss)
    values = np.asarray(value, dtype=np.float64)
    results = np.asarray(result, dtype=np.float64)
    weights = row_weights(sample_weight, len(values))
    usable = (results != UNKNOWN) & (np.abs(values) <= PROVEN) & (weights > 0)
    values, targets, weights = values[usable], (results[usable] + 1.0) / 2.0, weights[usable]
    if not values.any():
        raise ValueError("K: expected rows with a known result and a value that is not 0")
    if weights @ (values * (targets - 0.5)) <= 0:
        raise ValueError("K: expected results that rise with the values, found none that do")
    unit = np.sqrt(weights @ values**2 / weights.sum())

    def error(log_scale: float) -> float:
        total, _, _ = mean_loss(loss, np.exp(log_scale) / unit * values, targets, weights)
        return float(total)

    best = minimize_scalar(error, bounds=(-9.0, 5.0), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(best.x) / unit)


def row_weights(sample_weight: ArrayLike | None, rows: int) -> Floats:
    if sample_weight is None:
        return np.ones(rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (rows,) or not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
        raise ValueError(
            f"sample_weight: expected {rows} numbers of at least 0, not all 0, found shape"
            f" {weights.shape}"
        )
    return weights


def mean_loss(
    name: str, logits: Floats, targets: Floats, weights: Floats
) -> tuple[float, Floats, Floats]:
    """Returns the weighted mean loss, and of each row its loss and its slope, times its weight."""
    each, slopes, bends = np.empty((3, len(logits)))
    losses(logits, targets, weights, name == "squared", each, slopes, bends)
    total = weights.sum()
    return float(each.sum() / total) if total > 0 else 0.0, each, slopes

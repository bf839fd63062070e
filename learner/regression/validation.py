"""Validation of predictions on unseen games: their calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from play.ratings.ratios import ratio_interval

__all__ = ["CalibrationBin", "calibration", "calibration_error", "students_quantile"]


def students_quantile(groups: int) -> float:
    """Returns half of a 95 % interval in standard errors by groups; inf for one group."""
    return float(stdtrit(groups - 1, 0.975)) if groups > 1 else math.inf


@dataclass(frozen=True)
class CalibrationBin:
    """Rows with nearly the same prediction, and their results.

    low, high: the bounds of the bin.
    predicted: mean prediction over the rows.
    found: mean result over the rows.
    found_low, found_high: the 95 % interval of `found`.
    count: number of rows, by their weights.
    """

    low: float
    high: float
    predicted: float
    found: float
    found_low: float
    found_high: float
    count: float


def calibration(
    predicted: ArrayLike,
    found: ArrayLike,
    *,
    bins: int = 20,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> list[CalibrationBin]:
    """Returns predictions against results, both 0 to 1, in bins of equal width, without empty bins.

    If `groups` gives the number of each row's game, intervals take games as independent; otherwise
    rows are, and intervals are too narrow if several come from one game.
    """
    expected, targets = (np.asarray(a, dtype=np.float64) for a in (predicted, found))
    weights = np.ones(len(targets)) if sample_weight is None else np.asarray(sample_weight, float)
    games = np.arange(len(targets)) if groups is None else np.asarray(groups)
    places = np.minimum((expected * bins).astype(np.int64), bins - 1)
    table = []
    for place in range(bins):
        inside = (places == place) & (weights > 0)
        if not inside.any():
            continue
        w, total = weights[inside], weights[inside].sum()
        _, game = np.unique(games[inside], return_inverse=True)
        results, sizes = np.bincount(game, w * targets[inside]), np.bincount(game, w)
        mean = ratio_interval(np.minimum(results, sizes), sizes, most=1.0)
        table.append(
            CalibrationBin(
                place / bins,
                (place + 1) / bins,
                float(w @ expected[inside] / total),
                mean.value,
                mean.low,
                mean.high,
                float(total),
            )
        )
    return table


def calibration_error(table: Sequence[CalibrationBin]) -> float:
    """Returns the expected calibration error: the mean distance of predictions and results."""
    total = sum(part.count for part in table)
    return sum(part.count * abs(part.predicted - part.found) for part in table) / total

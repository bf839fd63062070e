"""Validation of predictions on unseen games: their calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["CalibrationBin", "calibration", "calibration_error"]

TWO_SIDED_95 = 1.959963984540054


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

    Intervals are Wilson's (1927) for the number of independent rows with the same scatter. If
    `groups` gives the number of each row's game, games are independent (a sandwich estimate by
    clusters: Liang and Zeger 1986); otherwise rows are, and intervals are too narrow if several
    come from one game.
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
        mean = float(w @ targets[inside] / total)
        low, high = _interval(mean, w / total, targets[inside], games[inside])
        table.append(
            CalibrationBin(
                place / bins,
                (place + 1) / bins,
                float(w @ expected[inside] / total),
                mean,
                low,
                high,
                float(total),
            )
        )
    return table


def _interval(mean: float, share: Any, targets: Any, games: Any) -> tuple[float, float]:
    _, game = np.unique(games, return_inverse=True)
    by_game = np.bincount(game, share * (targets - mean))
    number = len(by_game)
    variance = float(by_game @ by_game) * number / max(number - 1, 1)
    # the number of draws of 0 or 1 that would scatter so; at most a game each without scatter
    weight = np.bincount(game, share)
    size = 1.0 / float(weight @ weight)
    if variance > 1e-24:  # more than rounding error
        size = min(mean * (1 - mean) / variance, 1e15)
    z = TWO_SIDED_95
    centre = (mean + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * np.sqrt(mean * (1 - mean) / size + z * z / (4 * size * size))
    return max(0.0, min(mean, float(centre - half))), min(1.0, max(mean, float(centre + half)))


def calibration_error(table: Sequence[CalibrationBin]) -> float:
    """Returns the expected calibration error: the mean distance of predictions and results."""
    total = sum(part.count for part in table)
    return sum(part.count * abs(part.predicted - part.found) for part in table) / total

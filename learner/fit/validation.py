"""How well a fit foretells games that it has not seen: regularisation path and calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learner.fit.logistic import LogisticFit

__all__ = [
    "CalibrationBin",
    "PathPoint",
    "calibration",
    "calibration_error",
    "choose_alpha",
    "regularisation_path",
]

#: Regularisation from where nothing is learned to where nothing is held back.
ALPHAS = tuple(10.0**power for power in np.arange(1.0, -5.5, -0.5))
TWO_SIDED_95 = 1.959963984540054


@dataclass(frozen=True, eq=False)
class PathPoint:
    """One strength of regularisation: the mean loss on games held out, and the weights.

    error: mean over the folds of the mean loss on the games held out; standard_error: of that mean.
    train_error: the same on the games learned from. weights: [terms], learned from all rows.
    """

    alpha: float
    error: float
    standard_error: float
    train_error: float
    weights: NDArray[np.float64]


def regularisation_path(
    fit: LogisticFit,
    X: Any,
    y: ArrayLike,
    groups: ArrayLike,
    *,
    alphas: Sequence[float] = ALPHAS,
    folds: int = 5,
    sample_weight: ArrayLike | None = None,
) -> list[PathPoint]:
    """What each of the alphas is worth, the largest first, by cross-validation.

    `fit` lends its options and stays as it is. X [rows, terms], y and sample_weight are those of
    `LogisticFit.fit`. groups: the number of each row's game, [rows]; the rows of a game are held
    out together, since they are too much alike to test each other. Raises ValueError for fewer
    games than folds.
    """
    from sklearn.model_selection import GroupKFold

    rows, targets = np.asarray(X), np.asarray(y, dtype=np.float64)
    weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight)
    if not len(alphas):
        raise ValueError("alphas: expected at least one, found none")
    if folds < 2:
        raise ValueError(f"folds: expected at least 2, found {folds}")
    games = np.asarray(groups)
    if games.shape != targets.shape:
        raise ValueError(f"groups: expected {len(targets)} numbers, found shape {games.shape}")
    if len(np.unique(games)) < folds:
        raise ValueError(f"groups: expected at least {folds} games, found {len(np.unique(games))}")
    ordered = sorted(alphas, reverse=True)
    held_out, learned_from = np.zeros((2, folds, len(ordered)))
    for fold, (learn, test) in enumerate(GroupKFold(folds).split(rows, targets, games)):
        test_rows = rows[test]
        fits = _along(fit, ordered, rows[learn], targets[learn], weights[learn])
        for place, one in enumerate(fits):
            learned_from[fold, place] = one.loss_
            held_out[fold, place] = -one.score(test_rows, targets[test], weights[test])
    spread = held_out.std(axis=0, ddof=1) / np.sqrt(folds)
    return [
        PathPoint(
            one.alpha,
            float(held_out[:, place].mean()),
            float(spread[place]),
            float(learned_from[:, place].mean()),
            one.weights_,
        )
        for place, one in enumerate(_along(fit, ordered, rows, targets, weights))
    ]


def _along(fit: LogisticFit, alphas: Sequence[float], rows: Any, targets: Any, weights: Any) -> Any:
    """A fit for each alpha, beginning where the one before it ended."""
    initial = None
    for alpha in alphas:
        one = LogisticFit(**{**fit.get_params(deep=False), "alpha": float(alpha)})
        one.fit(rows, targets, weights, initial=initial)
        initial = one.weights_
        yield one


def choose_alpha(path: Sequence[PathPoint], *, one_standard_error: bool = False) -> float:
    """The alpha of the least error held out; of equal ones the largest.

    With `one_standard_error` the largest whose error is within one standard error of the least
    (Breiman and others 1984): the simplest weights that the data do not speak against.
    """
    best = min(path, key=lambda point: (point.error, -point.alpha))
    if not one_standard_error:
        return best.alpha
    within = best.error + best.standard_error
    return max(point.alpha for point in path if point.error <= within)


@dataclass(frozen=True)
class CalibrationBin:
    """Rows for which nearly the same was predicted, and what was found.

    low, high: the bounds of the bin. predicted, found: means over the rows. found_low, found_high:
    the 95 % interval of `found`. count: rows, by their weights.
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
    """What was predicted against what was found, both 0 to 1, in bins of equal width, none empty.

    Intervals are Wilson's (1927) for as many independent rows as would scatter like these. Where
    `groups` gives the number of each row's game, the games are what is independent (a sandwich
    estimate by clusters: Liang and Zeger 1986); else each row is, and intervals are too narrow if
    several come from one game.
    """
    expected, targets = (np.asarray(a, dtype=np.float64) for a in (predicted, found))
    for name, given in (("predicted", expected), ("found", targets)):
        if given.ndim != 1 or len(given) != len(targets):
            raise ValueError(f"{name}: expected one number a row, found shape {given.shape}")
        if not ((given >= 0) & (given <= 1)).all():
            raise ValueError(f"{name}: expected numbers of 0 to 1, found others")
    if bins < 1:
        raise ValueError(f"bins: expected at least 1, found {bins}")
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
    # as many draws of 0 or 1 as would scatter so; at most a game each where nothing scatters
    weight = np.bincount(game, share)
    size = 1.0 / float(weight @ weight)
    if variance > 1e-24:  # more than rounding makes
        size = min(mean * (1 - mean) / variance, 1e15)
    z = TWO_SIDED_95
    centre = (mean + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * np.sqrt(mean * (1 - mean) / size + z * z / (4 * size * size))
    return max(0.0, min(mean, float(centre - half))), min(1.0, max(mean, float(centre + half)))


def calibration_error(table: Sequence[CalibrationBin]) -> float:
    """The mean distance between predicted and found, by rows (expected calibration error)."""
    if not table:
        raise ValueError("table: expected at least one bin, found none")
    total = sum(part.count for part in table)
    return sum(part.count * abs(part.predicted - part.found) for part in table) / total

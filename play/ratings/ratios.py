"""Means over groups of different sizes, such as the decisions of games, with their intervals.

Sources: for means of rare losses, M. P. Fay and E. J. Feuer, "Confidence intervals for directly
standardized rates: a method based on the gamma distribution" (1997); for shares, Korn and Graubard
(see `play.ratings.statistics`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, gammaincinv, ndtri, stdtrit

from play.ratings.statistics import Estimate, mean_interval

__all__ = ["ratio_interval"]


def ratio_interval(sums: ArrayLike, counts: ArrayLike, *, most: float = math.inf) -> Estimate:
    """Returns the mean over independent groups, with its 95 % interval within [0, most].

    sums: the sum of each group, of values from 0 to `most`.
    counts: the size of each group.

    The groups have different sizes, so the mean is a ratio of two sums. Its variance is that of the
    differences between each group's sum and the sum expected for its size (linearised, as for
    cluster samples). With few groups it is multiplied by the square of Student's quantile over the
    normal one.

    Without `most` the ends are quantiles of gamma distributions with that mean and variance. The
    upper one has one more event, of twice the largest sum and more if few groups have any, because
    rare large sums may not have occurred yet. With `most` they are Clopper and Pearson's for the
    number of independent trials that would have the variance, with one more group of the largest
    size. If all groups have one mean, it is that of `mean_interval`; without values it is NaN.
    """
    totals, sizes = np.asarray(sums, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if not sizes.any():
        return mean_interval([], bounds=(0.0, most))
    groups, mean = len(totals), float(totals.sum() / sizes.sum())
    residuals = (totals - mean * sizes) / sizes.mean()
    if np.abs(residuals).max() <= 1e-12 * max(mean, 1e-300):
        return mean_interval([mean] * groups, bounds=(0.0, most))
    wider = float(stdtrit(groups - 1, 0.975) / ndtri(0.975))
    variance = float(residuals @ residuals) / groups / (groups - 1) * wider**2
    if math.isinf(most):
        event = (1 + wider + 3 / np.count_nonzero(totals)) * float(totals.max() / sizes.sum())
        low = gammaincinv(mean**2 / variance, 0.025) * variance / mean
        mass, spread = mean + event, variance + event**2
        high = gammaincinv(mass**2 / spread, 0.975) * spread / mass
        return Estimate(mean, min(float(low), mean), float(high))
    share, largest = mean / most, float(sizes.max() / sizes.mean())
    even = share * (1 - share)
    trials = even * (groups + 1) ** 2 / (variance / most**2 * groups**2 + even * largest**2)
    won, lost, more = share * trials, (1 - share) * trials, largest * min(1.0, trials / groups)
    ends = betaincinv(won, lost + more, 0.025), betaincinv(won + more, lost, 0.975)
    return Estimate(mean, *(most * float(end) for end in ends))

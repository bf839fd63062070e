"""The weights that minimise the loss, by Newton's method: few passes over the rows, and exact.

Each step minimises a quadratic with the slope of the loss, within bounds and with the penalty, and
is shortened until the loss falls. Its second derivatives are taken again only after a step that
changed much, because they cost the most, and far from the minimum in single precision: they only
direct the step, whose slope is exact.

Sources: J. Lee, Y. Sun and M. Saunders, "Proximal Newton-type Methods for Minimizing Composite
Functions" (2014); J. Friedman, T. Hastie and R. Tibshirani, "Regularization Paths for Generalized
Linear Models via Coordinate Descent" (2010), for the steps within bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from learner.regression import row_kernels as kernels
from learner.regression.matrix import Matrix

__all__ = ["Minimum", "minimum"]

Floats = NDArray[np.float64]
#: Maximum steps; the last one was expected to lower the loss by less than this, and one that did by
#: less than `SMALL` leaves the second derivatives.
STEPS, ENOUGH, SMALL = 100, 1e-12, 1e-6
#: After a step that was expected to lower the loss by less, single precision ends.
NEAR = 1e-4
#: Maximum halvings of a step, and sweeps of coordinate descent within one.
HALVINGS, SWEEPS = 40, 10_000


@dataclass(frozen=True)
class Minimum:
    """The minimum of the loss.

    weights: [columns].
    loss: the mean loss there, without penalties.
    slopes: [rows], the derivative of the loss by each row's logit, times its weight.
    bend: [columns, columns], the second derivative of the mean loss, without penalties.
    steps: Newton steps from the start.
    settled: whether the last step was below `ENOUGH`.
    """

    weights: Floats
    loss: float
    slopes: Floats
    bend: Floats
    steps: int
    settled: bool


def minimum(
    matrix: Matrix, targets: Floats, weights: Floats, margin: Floats, start: Floats, *,
    squared: bool = False, ridge: Floats | float = 0.0, low: Floats | float = -np.inf,
    high: Floats | float = np.inf, enough: float = ENOUGH,
    after: Callable[[int, float], None] = lambda step, loss: None,
) -> Minimum:  # fmt: skip
    """Returns the minimum of the mean loss of logits margin + matrix @ w, and its derivatives.

    targets: [rows], 0 to 1. weights: [rows].
    squared: whether the loss is the squared error; else it is the cross-entropy, and convex.
    ridge: for each column half of it times the square of its weight is added to the mean loss.
    low, high: bounds of the weights.
    start: weights to start from, within the bounds.
    enough: the last step is expected to lower the loss by less than this. With the usual one the
        last second derivatives are of double precision.
    after: called after each step with its number and the loss with its penalty.
    """
    size = matrix.columns
    ridge, low, high = (np.broadcast_to(np.float64(a), size) for a in (ridge, low, high))
    plain = not np.isfinite(low).any() and not np.isfinite(high).any()
    total = weights.sum()
    point = np.array(start, dtype=np.float64)
    each, slopes, bends = np.empty((3, len(matrix)))

    def slopes_of(part: slice, sums: Floats) -> Floats:
        kernels.losses(
            margin[part] + sums, targets[part], weights[part], squared,
            each[part], slopes[part], bends[part],
        )  # fmt: skip
        return slopes[part]

    def whole(at: Floats) -> tuple[float, Floats]:
        """Returns the loss with its penalty, and the gradient."""
        slope = matrix.passed(at, slopes_of)
        loss = float(each.sum() / total + ridge @ np.square(at) / 2)
        return loss, slope / total + ridge * at

    single, steps, settled = matrix.dense is not None, 0, False  # sparse rows are always double
    now, gradient = whole(point)
    bend = matrix.gram(bends, single=single) / total
    while not settled and steps < STEPS:
        curved = bend + np.diag(ridge)
        step = _free_step(curved, gradient) if plain else np.zeros(size)
        if not plain:
            kernels.bounded_step(curved, gradient.copy(), point, low, high, step, SWEEPS)
        rise = float(gradient @ step)
        length = 1.0
        for _ in range(HALVINGS):
            further = np.clip(point + length * step, low, high)
            then, steep = whole(further)
            if then <= now + 1e-4 * length * rise + 1e-15:
                break
            length /= 2
        else:
            further, (then, steep) = point, whole(point)
        settled = -rise < enough or length < 2.0**-30
        settled = settled and not (single and enough <= ENOUGH)
        point, now, gradient, steps = further, then, steep, steps + 1
        if -rise > SMALL or (single and not settled):
            single = single and -rise > NEAR and length == 1.0
            bend = matrix.gram(bends, single=single) / total
        after(steps, now)
    penalty = float(ridge @ np.square(point) / 2)
    return Minimum(point, now - penalty, slopes, bend, steps, settled)


def _free_step(curved: Floats, gradient: Floats) -> Floats:
    """Returns the step to the bottom of the quadratic; where it is flat, it does not move far."""
    sizes = np.sqrt(np.diag(curved))
    unit = np.where(sizes > 0, sizes, 1.0)
    even, jitter = curved / np.outer(unit, unit), 1e-13
    while True:
        try:
            factor = cho_factor(even + jitter * np.eye(len(even)))
            return -np.asarray(cho_solve(factor, gradient / unit)) / unit
        except LinAlgError:
            jitter *= 100

"""Weights of a heuristic fitted to costs: least squares in which overestimates count more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg

from games.kernels import kernel

__all__ = ["fit_weights", "follow_costs", "packed_rows", "sums_of"]


@kernel
def follow_costs(rows, costs, order, rate, weights):  # type: ignore[no-untyped-def]
    """Move the weights towards the costs, one example after the other (Widrow and Hoff 1960).

    rows: places of the inputs that are 1, [positions, most], as `packed_rows` returns them.
    costs: [positions].
    order: the examples to take, by number.
    rate: share of an example's error that a step corrects.
    weights: [size + 1], which this function changes; the last one belongs to padding.
    """
    most = rows.shape[1]
    for i in order:
        error = costs[i]
        for k in range(most):
            error -= weights[rows[i, k]]
        step = rate / most * error
        for k in range(most):
            weights[rows[i, k]] += step
        weights[-1] = 0.0


def packed_rows(rows: NDArray[np.int64], size: int) -> NDArray[Any]:
    """Returns the places of inputs in the smallest integers that hold them, [positions, most].

    rows: the places of the inputs that are 1, padded with `size`, as `Encoding.active_rows` returns
        them.
    """
    return rows.astype(np.uint16 if size < 1 << 16 else np.int32)


@kernel
def _sum_rows(rows, weights, sums):  # type: ignore[no-untyped-def]
    """Write the sum of the weights of each row's places; the last weight is that of padding."""
    for i in range(len(rows)):
        total = 0.0
        for k in range(rows.shape[1]):
            total += weights[rows[i, k]]
        sums[i] = total


@kernel
def _add_rows(rows, amounts, totals):  # type: ignore[no-untyped-def]
    """Add each row's amount to the totals of its places."""
    for i in range(len(rows)):
        amount = amounts[i]
        if amount != 0.0:
            for k in range(rows.shape[1]):
                totals[rows[i, k]] += amount


def sums_of(rows: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the sum of the weights [size] of each row's inputs, [positions]."""
    sums = np.zeros(len(rows))
    _sum_rows(rows, np.append(weights, 0.0), sums)
    return sums


def fit_weights(
    rows: NDArray[Any],
    costs: NDArray[np.float64],
    *,
    start: NDArray[np.float64],
    over: float,
    ridge: float,
    steps: int = 5,
) -> NDArray[np.float64]:
    """Returns weights [size] whose sums approximate the costs; overestimates count `over` times.

    Ridge regression towards `start`, by conjugate gradients. Whether an error is an overestimate is
    decided with the weights `start`, so repeated calls of a few steps minimise the sum of errors.

    rows: places of the inputs that are 1, [positions, most], as `packed_rows` returns them.
    costs: [positions].
    over: weight of an overestimate's squared error; an underestimate's has the weight 1.
    ridge: weight of the squared distance from `start`.
    steps: greatest number of steps of conjugate gradients.
    """
    size = len(start)
    errors = sums_of(rows, start) - costs
    counts = np.where(errors > 0, over, 1.0)

    def totals(amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.zeros(size + 1)
        _add_rows(rows, amounts, sums)
        return sums[:size]

    def normal(x: NDArray[np.float64]) -> Any:
        return totals(counts * sums_of(rows, x)) + ridge * x

    step, _ = cg(
        LinearOperator((size, size), matvec=normal), totals(-counts * errors), maxiter=steps,
        rtol=1e-3,
    )  # fmt: skip
    return np.asarray(start + step)

"""Weights of a heuristic fitted to costs: least squares in which overestimates count more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import LinearOperator, cg

__all__ = ["fit_weights", "inputs_matrix"]


def inputs_matrix(rows: NDArray[np.int64], size: int) -> csr_matrix:
    """Returns the inputs of positions as a sparse matrix [positions, size] of 0 and 1.

    rows: the places of the inputs that are 1, [positions, most], padded with `size`, as
        `Encoding.active_rows` returns them.
    """
    real = rows < size
    starts = np.concatenate([[0], np.cumsum(real.sum(axis=1))])
    return csr_matrix(
        (np.ones(int(starts[-1]), dtype=np.float32), rows[real].astype(np.int32), starts),
        shape=(len(rows), size),
    )


def fit_weights(
    inputs: csr_matrix,
    costs: NDArray[np.float64],
    *,
    start: NDArray[np.float64],
    over: float,
    ridge: float,
    passes: int = 4,
    steps: int = 10,
) -> NDArray[np.float64]:
    """Returns weights [size] whose sums approximate the costs; overestimates count `over` times.

    Ridge regression towards `start`, solved by conjugate gradients. Each pass weights the errors
    by the sums of the previous pass.

    inputs: [positions, size], as `inputs_matrix` returns them.
    costs: [positions].
    over: weight of an overestimate's squared error; an underestimate's has the weight 1.
    ridge: weight of the squared distance from `start`.
    """
    weights = start.copy()
    transposed = inputs.T.tocsr()
    for _ in range(passes):
        errors = inputs @ weights - costs
        counts = np.where(errors > 0, over, 1.0)

        def normal(x: NDArray[np.float64], counts: NDArray[np.float64] = counts) -> Any:
            return transposed @ (counts * (inputs @ x)) + ridge * x

        size = len(start)
        target = transposed @ (counts * -errors) + ridge * (start - weights)
        step, _ = cg(LinearOperator((size, size), matvec=normal), target, maxiter=steps, rtol=1e-3)
        weights = weights + step
    return weights

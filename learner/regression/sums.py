"""Terms that are sums of others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["EXACT", "sums_of_others"]

Floats = NDArray[np.float64]
#: A term is a sum of others if they leave less than this share of its square.
EXACT = 1e-9


def sums_of_others(bend: Floats, names: Sequence[str]) -> dict[int, tuple[str, list[int]]]:
    """Returns the terms, by number, that are sums of others, which no data can tell apart.

    bend: the second derivative of the loss, [terms, terms].
    names: the terms.

    For each term the sum in words and the numbers of its parts.
    """
    unit = np.sqrt(np.diag(bend))
    even = bend / np.outer(unit, unit)
    factor, sums = np.zeros_like(even), dict[int, tuple[str, list[int]]]()
    for j in range(len(even)):  # Cholesky, column by column
        row = factor[j, :j]
        left = even[j, j] - row @ row
        if left < EXACT:  # the column of zeros explains nothing of those that follow
            before = [k for k in range(j) if k not in sums]
            shares = np.linalg.lstsq(even[np.ix_(before, before)], even[before, j], rcond=1e-12)[0]
            parts = {k: share for k, share in zip(before, shares, strict=True) if abs(share) > 1e-6}
            told = [f"{share * unit[j] / unit[k]:.4g} {names[k]}" for k, share in parts.items()]
            sums[j] = (" + ".join(told[:6]) + " + …" * (len(told) > 6), list(parts))
            continue
        factor[j, j] = np.sqrt(left)
        factor[j + 1 :, j] = (even[j + 1 :, j] - factor[j + 1 :, :j] @ row) / factor[j, j]
    return sums

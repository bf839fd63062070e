"""Terms of many rows, dense or sparse, and the sums over rows that a fit needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learner.regression import row_kernels as kernels

__all__ = ["Matrix"]

Floats = NDArray[np.float64]
#: Rows of a dense matrix that are worked on at a time, so that they stay in the processor's cache.
CHUNK = 1 << 10
#: Games whose gradients are held at a time.
GAMES = 256


@dataclass(frozen=True, eq=False)
class Matrix:
    """Terms of many rows, dense or sparse; a term may stand in a row several times.

    columns: number of columns.
    dense: floats [rows, columns]; None if it is sparse.
    start, term, count: sparse: the entries of row i are those from start[i] to before start[i + 1],
        the column (int32) and the count (float32) of each.
    """

    columns: int
    dense: NDArray[Any] | None = None
    start: Any = None
    term: Any = None
    count: Any = None

    def __len__(self) -> int:
        return len(self.start) - 1 if self.dense is None else len(self.dense)

    def _parts(self) -> Iterator[slice]:
        return (slice(i, i + CHUNK) for i in range(0, len(self), CHUNK))

    def take(self, chosen: NDArray[np.int64]) -> Matrix:
        """Returns some of the rows, by their numbers."""
        if self.dense is not None:
            return replace(self, dense=self.dense[chosen])
        sizes = np.diff(self.start)[chosen]
        start = np.concatenate([[0], np.cumsum(sizes)])
        places = np.repeat(self.start[:-1][chosen] - start[:-1], sizes) + np.arange(start[-1])
        return replace(self, start=start, term=self.term[places], count=self.count[places])

    def mapped(self, place: NDArray[np.int32], factor: Floats, columns: int) -> Matrix:
        """Returns the matrix of other columns: column j adds factor[j] times itself to place[j].

        A factor of 0 leaves a column out.
        """
        if np.array_equal(place, np.arange(self.columns)) and (factor == 1).all():
            return self
        if self.dense is None:
            count = self.count * factor.astype(np.float32)[self.term]
            return replace(self, columns=columns, term=place[self.term], count=count)
        turn = np.zeros((self.columns, columns))
        turn[np.arange(self.columns), place] = factor
        return replace(self, columns=columns, dense=self.dense @ turn.astype(np.float32))

    def times(self, weights: Floats) -> Floats:
        """Returns the sum of weights times terms for each row."""
        products = np.zeros(len(self))
        if self.dense is None:
            kernels.times(self.start, self.term, self.count, weights, products)
            return products
        for part in self._parts():
            products[part] = self.dense[part].astype(np.float64) @ weights
        return products

    def passed(self, weights: Floats, slopes_of: Callable[[slice, Floats], Floats]) -> Floats:
        """Returns the slope of a function of each row's sum of weights times terms, [columns].

        slopes_of: returns the derivatives for a part of the rows, and the sums of these.
        """
        if self.dense is None:
            return self.slope(slopes_of(slice(0, len(self)), self.times(weights)))
        sums = np.zeros(self.columns)
        for part in self._parts():
            rows = self.dense[part].astype(np.float64)
            sums += slopes_of(part, rows @ weights) @ rows
        return sums

    def slope(self, slopes: Floats) -> Floats:
        """Returns the sum over the rows of slopes times terms, for each column."""
        sums = np.zeros(self.columns)
        if self.dense is None:
            kernels.slope(self.start, self.term, self.count, slopes, sums)
            return sums
        for part in self._parts():
            sums += slopes[part] @ self.dense[part].astype(np.float64)
        return sums

    def gram(self, weights: Floats, *, single: bool = False) -> Floats:
        """Returns the sum over the rows of weight times term times term, [columns, columns].

        single: multiply dense rows in single precision, three times as fast.
        """
        products = np.zeros((self.columns, self.columns))
        if self.dense is None:
            kernels.gram(self.start, self.term, self.count, weights, products)
            return products + products.T - np.diag(np.diag(products))
        root = np.sqrt(weights).astype(np.float32 if single else np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            for part in self._parts():
                rows = self.dense[part] * root[part, None]
                products += rows.T @ rows
        # single precision ends at 10^38
        return products if not single or np.isfinite(products).all() else self.gram(weights)

    def squares(self, weights: Floats) -> Floats:
        """Returns the sum over the rows of weight times the square of each term."""
        sums = np.zeros(self.columns)
        if self.dense is None:
            kernels.squares(self.start, self.term, self.count, weights, sums)
            return sums
        for part in self._parts():
            sums += weights[part] @ np.square(self.dense[part], dtype=np.float64)
        return sums

    def scatter(self, slopes: Floats, game: NDArray[np.int64]) -> Floats:
        """Returns the sum over games of g times g, g the sum of slopes times terms of its rows.

        game: [rows], the number of each row's game, from 0 without gaps.
        """
        products = np.zeros((self.columns, self.columns))
        order = np.argsort(game, kind="stable")
        numbers = game[order]
        for first in range(0, int(numbers[-1]) + 1, GAMES):
            low, high = np.searchsorted(numbers, (first, first + GAMES))
            part = self.take(order[low:high])
            place = numbers[low:high] - first
            sums = np.zeros((GAMES, self.columns))
            if part.dense is None:
                kernels.sums(
                    part.start, part.term, part.count, slopes[order[low:high]], place, sums
                )
            else:
                held, firsts = np.unique(place, return_index=True)
                sums[held] = np.add.reduceat(
                    part.dense * slopes[order[low:high], None], firsts, axis=0
                )
            products += sums.T @ sums
        return products

    def occurrences(self) -> NDArray[np.int64]:
        """Returns for each column the rows in which it is not 0."""
        if self.dense is not None:
            return np.asarray(np.count_nonzero(self.dense, axis=0), dtype=np.int64)
        return np.bincount(self.term, self.count != 0, minlength=self.columns).astype(np.int64)

"""The largest admissible heuristic over an encoding, where all least costs are known.

A linear program: the mean value of all positions as large as possible, and no value above the least
cost. Values are rounded down to whole numbers of the right parity (`LearnedHeuristic`), so that a
sum may exceed the least cost by almost 2. Positions whose values are too large join the program
until there are none.

Source: approximate linear programming (de Farias and Van Roy 2003), with the least costs themselves
in place of Bellman's inequalities, and the rounding, which are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator

from learner.heuristics.costs import MOST_POSITIONS, least_costs
from learner.heuristics.frame import find_encoding, find_problem
from search.evaluators.heuristic import LearnedHeuristic

__all__ = ["Admissible", "Pass"]

#: Positions of the first program, and those that join it at a time, the largest excess first.
FIRST, MORE = 4_000, 6_000
#: How far sums stay below their bounds: more than the rounding of the program and of the weights.
MARGIN = 0.01
MOST_PASSES = 100


@dataclass(frozen=True)
class Pass:
    """The state after one linear program.

    number: number of the program, from 1 on.
    rows: positions in it.
    mean: mean of the sums of all positions.
    above: positions whose sums exceed their bounds.
    """

    number: int
    rows: int
    mean: float
    above: int

    def text(self) -> str:
        """Returns a line for people."""
        return (
            f"program {self.number}: {self.rows:,} positions, mean {self.mean:.3f},"
            f" {self.above:,} others too large"
        )


@dataclass(kw_only=True, eq=False, repr=False)
class Admissible(BaseEstimator):  # type: ignore[misc]
    """Finds weights that never overestimate, for a problem with few enough positions.

    problem: a problem whose rules are kernels, that names its goal and whose moves can be taken
        back; or its name.
    encoding: the inputs that get the weights, or their name; None for the problem's first encoding.
    base: names of the problem's admissible heuristics; the result is at least the value of each.
    most: greatest number of positions of the problem.
    seed: seed of the choice of the first positions.

    After `fit`: `heuristic_`, whose `proved` says that all positions were compared; `passes_`, a
    `Pass` for each program; and `costs_`, the least cost of every position.
    """

    problem: Any = field(default="sliding8", kw_only=False)
    encoding: Any = field(default=None, kw_only=False)
    base: tuple[str, ...] = ()
    most: int = MOST_POSITIONS
    seed: int = 0

    def fit(self, *, watch: Callable[[Pass], None] | None = None) -> Admissible:
        """Find the weights; `watch` is called after each program.

        Raises ValueError for a problem with more than `most` positions or moves that cannot be
        taken back, and for a base heuristic that overestimates.
        """
        self.problem_ = find_problem(self.problem)
        self.encoding_ = find_encoding(self.problem_, self.encoding)
        costs = least_costs(self.problem_, most=self.most)
        if costs is None:
            raise ValueError(
                f"problem: expected at most {self.most:,} positions and moves that can be taken"
                f" back, found {self.problem_.name}"
            )
        self.costs_ = costs
        self.passes_: list[Pass] = []
        size = self.encoding_.size
        self.heuristic_ = LearnedHeuristic(
            self.problem_, self.encoding_, np.zeros(size), base=self.base
        )
        self.heuristic_.weights[:] = self._weights(watch)
        self._prove()
        return self

    def _weights(self, watch: Callable[[Pass], None] | None) -> NDArray[np.float64]:
        """Returns the weights that the last program found."""
        positions = list(self.costs_)
        bounds = np.array(list(self.costs_.values())) + self._room() - MARGIN
        inputs, groups = _tied(*self._inputs(positions))
        chance = np.random.default_rng(self.seed)
        near = np.argsort(bounds)[: FIRST // 20]
        far = chance.choice(len(bounds), min(FIRST, len(bounds)), replace=False)
        chosen = np.union1d(near, far)
        mean = np.asarray(inputs.mean(axis=0)).ravel()
        largest = 2 * float(bounds.max())
        for number in range(1, MOST_PASSES + 1):
            found = linprog(
                -mean, A_ub=inputs[chosen], b_ub=bounds[chosen], bounds=(-largest, largest),
                method="highs-ipm",
            )  # fmt: skip
            if found.x is None:
                raise ValueError(f"{self.problem_.name}: no weights found: {found.message}")
            excess = inputs @ found.x - bounds
            above = np.flatnonzero(excess > MARGIN / 10)
            self.passes_.append(Pass(number, len(chosen), float(mean @ found.x), len(above)))
            if watch is not None:
                watch(self.passes_[-1])
            if not len(above):
                break
            worst = above[np.argsort(-excess[above])[:MORE]]
            chosen = np.union1d(chosen, worst)
        return np.asarray(found.x)[groups]

    def _room(self) -> float:
        """Returns by how much a sum may exceed the least cost before its rounded value does."""
        if not self.heuristic_.whole:
            return 0.0
        return 1.0 if self.problem_.problem.parity is None else 2.0

    def _inputs(self, positions: list[Any]) -> tuple[csr_matrix, csr_matrix]:
        """Returns the inputs of positions, and of their mirror images, [positions, inputs]."""
        mirror = self.problem_.problem.mirror
        own = _matrix(self.encoding_.active_rows(positions), self.encoding_.size)
        if mirror is None:
            return own, own
        images = [tuple(map(int, mirror(position))) for position in positions]
        return own, _matrix(self.encoding_.active_rows(images), self.encoding_.size)

    def _prove(self) -> None:
        """Compare the values of all positions with their least costs, and say so."""
        heuristic = self.heuristic_
        above = sum(heuristic(position) > cost + 1e-9 for position, cost in self.costs_.items())
        if above:
            raise ValueError(
                f"base: expected heuristics that never overestimate, found {above:,} positions"
                f" above their least cost ({', '.join(self.base) or 'the weights themselves'})"
            )
        heuristic.proved = f"all {len(self.costs_):,} positions were compared with their least cost"


def _matrix(rows: NDArray[np.int64], size: int) -> csr_matrix:
    """Returns rows of places as a sparse matrix of 0 and 1, [positions, size]."""
    real = rows < size
    starts = np.concatenate([[0], np.cumsum(real.sum(axis=1))])
    ones = np.ones(int(starts[-1]))
    return csr_matrix((ones, rows[real], starts), shape=(len(rows), size))


def _tied(own: csr_matrix, mirrored: csr_matrix) -> tuple[csr_matrix, NDArray[np.int64]]:
    """Returns the inputs with one column for those that must have equal weights, and the columns.

    Inputs that trade places in mirror images get the same weight, and so do those that always occur
    together or never: the second result is the column of each input, [inputs].
    """
    both = (own + mirrored).tocsc()
    marks = np.random.default_rng(0).normal(size=both.shape[0])
    _, columns = np.unique(np.round(both.T @ marks, 6), return_inverse=True)
    size = own.shape[1]
    ties = csr_matrix((np.ones(size), (np.arange(size), columns)))
    return (own @ ties).tocsr(), columns

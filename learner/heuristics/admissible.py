"""The largest admissible heuristic over an encoding, from the least costs of all positions.

A linear program maximises the mean value of all positions, with no value above the least cost.
Values are rounded down to whole numbers of the right parity (`LearnedHeuristic`), so that a sum may
exceed the least cost by almost 2. Positions whose values are too large join the program until there
are none.

Source: approximate linear programming (de Farias and Van Roy 2003). Two changes are ours: the least
    costs replace Bellman's inequalities, and values are rounded.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from learner.frame import Progress
from learner.heuristics.costs import MOST_POSITIONS, least_costs
from learner.heuristics.frame import ProblemLearner
from learner.positions.packing import packed, unpacked
from search.evaluators.heuristic import LearnedHeuristic

__all__ = ["Admissible"]

#: Positions of the first program, and those that join it at a time, the largest excess first.
FIRST, MORE = 4_000, 6_000
#: The margin of sums from their bounds, larger than rounding errors of the program and the weights.
MARGIN = 0.01
MOST_PROGRAMS = 100


@dataclass(kw_only=True, eq=False, repr=False)
class Admissible(ProblemLearner):
    """Finds weights that never overestimate, for a problem with few enough positions.

    game: a problem whose rules are kernels, that names its goal and whose moves can be taken back;
        or its name.
    encoding: the inputs that get the weights, or their name. Default: the problem's first encoding.
    base: names of the problem's admissible heuristics; the result is at least the value of each.
    seed: seed of the choice of the first positions.

    After `fit`: `evaluator_`, whose `proved` says that all positions were compared; and `costs_`,
    the least cost of every position. Its progress counts the positions of the linear programs, and
    at the end all positions compared.
    """

    #: all positions of the problem, once they have been counted
    games = MOST_POSITIONS

    def begin(self, evaluator: Any) -> None:
        """Raises ValueError for too many positions, or moves that cannot be taken back."""
        super().begin(evaluator)
        costs = least_costs(self.game_)
        if costs is None:
            raise ValueError(
                f"game: expected at most {MOST_POSITIONS:,} positions and moves that can be taken"
                f" back, found {self.game_.name}"
            )
        self.costs_ = costs
        self.games = len(costs)
        none = np.zeros(self.encoding_.size)
        self.evaluator_ = LearnedHeuristic(self.game_, self.encoding_, none, base=self.base)
        self._programs = 0
        self._chosen = np.zeros(0, dtype=np.int64)

    def learn(self) -> Generator[Progress, None, None]:
        """Solve programs of more and more positions; yields the progress after each.

        Raises ValueError for a base heuristic that overestimates.
        """
        positions = list(self.costs_)
        bounds = np.array(list(self.costs_.values())) + self._room() - MARGIN
        inputs, groups = _tied(*self._inputs(positions))
        if not self._programs:
            chance = np.random.default_rng(self.seed)
            near = np.argsort(bounds)[: FIRST // 20]
            far = chance.choice(len(bounds), min(FIRST, len(bounds)), replace=False)
            self._chosen = np.union1d(near, far)
        mean = np.asarray(inputs.mean(axis=0)).ravel()
        largest = 2 * float(bounds.max())
        while self._programs < MOST_PROGRAMS and not self.evaluator_.proved:
            chosen = self._chosen
            program = linprog(
                -mean, A_ub=inputs[chosen], b_ub=bounds[chosen], bounds=(-largest, largest),
                method="highs-ipm",
            )  # fmt: skip
            if program.x is None:
                raise ValueError(f"{self.game_.name}: no weights found: {program.message}")
            self.evaluator_.weights[:] = np.asarray(program.x)[groups]
            excess = inputs @ program.x - bounds
            above = np.flatnonzero(excess > MARGIN / 10)
            self._programs += 1
            self.games_played_ = self.updates_ = len(chosen)
            if len(above) and self._programs < MOST_PROGRAMS:
                worst = above[np.argsort(-excess[above])[:MORE]]
                self._chosen = np.union1d(chosen, worst)
            else:
                self._prove()
                self.games_played_ = self.games
            figures = {"mean": float(mean @ program.x), "above": len(above)}
            yield self.progress(None, {"program": self._programs, **figures})

    def _room(self) -> float:
        """Returns by how much a sum may exceed the least cost before its rounded value does."""
        if not self.evaluator_.whole:
            return 0.0
        return 1.0 if self.game_.problem.parity is None else 2.0

    def _inputs(self, positions: list[Any]) -> tuple[csr_matrix, csr_matrix]:
        """Returns the inputs of positions, and of their mirror images, [positions, inputs]."""
        mirror = self.game_.problem.mirror
        own = _matrix(self.encoding_.active_rows(positions), self.encoding_.size)
        if mirror is None:
            return own, own
        images = [tuple(map(int, mirror(position))) for position in positions]
        return own, _matrix(self.encoding_.active_rows(images), self.encoding_.size)

    def _prove(self) -> None:
        """Compare the values of all positions with their least costs, and say so."""
        heuristic = self.evaluator_
        above = sum(heuristic(position) > cost + 1e-9 for position, cost in self.costs_.items())
        if above:
            raise ValueError(
                f"base: expected heuristics that never overestimate, found {above:,} positions"
                f" above their least cost ({', '.join(self.base) or 'the weights themselves'})"
            )
        heuristic.proved = f"all {len(self.costs_):,} positions were compared with their least cost"

    # --- state --------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        return {
            "programs": self._programs,
            "chosen": self._chosen.tolist(),
            "weights": packed(self.evaluator_.weights),
            "ended": bool(self.evaluator_.proved),
        }

    def _set_state(self, state: dict[str, Any]) -> None:
        chosen = np.array(state["chosen"], dtype=np.int64)
        if len(chosen) and not 0 <= chosen.min() <= chosen.max() < len(self.costs_):
            raise ValueError(f"chosen: expected numbers below {len(self.costs_)}")
        weights = unpacked(state["weights"], np.float32, size=self.encoding_.size)
        self._programs, self._chosen = int(state["programs"]), chosen
        self.evaluator_.weights[:] = weights
        if state["ended"]:
            self._prove()


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

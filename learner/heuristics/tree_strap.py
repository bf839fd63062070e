"""TreeStrap over a problem: all positions that A* closed follow the bounds that it found.

No solution from a position that was reached at the cost g can cost less than C - g, where C is the
least cost from the start: the two together would be a cheaper solution. For positions on the
solution C - g is exact. If A* ends without a solution, the least f of the positions that wait takes
the place of C. All of this is proved while no value overestimates.

Source: J. Veness, D. Silver, W. Uther and A. Blair, "Bootstrapping from Game Tree Search", NIPS 22
    (2009), as `learner.bootstrap.tree_strap` has it for games; the bound of closed positions: R. C.
    Holte, M. B. Perez, R. M. Zimmer and A. J. MacDonald, "Hierarchical A*", AAAI (1996), where it
    is called P-g caching.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from games.problem import KernelProblem
from learner.heuristics.following import Follower
from learner.heuristics.frame import Lesson, Teacher
from learner.self_play import Target
from search.single_agent.solve import solve

__all__ = ["Bounds", "TreeStrap"]

#: Memory of a search, in MiB.
MEMORY = 64.0


@dataclass(frozen=True)
class Bounds:
    """Solves a position by A*, and gives the bounds that are above the heuristic's values.

    most: greatest number of bounds, taken evenly over the search (None: all).
    """

    most: int | None = None

    def __call__(
        self, problem: KernelProblem, heuristic: Any, position: Any, weight: float, nodes: int
    ) -> Lesson:
        met: list[Any] = []
        found = solve(
            problem, position, heuristic, weight=weight, nodes=nodes, memory_mib=MEMORY,
            met=lambda *all_of_it: met.append(all_of_it),
        )  # fmt: skip
        if not met:
            return Lesson(position, found.expanded, found.moves, found.cost)
        positions, spent, least = met[0]
        low = least - spent
        # those that still wait, and those reached on a detour, have no bound above their value
        chosen = np.flatnonzero(low > heuristic.values(positions) + 1e-9)
        if self.most is not None and len(chosen) > self.most:
            chosen = chosen[np.linspace(0, len(chosen) - 1, self.most).astype(np.int64)]
        known = [tuple(map(int, positions[place])) for place in chosen]
        bounds, tops = low[chosen].tolist(), [np.inf] * len(chosen)
        place, left = position, found.cost
        for move in found.moves or ():
            known.append(place)
            bounds.append(left - (found.cost - least))
            tops.append(left)
            left -= problem.cost(place, move)
            place = problem.play(place, move)
        target = Target(known, np.array(bounds), np.array(tops))
        return Lesson(position, found.expanded, found.moves, found.cost, target)


@dataclass(kw_only=True, eq=False, repr=False)
class TreeStrap(Follower):
    """The estimates of all positions that A* closed follow the bounds that it found.

    positions: greatest number of bounds from each search, taken evenly.
    """

    weight: float = 1.0
    positions: int = 1_000

    def _check(self) -> None:
        super()._check()
        self._at_least({"positions": 1})

    def _teacher(self) -> Teacher:
        return Bounds(self.positions)

"""Rote learning over a problem: remember the bounds that searches proved, and search with them.

No solution from a position that was reached at the cost g can cost less than C - g, where C is the
least cost from the start: the two together would be a cheaper solution. For positions on the
solution C - g is exact. If A* ends without a solution, the least f of the positions that wait takes
the place of C. All of this is proved while no value overestimates.

The bounds are remembered by position and not generalised, so that nothing is ever overestimated if
no base heuristic overestimates. What is remembered at one search's end makes the next one shorter.

Sources: Samuel 1959; the bound of closed positions: R. C. Holte, M. B. Perez, R. M. Zimmer and
    A. J. MacDonald, "Hierarchical A*", AAAI (1996), where it is called P-g caching.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from games.problem import KernelProblem
from learner.heuristics.frame import HeuristicLearner, Lesson, Teacher
from learner.options import ranged
from learner.positions.packing import packed, unpacked
from search.evaluators.remembered import RememberedHeuristic
from search.single_agent.solve import solve

__all__ = ["Rote"]

#: Memory of a search, in MiB.
MEMORY = 64.0


def proved_bounds(
    problem: KernelProblem, heuristic: Any, position: Any, weight: float, nodes: int
) -> Lesson:
    """Returns the solution that A* finds, and the bounds that are above the heuristic's values."""
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
    bounds = [(tuple(map(int, positions[place])), float(low[place])) for place in chosen]
    place, left = position, least
    for move in found.moves or ():
        bounds.append((place, left))
        left -= problem.cost(place, move)
        place = problem.play(place, move)
    return Lesson(position, found.expanded, found.moves, found.cost, tuple(bounds))


@dataclass(kw_only=True, eq=False, repr=False)
class Rote(HeuristicLearner):
    """Remembers the bounds of the positions that A* closed, in place of learning weights.

    capacity: greatest number of positions; the largest bounds are kept.
    """

    weight: float = 1.0
    capacity: int = ranged(1_000_000, 1)

    evaluator_: RememberedHeuristic = field(init=False)

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        self._bounds: dict[int, float] = {}
        self._remember()

    def _remember(self) -> None:
        """Let later searches see the bounds."""
        if len(self._bounds) > self.capacity:
            kept = sorted(self._bounds.items(), key=lambda item: (-item[1], item[0]))
            self._bounds = dict(kept[: self.capacity])
        known = [self.game_.evaluators[name] for name in self.base]
        sure = all(one.known.admissible for one in known)
        self.evaluator_ = RememberedHeuristic(
            self.game_,
            np.fromiter(self._bounds.keys(), dtype=np.int64),
            np.fromiter(self._bounds.values(), dtype=np.float64),
            base=self.base,
            proved="every value is a bound that a search proved" if sure else "",
        )

    def _teacher(self) -> Teacher:
        return proved_bounds

    def _learn(self, lessons: list[Lesson], chances: list[float]) -> int:
        """Remember the largest bound of each position."""
        key, mirror = self.evaluator_.key, self.game_.problem.mirror
        for lesson in lessons:
            for position, bound in lesson.bounds:
                images = [position] if mirror is None else [position, mirror(position)]
                for image in images:
                    place = key(tuple(map(int, image)))
                    self._bounds[place] = max(bound, self._bounds.get(place, 0.0))
        self._remember()
        return len(self._bounds)

    def get_state(self) -> dict[str, Any]:
        heuristic = self.evaluator_
        return {
            **super().get_state(),
            "count": len(heuristic.keys),
            "keys": packed(heuristic.keys, level=1),
            "bounds": packed(heuristic.remembered, level=1),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        super().set_state(state)
        count = int(state["count"])
        keys = unpacked(state["keys"], np.int64, size=count, compressed=True)
        bounds = unpacked(state["bounds"], np.float64, size=count, compressed=True)
        self._bounds = dict(zip(keys.tolist(), bounds.tolist(), strict=True))
        self._remember()

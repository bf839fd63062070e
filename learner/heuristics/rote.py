"""Rote learning over a problem: remember the bounds that searches proved, and search with them.

The bounds are those of `learner.heuristics.tree_strap`. They are remembered by position and not
generalised, so that nothing is ever overestimated if no base heuristic overestimates. What is
remembered at one search's end makes the next one shorter (Samuel 1959; in A*: Holte and
others 1996, P-g caching).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from learner.heuristics.following import with_mirrors
from learner.heuristics.frame import HeuristicLearner, Lesson, Teacher
from learner.heuristics.tree_strap import Bounds
from learner.positions.packing import packed, unpacked
from search.evaluators.remembered import RememberedHeuristic

__all__ = ["Rote"]


@dataclass(kw_only=True, eq=False, repr=False)
class Rote(HeuristicLearner):
    """Remembers the bounds of the positions that A* closed, in place of learning weights.

    capacity: greatest number of positions; the largest bounds are kept.
    """

    weight: float = 1.0
    capacity: int = 1_000_000

    heuristic_: RememberedHeuristic = field(init=False)

    def _check(self) -> None:
        super()._check()
        self._at_least({"capacity": 1})

    def _begin(self) -> None:
        super()._begin()
        self._bounds: dict[int, float] = {}
        self._remember()

    def _remember(self) -> None:
        """Let later searches see the bounds."""
        if len(self._bounds) > self.capacity:
            kept = sorted(self._bounds.items(), key=lambda item: (-item[1], item[0]))
            self._bounds = dict(kept[: self.capacity])
        known = [self.problem_.evaluators[name] for name in self.base]
        sure = all(one.known.admissible for one in known)
        self.heuristic_ = RememberedHeuristic(
            self.problem_,
            np.fromiter(self._bounds.keys(), dtype=np.int64),
            np.fromiter(self._bounds.values(), dtype=np.float64),
            base=self.base,
            proved="every value is a bound that a search proved" if sure else "",
        )

    def _teacher(self) -> Teacher:
        return Bounds()

    def _learn(self, lessons: list[Lesson], chances: list[float]) -> int:
        """Remember the largest bound of each position."""
        key = self.heuristic_.key
        for lesson in lessons:
            if lesson.target is None:
                continue
            target = lesson.target
            positions, low, _ = with_mirrors(
                self.problem_, target.positions, target.low, target.high
            )
            for position, bound in zip(positions, low.tolist(), strict=True):
                place = key(position)
                self._bounds[place] = max(bound, self._bounds.get(place, 0.0))
        self._remember()
        return len(self._bounds)

    def _state(self) -> dict[str, Any]:
        heuristic = self.heuristic_
        return {
            "count": len(heuristic.keys),
            "keys": packed(heuristic.keys, level=1),
            "bounds": packed(heuristic.remembered, level=1),
        }

    def _set_state(self, state: dict[str, Any]) -> None:
        count = int(state["count"])
        keys = unpacked(state["keys"], np.int64, size=count, compressed=True)
        bounds = unpacked(state["bounds"], np.float64, size=count, compressed=True)
        self._bounds = dict(zip(keys.tolist(), bounds.tolist(), strict=True))
        self._remember()

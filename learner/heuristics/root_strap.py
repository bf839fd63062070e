"""RootStrap over a problem: the estimate of a position follows what LRTA* and RTDP back up.

Sources: J. Veness, D. Silver, W. Uther and A. Blair, "Bootstrapping from Game Tree Search", NIPS 22
    (2009), as `learner.bootstrap.root_strap` has it for games; the backup min(c + h): Korf 1990,
    Barto, Bradtke and Singh 1995.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from games.problem import KernelProblem
from learner.heuristics.following import Follower
from learner.heuristics.frame import Lesson, Teacher
from learner.self_play import Target
from search.graph import lrta_star

__all__ = ["RootStrap"]


def backed_up(
    problem: KernelProblem, heuristic: Any, position: Any, weight: float, nodes: int
) -> Lesson:
    """Returns the backed-up values of the positions of a walk by LRTA*.

    During the walk its own table holds the estimates of visited positions; afterwards each is
    backed up once more, so that an estimate that was too high may fall too.
    """
    native = heuristic.estimator()
    known: dict[Any, float] = {}

    def estimate(place: Any) -> float:
        if place not in known:
            known[place] = 0.0 if problem.solved(place) else native(place)
        return known[place]

    table: dict[Any, float] = {}
    walk = lrta_star(problem, estimate, position, learned=table, nodes=nodes)
    values = []
    for place in table:
        after = [
            (problem.cost(place, m), problem.play(place, m)) for m in problem.legal_moves(place)
        ]
        values.append(min(cost + table.get(one, estimate(one)) for cost, one in after))
    backed = np.array(values)
    return Lesson(
        position, walk.expanded, walk.moves, walk.cost, Target(list(table), backed, backed)
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RootStrap(Follower):
    """The estimates of positions that LRTA* walks through follow their backed-up values.

    nodes: greatest number of moves of a walk.
    """

    nodes: int = 1_000

    def _teacher(self) -> Teacher:
        return backed_up

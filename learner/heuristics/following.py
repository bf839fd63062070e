"""Values that follow search: TD, RootStrap and TreeStrap over a problem.

As in games (`learner.bootstrap.frame`) the learners differ only in the targets that they make from
a position, and the model is the same: a network, of which weights over an encoding are the simplest
kind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.problem import KernelProblem
from learner.heuristics.frame import HeuristicLearner, Lesson, base_values, starting_weights
from learner.models.model import squash
from learner.models.network_model import NetworkModel, network_model
from learner.models.schedule import Schedule
from learner.positions.packing import packed, unpacked
from search.evaluators.heuristic import NetworkHeuristic

__all__ = ["Follower", "cost_network", "get_model_state", "set_model_state", "with_mirrors"]

#: The cost that is squashed to tanh(1): so large that costs are hardly squashed.
SCALE = 1000.0
#: The cost that an output of 1 stands for.
UNIT = 100.0
#: The last rate as a share of the first.
LAST_SHARE = 0.1


@dataclass(kw_only=True, eq=False, repr=False)
class Follower(HeuristicLearner):
    """The base class of learners whose estimates follow what a search says about positions.

    Options beside those of `HeuristicLearner`:

    hidden: widths of the hidden layers of a network; () for a weight for each input.
    rate: step size of Adam, in hundreds of cost; it falls linearly to a tenth over the `rounds`.
    passes: passes over the positions of a round.
    """

    hidden: tuple[int, ...] = ()
    rate: float = 0.002
    passes: int = 4

    heuristic_: NetworkHeuristic = field(init=False)

    def _check(self) -> None:
        super()._check()
        self._at_least({"passes": 1})
        if not 0 < self.rate <= 1:
            raise ValueError(f"rate: expected more than 0 and at most 1, found {self.rate}")

    def _begin(self) -> None:
        super()._begin()
        self._model = cost_network(self.problem_, self.encoding_, self.hidden, seed=self.seed)
        if not self.hidden and self.base:
            values = base_values(self.problem_, self.base)
            weights = starting_weights(self.problem_, self.encoding_, values, seed=self.seed)
            self._model.evaluator.layers[0][0][:, 0] = weights / UNIT
        self.heuristic_ = NetworkHeuristic(self.problem_, self._model.evaluator, base=self.base)

    def _learn(self, lessons: list[Lesson], chances: list[float]) -> int:
        """Move the estimates towards the targets of a round."""
        targets = [lesson.target for lesson in lessons if lesson.target is not None]
        positions = [position for target in targets for position in target.positions]
        if not positions:
            return 0
        low = np.concatenate([target.low for target in targets])
        high = np.concatenate([target.high for target in targets])
        positions, low, high = with_mirrors(self.problem_, positions, low, high)
        rows = self.encoding_.active_rows(positions)
        number = len(self.rounds_)
        for one in range(self.passes):
            self._model.learn(
                rows,
                squash(low, SCALE),
                squash(high, SCALE),
                rate=Schedule(self.rate, LAST_SHARE).at(number, self.rounds),
                random=np.random.default_rng((self.seed, number, one)),
            )
        return len(positions)

    def _state(self) -> dict[str, Any]:
        return {"model": get_model_state(self._model)}

    def _set_state(self, state: dict[str, Any]) -> None:
        set_model_state(self._model, state["model"])


def cost_network(
    problem: KernelProblem, encoding: Any, hidden: tuple[int, ...], *, seed: int, size: int = 256
) -> NetworkModel:
    """Returns a network that estimates every cost to be 0, to be taught squashed costs."""
    model = network_model(problem, encoding, hidden, scale=SCALE, seed=seed, size=size)
    model.evaluator.scale = UNIT
    return model


def with_mirrors(
    problem: KernelProblem, positions: Any, low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[list[Any], NDArray[np.float64], NDArray[np.float64]]:
    """Returns positions and bounds of their costs with those of their mirror images, if any."""
    mirror = problem.problem.mirror
    listed = [tuple(map(int, position)) for position in positions]
    if mirror is None:
        return listed, low, high
    listed += [tuple(map(int, mirror(position))) for position in listed]
    return listed, np.tile(low, 2), np.tile(high, 2)


def get_model_state(model: NetworkModel) -> dict[str, Any]:
    """Returns the state of a model with its long lists as text."""
    return {
        name: packed(np.array(value)) if isinstance(value, list) else value
        for name, value in model.get_state().items()
    }


def set_model_state(model: NetworkModel, state: dict[str, Any]) -> None:
    """Take a state that `get_model_state` returned; raises ValueError for any other."""
    model.set_state(
        {
            name: unpacked(value, np.float64) if isinstance(value, str) else value
            for name, value in state.items()
        }
    )

"""A rollout as an evaluator, for searches, matches, learners and as a referee."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.kernels import uncompiled
from games.kernels.memory import native_function
from games.kernels.vectors import stack_block
from play.rollout.rollout import Blocks, checked_positions
from search import Evaluator, Lookup
from search.evaluators.evaluator import SIGNATURE, Fail
from search.expectiminimax.move_filters import MoveFilters

__all__ = ["RolloutEvaluator"]

#: Positions whose results are remembered, because a search asks for outcomes after values.
REMEMBERED = 1 << 12

Floats = NDArray[np.float64]


class RolloutEvaluator(Evaluator):
    """The mean of games played out by another evaluator, as a static value; slow.

    The options are those of `play.rollout.rollout.rollout`. A value depends on the position, the
    evaluator and the options alone. All positions have the same dice, which makes comparisons of
    two positions more precise. Values are clipped to the range of the game's outcomes, and
    probabilities to possible ones. It gives outcomes if the evaluator does.

    Call `forget` after changing the evaluator's weights in place. Any number of threads may use it
    at once. Raises as `rollout`, and TypeError if `evaluator` is not an evaluator.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        games: int = 36,
        depth: int = 0,
        truncate: int | None = None,
        variance_reduction: bool = True,
        lookup: Lookup | None = None,
        filters: MoveFilters | str | None = None,
        seed: int = 0,
    ) -> None:
        if not isinstance(evaluator, Evaluator):
            raise TypeError(f"expected an evaluator to roll out with, found {evaluator!r}")
        if games < 1:
            raise ValueError(f"games: expected at least 1, found {games}")
        game = evaluator.game
        self._options: dict[str, Any] = {
            "games": games,
            "depth": depth,
            "truncate": truncate,
            "variance_reduction": variance_reduction,
            "lookup": lookup,
            "filters": filters,
            "seed": seed,
        }
        self._blocks = Blocks(
            game, evaluator, lookup, depth, filters, truncate, variance_reduction, seed
        )
        self.game = game
        self.evaluator = evaluator
        self.games = games
        self.name = f"{evaluator.name} rolled out {games} times"
        self.gives_outcomes = self._blocks.count > 0
        self.bounds = evaluator.bounds
        if game.outcomes is not None:
            payoffs = np.array(game.outcomes.payoffs)
            low, high = payoffs[payoffs < 0].sum(), payoffs[payoffs > 0].sum()
            self.bounds = float(game.outcomes.base + low), float(game.outcomes.base + high)
        self._known: dict[Any, Floats] = {}

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return f"RolloutEvaluator({self.evaluator!r}, {options})"

    def __reduce__(self) -> Any:
        return _rebuilt, (self.evaluator, self._options)

    def forget(self) -> None:
        """Forget all results, after the evaluator's weights have changed."""
        self._known.clear()

    def _result(self, position: Any) -> Floats:
        """Outcomes and value of a position, [outcomes + 1]."""
        found = self._known.get(position)
        if found is None:
            blocks = [block[0] for _, block in self._blocks.samples([position], self.games)]
            found = np.concatenate(blocks).mean(axis=0)
            found[-1] = min(max(found[-1], self.bounds[0]), self.bounds[1])
            if self.gives_outcomes and self.game.outcomes is not None:
                uncompiled(self.game.outcomes.confine)(position, found[:-1])
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[position] = found
        return found

    def plain(self) -> Callable[[Any], float]:
        return lambda position: float(self._result(position)[-1])

    def native(self, fail: Fail) -> tuple[int, int, Any]:
        def guarded(position: Any) -> float:
            # native code cannot carry an exception: it gets 0, and the search is told to stop
            try:
                return float(self._result(position)[-1])
            except BaseException as error:
                fail(error)
                return 0.0

        width = len(self.game.start())
        text = f"def value_at(data, source):\n    return call_python(data, source, {width})\n"
        return native_function("value_at", text, {}, SIGNATURE), id(guarded), guarded

    def values(self, positions: Any) -> Floats:
        """Values of several positions, each for its side to move; [positions]."""
        places = checked_positions(self._blocks.game, positions)
        return np.array([self._result(position)[-1] for position in places], dtype=np.float64)

    def outcomes(self, positions: Any) -> Floats:
        if not self.gives_outcomes:
            return super().outcomes(positions)
        places = checked_positions(self._blocks.game, positions)
        found = [self._result(position)[:-1] for position in places]
        return np.array(found, dtype=np.float64).reshape(len(places), self._blocks.count)

    def native_outcomes(self) -> tuple[int, int, Any]:
        """As `Evaluator.native_outcomes`; NaN where a value would raise."""
        if not self.gives_outcomes:
            return super().native_outcomes()
        count = self._blocks.count

        def write(numbers: Any) -> float:
            *position, target = numbers
            try:
                found = self._result(tuple(position))[:-1].tolist()
            except BaseException:
                found = [math.nan] * count
            (ctypes.c_double * count).from_address(target)[:] = found
            return 0.0

        width = len(self.game.start())
        text = f"""
def outcomes_at(data, source, target):
    block = stack_block({8 * (width + 1)})
    for i in range({width}):
        store_int(block, i, load_int(source, i))
    store_int(block, {width}, target)
    call_python(data, block, {width + 1})
"""
        signature = "void(int64, int64, int64)"
        address = native_function("outcomes_at", text, {"stack_block": stack_block}, signature)
        return address, id(write), write


def _rebuilt(evaluator: Evaluator, options: dict[str, Any]) -> RolloutEvaluator:
    return RolloutEvaluator(evaluator, **options)

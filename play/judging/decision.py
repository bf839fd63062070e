"""The one judge of all decisions: their loss, the share that they give away, and their mark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from games.contract import Game
from games.values import PROVEN
from play.judging.marks import mark_of
from play.players.chances import file_value
from search import Result
from search.evaluators.calibration import Chances

__all__ = ["Decision", "decision", "decision_of"]

#: Values that differ by less are equal; rounding in values with the cube is much smaller.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Decision:
    """A choice among the moves of a position; values are for the side that chose.

    move, value: the move chosen and its value.
    best, best_value: the best move and its value; the move chosen if no other is better.
    loss: `best_value` minus `value`, where a win is 1000 less the plies to it and a loss is minus
        that; 0 if both win or both lose, however quickly.
    given_up: share of the expected result that the choice gave away, from 0 to 1; None if no
        chances are known. A draw instead of a win gives away a half. If values are points, one
        point is a half, because a single win and a single loss are two points apart.
    mark: "?!", "?" or "??" by `given_up`, else empty.
    """

    move: Any
    value: float
    best: Any
    best_value: float
    loss: float
    given_up: float | None
    mark: str

    @property
    def keeps(self) -> bool:
        """Whether the move keeps the class (won, drawn or lost) of the position, by its value."""
        return bool(np.sign(self.value) == np.sign(self.best_value))


def decision(
    game: Game,
    move: Any,
    values: Mapping[Any, float],
    chances: Callable[[Any], Chances | None] = lambda move: None,
    *,
    points: bool = False,
) -> Decision:
    """Returns the judgement of a move by the values of all moves that matter.

    values: of the move and of others, in the game's unit or in points.
    chances: returns the chances of the side that chose after a move, or None if they are unknown;
        not called if values are points.
    points: whether the values are points, as those of probabilities of outcomes and of rollouts.
    """
    value, best = values[move], max(values, key=values.__getitem__)
    if values[best] - value <= ROUNDING:
        best = move
    best_value = values[best]
    if best == move or (min(abs(value), abs(best_value)) > PROVEN and value * best_value > 0):
        return Decision(move, value, best, best_value, 0.0, 0.0, "")
    loss = file_value(best_value) - file_value(value)
    given_up: float | None = None
    if points:
        given_up = min(loss / 2.0, 1.0)
    else:
        before, after = chances(best), chances(move)
        if before is not None and after is not None:
            given_up = max(0.0, before.expected - after.expected)
    return Decision(move, value, best, best_value, loss, given_up, mark_of(game, given_up))


def decision_of(result: Result, move: Any) -> Decision:
    """Returns the judgement of a move by the values that `Engine.analyse` found for all."""
    assert result.evaluator is not None
    evaluator = result.evaluator
    values = {one: evaluator.in_units(value) for one, value in result.moves}
    points = evaluator.gives_outcomes
    return decision(evaluator.game, move, values, result.chances_after, points=points)

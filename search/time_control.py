"""The time of a move in a game with a clock: how much to use, and when the answer is clear.

Sources: Hyatt 1984 (more time after a fail low), Hyatt, Gower and Nelson 1985 (easy moves).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

__all__ = ["Allowance", "TimeControl"]

#: Seconds between two looks at a search with an allowance.
GLANCE = 0.002
#: An iteration is expected to take this many times as long as the last, within limits.
LEAST_GROWTH, MOST_GROWTH = 1.3, 4.0
#: Depths in a row that have to agree on a move, the smallest depth of the last of them, and the
#: share of the usual time after which it is played.
AGREEING, AGREED_DEPTH, AGREED_SHARE = 5, 9, 0.2
#: The usual time is multiplied by these: after another best move, and after a fall of the value.
CHANGED, FALLEN = 1.5, 2.5
#: A fall of the value, in the game's unit.
FALL = 0.25


@dataclass(frozen=True)
class Allowance:
    """The time of a move, in seconds.

    usual: the time of a move without surprises.
    most: the time at which the search ends in any case.

    Raises ValueError unless 0 < usual <= most.
    """

    usual: float
    most: float

    def __post_init__(self) -> None:
        if not 0.0 < self.usual <= self.most:
            raise ValueError(
                f"expected more than 0 seconds, usually no more than at most, found {self}"
            )


class TimeControl:
    """Decides when a search has used enough of its allowance.

    allowance: the time of the move.
    line: the line that is searched, or anything with its fields `completed`, `failed_low`,
        `root_count`, `depth_value`, `depth_move` and `settled_values`.
    unit: the value of one of the game's units, such as a man.

    After each iteration the search ends if another one is not expected to end in time, and if the
    last depths agree on one move by a margin of a unit. It continues beyond the usual time if the
    best move has just changed or the value has fallen, and while an iteration fails low.
    """

    def __init__(self, allowance: Allowance, line: Any, unit: float) -> None:
        self._allowance = allowance
        self._line = line
        self._unit = unit
        self._depth = 0
        self._agreeing = 0
        self._ended = self._took = 0.0
        self._target = allowance.usual
        #: seconds after its beginning at which the search should end
        self.due = allowance.most

    def enough(self, seconds: float) -> bool:
        """Returns whether to end the search, `seconds` after it began."""
        if enough := self._enough(seconds):
            self.due = min(seconds, self._target, self._allowance.most)
        return enough

    def _enough(self, seconds: float) -> bool:
        line = self._line
        if seconds >= self._allowance.most:
            return True
        depth = int(line.completed)
        if depth > self._depth:
            return self._after_iteration(depth, seconds)
        return seconds >= self._target and not line.failed_low

    def _after_iteration(self, depth: int, seconds: float) -> bool:
        line, allowance = self._line, self._allowance
        took = seconds - self._ended
        growth = took / self._took if self._took > 0.0 else 2.0
        expected = took * min(max(growth, LEAST_GROWTH), MOST_GROWTH)
        same = depth == 1 or line.depth_move[depth] == line.depth_move[depth - 1]
        fell = depth > 1 and line.depth_value[depth - 1] - line.depth_value[depth]
        self._agreeing = self._agreeing + 1 if same and self._lead() >= self._unit else 0
        self._depth, self._ended, self._took = depth, seconds, took
        factor = FALLEN if fell > FALL * self._unit else 1.0 if same else CHANGED
        self._target = min(factor * allowance.usual, allowance.most)
        if self._agreeing >= AGREEING and depth >= AGREED_DEPTH:
            if seconds >= AGREED_SHARE * allowance.usual:
                return True
        return seconds + expected > self._target

    def _lead(self) -> float:
        """Returns by how much the best move is better than all others, at least; inf if alone."""
        line = self._line
        others = line.settled_values[1 : int(line.root_count)]
        return float(line.settled_values[0] - max(others, default=-math.inf))

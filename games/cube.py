"""`Stakes`: what the points of a game with a cube are worth to the side to move."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Stakes"]

Values = NDArray[np.float64]


class Stakes(Protocol):
    """The stakes of a game, for the side to move; an owner of the cube is 0 for that side.

    Values are in points or chances to win a match; which, is the game's affair.
    """

    def turned(self) -> Stakes:
        """Returns the stakes for the other side."""

    def turned_values(self, values: Values) -> Values:
        """Returns values to the other side as values to the side to move."""

    def points(self, side: int, points: int) -> float:
        """Returns the value to a side (0: the one to move) of winning points; lost if negative."""

    def can_double(self, side: int, cube: int, owner: int | None) -> bool:
        """Whether a side may double and could gain from it."""

    def values(self, positions: Any, outcomes: Any, cube: int, owner: int | None) -> Values:
        """Returns the values [n] of positions before their rolls, to the side to move.

        positions: n positions.
        outcomes: [n, outcomes], the chances of the game's outcomes without a cube.
        """

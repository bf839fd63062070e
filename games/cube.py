"""The doubling cube of a game, and its stakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["Cube", "Stakes", "cube_of"]


class Stakes(Protocol):
    """The stakes of a game, for the side to move; an owner of the cube is 0 for that side.

    Values are in points or chances to win a match; which, is the game's affair.
    """

    def turned(self) -> Stakes:
        """Returns the stakes for the other side."""

    def turned_values(self, values: Values) -> Values:
        """Returns values to the other side as values to the side to move."""

    def points(self, side: int, points: int) -> float:
        """Returns the value to a side (0: the one to move) of winning points; lost if negative.

        With 0 points it is what the score is worth before the game.
        """

    def can_double(self, side: int, cube: int, owner: int | None) -> bool:
        """Whether a side may double and could gain from it."""

    def values(self, positions: Any, outcomes: Any, cube: int, owner: int | None) -> Values:
        """Returns the values [n] of positions before their rolls, to the side to move.

        positions: n positions.
        outcomes: [n, outcomes], the chances of the game's outcomes without a cube.
        """


class Cube(Protocol):
    """The cube of a game: when it may be turned, and what that is worth.

    A situation is a position with its match and cube, as the game's records give it, and outcomes
    are the chances of the game's outcomes without a cube, for its side to move.
    """

    def may_double(self, situation: Any) -> bool:
        """Whether the rules allow a double, or allowed the one that the situation offers."""

    def values(self, situation: Any, outcomes: Any) -> Any:
        """Returns the values of positions with the cube: points, or chances to win the match.

        outcomes: [n, outcomes], before or after the move of the side to move.
        """

    def stakes(self, situation: Any) -> tuple[Stakes, int | None]:
        """Returns the stakes of the side to move, and the cube's owner: 0 for it, 1, or None."""

    def decision(
        self,
        situation: Any,
        outcomes: Sequence[float],
        searched: tuple[float, float] | None = None,
    ) -> Any:
        """Returns whether to double and to take; raises PositionError if nobody may double.

        searched: the values, by the stakes, of rolling without a double, and after a double that
            was taken, if a search found them; else they are estimated from the outcomes.
        """

    def accepts(self, situation: Any, outcomes: Sequence[float], side: int, kind: int) -> bool:
        """Whether the other side should accept the resignation of a side.

        kind: 1, 2 or 3 for a single game, a gammon or a backgammon.
        """


def cube_of(game: Any) -> Cube:
    """Returns the cube of a game; raises ValueError if it has none."""
    cube: Cube | None = game.cube
    if cube is None:
        raise ValueError(f"expected a game with a cube, found {game.name}")
    return cube

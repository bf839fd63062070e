"""Games with a doubling cube: what they say about it, and their stakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["Cubes", "Stakes"]


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


class Cubes:
    """The part of a game's contract that is about its cube; by default there is none."""

    name: str = ""

    def may_double(self, situation: Any) -> bool:
        """Whether the rules allow a double, or allowed the one that the situation offers."""
        return False

    def cube_values(self, situation: Any, outcomes: Any) -> Any:
        """Returns what positions are worth with the cube, from the chances of the outcomes.

        situation: the match and the cube; the values are for its side to move.
        outcomes: [n, outcomes], for the same side, before or after its move.

        The values [n] are points, or chances to win the match. Raises ValueError in a game without
        a cube.
        """
        raise ValueError(f"expected a game with a cube, found {self.name}")

    def cube_stakes(self, situation: Any) -> tuple[Stakes, int | None]:
        """Returns the stakes of the side to move, and the cube's owner: 0 for it, 1, or None.

        Raises ValueError in a game without a cube.
        """
        raise ValueError(f"expected a game with a cube, found {self.name}")

    def cube_decision(
        self,
        situation: Any,
        outcomes: Sequence[float],
        searched: tuple[float, float] | None = None,
    ) -> Any:
        """Returns whether to double and to take, from the chances of the game's outcomes.

        searched: the values, by the stakes, of rolling without a double, and after a double that
            was taken, if a search found them; else they are estimated from the outcomes.

        Raises ValueError in a game without a cube.
        """
        raise ValueError(f"expected a game with a cube, found {self.name}")

    def with_match_equities(self, text: str) -> Any:
        """Returns this game with the match equity table of a text, for decisions about the cube.

        Raises ValueError if the text is not a table, or the game has no cube.
        """
        raise ValueError(f"match equities: expected a game with a cube, found {self.name}")

    def accepts(self, situation: Any, outcomes: Sequence[float], side: int, kind: int) -> bool:
        """Whether the other side should accept the resignation of a side, in a game with a cube.

        kind: 1, 2 or 3 for a single game, a gammon or a backgammon.
        """
        raise ValueError(f"expected a game with a cube, found {self.name}")

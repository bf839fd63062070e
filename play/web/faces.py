"""A game in the browser: its board as JSON, and moves made step by step.

The browser knows no rules. It receives the steps that lead to a legal move and sends the chosen
one. The boards between the steps come from here too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Face", "FaceOf", "Step", "Steps"]

#: The squares that a piece moves from and to, and whether it takes several steps at once.
Step = dict[str, Any]


class Steps(Protocol):
    """A move that is being made step by step."""

    @property
    def at_once(self) -> bool:
        """Whether a complete move is played at once; otherwise a person confirms it."""

    @property
    def taken(self) -> list[tuple[int, int]]:
        """The steps taken so far as (from, to), in order."""

    def board(self) -> dict[str, Any]:
        """The board with the steps taken."""

    def next(self) -> list[Step]:
        """The steps that lead to a legal move, including several steps taken as one."""

    def step(self, source: int, target: int) -> None:
        """Take a step. Raises MoveError if it is not in `next`."""

    def back(self) -> None:
        """Take back the last step. Raises MoveError without one."""

    @property
    def move(self) -> Any:
        """The legal move that the steps make; None if steps are missing."""


class Face(Protocol):
    """The boards of a game, as people see them."""

    #: The board of the page that draws it: "backgammon", "grid", "roads" or "plain".
    kind: str
    #: Whether the side that begins has the light pieces.
    light_first: bool

    def board(self, position: Any) -> dict[str, Any]:
        """The board of a position as JSON."""

    def steps(self, position: Any, roll: int | None) -> Steps:
        """A move from this position, before its first step."""

    def trace(self, position: Any, move: Any) -> list[list[int]]:
        """The paths [[from, ..., to]] of the pieces in a move, for arrows on the board."""


@dataclass(frozen=True)
class FaceOf:
    """A game's own face, an extra; without one it is a grid or a list of moves.

    make: makes the face of a game.
    """

    make: Callable[[Any], Face]

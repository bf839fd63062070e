"""How a game looks in the browser: its board as JSON, and moves put together step by step.

A browser knows no rules. It is told which steps lead on to a legal move, and sends the one that was
chosen; what is on the board in between comes from here as well.
"""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["Face", "Step", "Steps"]

#: From where to where one piece goes, and whether the move may end there.
Step = dict[str, Any]


class Steps(Protocol):
    """A move in the making."""

    @property
    def at_once(self) -> bool:
        """Whether a move is played as soon as it is complete; otherwise a person says when."""

    @property
    def taken(self) -> list[tuple[int, int]]:
        """The steps taken so far, (from, to), from the first one on."""

    def board(self) -> dict[str, Any]:
        """The board with the steps taken."""

    def next(self) -> list[Step]:
        """The steps that lead on to a legal move, those of several steps at once included."""

    def step(self, source: int, target: int) -> None:
        """Take a step; MoveError where it is none of `next`."""

    def back(self) -> None:
        """Take back the last step; MoveError where there is none."""

    @property
    def move(self) -> Any:
        """The legal move that was put together; None where steps are still to come."""


class Face(Protocol):
    """The boards of a game, for people."""

    #: Which board of the page draws it: "checkers", "backgammon", "grid" or "plain".
    kind: str
    #: Whether the pieces of the side that begins are the light ones.
    light_first: bool

    def board(self, position: Any) -> dict[str, Any]:
        """What is to be drawn of a position."""

    def steps(self, position: Any, roll: int | None) -> Steps:
        """The making of a move."""

    def trace(self, position: Any, move: Any) -> list[list[int]]:
        """The ways [[from, ..., to]] of the pieces of a move, for arrows on the board."""

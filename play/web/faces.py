"""How a game looks in the browser: its board as JSON, and moves put together step by step.

A browser knows no rules. It is told which steps lead on to a legal move, and sends the one that was
chosen; what is on the board in between comes from here as well.
"""

from __future__ import annotations

from typing import Any, Protocol

from games.contract import Game

__all__ = ["Face", "Step", "Steps", "face_of"]

#: From where to where one piece goes, and whether the move may end there.
Step = dict[str, Any]


class Steps(Protocol):
    """A move in the making."""

    #: Whether a move is played as soon as it is complete; otherwise a person says when.
    at_once: bool

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
    """The texts and boards of a game, for people."""

    #: The sides' names, the one that begins first, and a letter for each.
    sides: tuple[str, str]
    #: What values are counted in.
    unit: str

    def board(self, position: Any) -> dict[str, Any]:
        """What is to be drawn of a position."""

    def steps(self, position: Any, roll: int | None) -> Steps:
        """The making of a move."""

    def trace(self, position: Any, move: Any) -> list[list[int]]:
        """The ways [[from, ..., to]] of the pieces of a move, for arrows on the board."""


def face_of(game: Game) -> Face:
    """The face of checkers or backgammon."""
    if game.name == "checkers":
        from play.web.checkers_face import CheckersFace

        return CheckersFace(game)
    from play.web.backgammon_face import BackgammonFace

    return BackgammonFace(game)

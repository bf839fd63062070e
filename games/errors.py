"""Errors that a user's input can cause."""

from __future__ import annotations


class PositionError(ValueError):
    """A text or a tuple does not describe a position of the game."""


class MoveError(ValueError):
    """A move is not legal, or a text names no legal move or several."""


class ContractError(AssertionError):
    """A game or a learner breaks its contract; raised by `games.check_game`, `learner.check`."""

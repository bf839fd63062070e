"""Errors that a user's input can cause."""

from __future__ import annotations


class PositionError(ValueError):
    """A text, or a tuple, that describes no position of the game."""


class MoveError(ValueError):
    """A move that is not legal, or a text that names none or more than one."""


class ContractError(AssertionError):
    """A game that breaks the contract of `games.contract`; raised by `games.check_game`."""

"""Errors that a user's input can cause."""

from __future__ import annotations


class PositionError(ValueError):
    """A text or a tuple does not describe a position of the game."""


class MoveError(ValueError):
    """A move is not legal, or a text names no legal move or several."""


class ContractError(AssertionError):
    """A game or a learner breaks its contract; raised by `games.check_game`, `learner.check`."""


def stripped(text: object, kind: type[ValueError] = PositionError) -> str:
    """Returns a text without blanks around it; raises `kind` if `text` is not a string."""
    if not isinstance(text, str):
        raise kind(f"expected a text, found {text!r}")
    return text.strip()

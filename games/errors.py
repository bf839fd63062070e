"""Errors that a user's input can cause."""

from __future__ import annotations

import re


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


def embedded(text: object, form: re.Pattern[str], most: int = 5000) -> str:
    """Returns the position that a text holds in words around it, or the whole text without blanks.

    text: the text, for example a page of another program, with its board and the score.
    form: the form of the position, whose groups, joined by spaces, are returned.
    most: the maximum length of the text.

    Raises PositionError if the text is not a string, is longer or holds different positions.
    """
    word = stripped(text)
    if len(str(text)) > most:
        raise PositionError(f"expected a position of at most {most} characters, found {text!r:.80}")
    held = dict.fromkeys(" ".join(filter(None, match.groups())) for match in form.finditer(word))
    if len(held) > 1:
        first, second, *_ = held
        raise PositionError(f"expected one position, found {first[:80]!r} and {second[:80]!r}")
    return next(iter(held), word)

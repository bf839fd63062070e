"""The numbers by which PDN's tag GameType names a game of draughts (PDN 3.0)."""

from __future__ import annotations

import re

from games.checkers.notation import moves_named, squares_in
from games.checkers.rules import START, Position

__all__ = ["ENGLISH", "IN_LETTERS", "WHITE_BEGINS", "in_letters", "other_game", "type_text"]

ENGLISH = "21"

_NAMES = {
    "0": "chess",
    "1": "Chinese chess",
    "20": "international draughts",
    "21": "English checkers",
    "22": "Italian draughts",
    "23": "American pool checkers",
    "24": "Spanish draughts",
    "25": "Russian draughts",
    "26": "Brazilian draughts",
    "27": "Canadian draughts",
    "28": "Portuguese draughts",
    "29": "Czech draughts",
    "30": "Turkish draughts",
    "31": "Thai draughts",
    "40": "Frisian draughts",
    "41": "Spantsireti draughts",
}
IN_LETTERS = "games with squares such as c3, as in Russian draughts"
WHITE_BEGINS = (
    "games that White begins, as in Italian or Brazilian draughts (checkers that White begins needs"
    ' a tag such as [FEN "W:W21-32:B1-12"])'
)
_LETTERS = re.compile(r"[a-hA-H][1-8](?:[-:xX×][a-hA-H][1-8])+[!?*]*")


def type_text(value: str) -> str:
    """Returns words for the value of a tag GameType: `Russian draughts (GameType 25)`."""
    number = value.split(",")[0].strip()
    return f"{_NAMES.get(number, 'another game')} (GameType {number[:20] or 'none'})"


def other_game(moves: list[str]) -> str:
    """Returns words for the game to which these first moves belong; empty if that is unclear.

    moves: the moves, of which the first is not one of English checkers.
    """
    first, *_ = squares = [squares_in(move) for move in moves]
    if max(map(max, squares)) > 32 or (first[0] in range(31, 36) and first[-1] in range(26, 31)):
        return type_text("20")
    own, opponent, kings, side = START
    white: Position = (opponent, own, kings, 1 - side)
    return WHITE_BEGINS if moves_named(white, first) else ""


def in_letters(text: str) -> bool:
    """Whether a text is a move with squares such as c3, as in Russian draughts: `c3-d4`."""
    return _LETTERS.fullmatch(text) is not None

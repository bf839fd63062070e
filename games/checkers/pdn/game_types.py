"""The numbers by which PDN's tag GameType names a game of draughts (PDN 3.0)."""

from __future__ import annotations

import re

__all__ = ["ENGLISH", "in_letters", "type_text"]

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
_LETTERS = re.compile(r"[a-hA-H][1-8](?:[-:xX×][a-hA-H][1-8])+[!?*]*")


def type_text(value: str) -> str:
    """Returns words for the value of a tag GameType: `Russian draughts (GameType 25)`."""
    number = value.split(",")[0].strip()
    return f"{_NAMES.get(number, 'another game')} (GameType {number[:20] or 'none'})"


def in_letters(text: str) -> bool:
    """Whether a text is a move with squares such as c3, as in Russian draughts: `c3-d4`."""
    return _LETTERS.fullmatch(text) is not None

"""The choice of a move from an opening book: at random among those that are nearly best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from games.contract import Game
from play.players.grammar import unquoted
from search.lookups.opening_book import OpeningBook

__all__ = ["BookChoice", "parse_book"]


@dataclass(frozen=True)
class BookChoice:
    """A book, and the margin within which a move may be worse than the best and still be played."""

    book: OpeningBook
    margin: float

    def __post_init__(self) -> None:
        if not self.margin >= 0:
            raise ValueError(f"margin: expected at least 0, found {self.margin}")

    def moves(self, position: Any) -> list[tuple[Any, float, int]]:
        """(move, value, depth) of the moves to choose from, best first; empty outside the book."""
        rows = self.book.moves(position)
        return [row for row in rows if row[1] >= rows[0][1] - self.margin]

    def choose(self, position: Any, random: np.random.Generator) -> tuple[Any, float, int] | None:
        """One of `moves`, each as likely as the others; None outside the book."""
        rows = self.moves(position)
        return rows[int(random.integers(len(rows)))] if rows else None


def parse_book(game: Game, text: str) -> BookChoice:
    """Returns the book and the margin that FILE:MARGIN or FILE names; FILE may be in quotes.

    The default margin is half of the book's price of a ply. Raises as `OpeningBook.load`, and
    ValueError if the margin is below 0.
    """
    path, _, number = text.rpartition(":")
    try:
        margin = float(number) if path else None
    except ValueError:
        margin = None
    book = OpeningBook.load(game, unquoted(text if margin is None else path))
    if margin is None:
        margin = 0.5 / max(book.settings.weight, 1e-9)
    return BookChoice(book, margin)

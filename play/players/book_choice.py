"""Which move of an opening book a player takes: by chance among those that are nearly the best."""

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
    """A book, and how much worse than the best a move may be that is still taken."""

    book: OpeningBook
    margin: float

    def __post_init__(self) -> None:
        if not self.margin >= 0:
            raise ValueError(f"margin: expected at least 0, found {self.margin}")

    def moves(self, position: Any) -> list[tuple[Any, float, int]]:
        """(move, value, depth) of the moves to choose from, best first; none outside the book."""
        rows = self.book.moves(position)
        return [row for row in rows if row[1] >= rows[0][1] - self.margin]

    def choose(self, position: Any, random: np.random.Generator) -> tuple[Any, float, int] | None:
        """One of `moves`, each as likely as the others; None outside the book."""
        rows = self.moves(position)
        return rows[int(random.integers(len(rows)))] if rows else None


def parse_book(game: Game, text: str) -> BookChoice:
    """The book and the margin that FILE:MARGIN names, or FILE, which may be in quotes.

    The margin is otherwise half of what the book takes for a ply. Raises as `OpeningBook.load`, and
    ValueError for a margin below 0.
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

"""The solver BitBully, whose exact values ours are compared with (AGPL, so never a part)."""

from __future__ import annotations

import importlib
from typing import Any

from games.connect_four.rules import COLUMNS, ROWS, Position, has_four
from games.truth import Truth

__all__ = ["BitBully"]


class BitBully(Truth):
    """Exact values by the package `bitbully`, with its book of all positions of twelve stones.

    book: whether it uses the book.

    Raises ModuleNotFoundError if the package is not installed.
    """

    plies = (14, 30)
    unit = "stones of Pons's score"

    def __init__(self, *, book: bool = True) -> None:
        try:
            self._package: Any = importlib.import_module("bitbully")
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "expected the package bitbully (pip install bitbully), found none"
            ) from None
        self._solver = self._package.BitBully("default" if book else None)

    def value(self, position: Position) -> int:
        """Returns the score of a position in which nobody has four, for its side to move."""
        return int(self._solver.mtdf(self._board(position)))

    def values(self, position: Position) -> dict[int, int]:
        """As in `games.truth.Truth`; scores are those of `games.connect_four.solver`."""
        if has_four(position[1]):
            return {}
        scores = self._solver.score_all_moves(self._board(position))
        return {int(move): int(score) for move, score in scores.items()}

    def clear(self) -> None:
        """Forget all positions."""
        self._solver.reset_transposition_table()

    def _board(self, position: Position) -> Any:
        own, opponent, side = position
        columns = [
            [
                1 + side if own >> bit & 1 else 2 - side if opponent >> bit & 1 else 0
                for bit in range(7 * column, 7 * column + ROWS)
            ]
            for column in range(COLUMNS)
        ]
        return self._package.Board(columns)

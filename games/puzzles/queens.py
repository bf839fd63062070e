"""n queens as a problem for local search; in plain Python.

A position is the row of the queen in each column; a move takes one queen to another row of its
column. A position is solved if no queen attacks another.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from games.board import Board
from games.errors import PositionError, stripped
from games.problem import Heuristic, Known, Problem

__all__ = ["Queens", "attacks"]

MOST_ROWS = 26  # of a board


def attacks(position: Any) -> int:
    """The number of pairs of queens that attack each other; one move may free several pairs."""
    lines: Counter[tuple[str, int]] = Counter()
    for column, row in enumerate(position):
        lines.update([("row", row), ("up", row - column), ("down", row + column)])
    return sum(count * (count - 1) // 2 for count in lines.values())


class Queens(Problem):
    """`size` queens on a board of that size; texts are the rows from 1 on, column by column.

    Raises ValueError for a size below 1.
    """

    def __init__(self, size: int = 8) -> None:
        if size < 1:
            raise ValueError(f"size: expected at least 1, found {size}")
        self.size = size
        self.name = f"queens{size}"
        self.evaluators = {"attacks": Heuristic(attacks, known=Known.OVERESTIMATES)}
        self.title = f"{size} queens"
        if size <= MOST_ROWS:
            board = Board(
                size,
                size,
                lambda position: {
                    size * row + column: (1, "♛") for column, row in enumerate(position)
                },
                lambda position, move: (size * move[1] + move[0],),
            )
            self.extras = (board,)

    def start(self) -> tuple[int, ...]:
        return tuple(range(self.size))

    def legal_moves(self, position: Any) -> list[tuple[int, int]]:
        return [
            (column, row)
            for column in range(self.size)
            for row in range(self.size)
            if row != position[column]
        ]

    def play(self, position: Any, move: Any) -> tuple[int, ...]:
        column, row = move
        return (*position[:column], row, *position[column + 1 :])

    def solved(self, position: Any) -> bool:
        return attacks(position) == 0

    def undo(self, position: Any, move: Any) -> tuple[int, int]:
        return (move[0], position[move[0]])

    def random_position(self, seed: int) -> tuple[int, ...]:
        """Returns a position with each queen in a random row; depends on the seed alone."""
        chance = random.Random(seed)
        return tuple(chance.randrange(self.size) for _ in range(self.size))

    def position_text(self, position: Any) -> str:
        return " ".join(str(row + 1) for row in position)

    def parse_position(self, text: str) -> tuple[int, ...]:
        words = stripped(text).split()
        rows = [int(word) - 1 for word in words if word.isdecimal()]
        placed = [row for row in rows if 0 <= row < self.size]
        if not len(words) == len(placed) == self.size:
            raise PositionError(
                f"expected {self.size} rows from 1 to {self.size}, found {text.strip()[:80]!r}"
            )
        return tuple(rows)

    def move_text(self, position: Any, move: Any) -> str:
        return f"{move[0] + 1}:{move[1] + 1}"

    def show(self, position: Any) -> str:
        return "\n".join(
            " ".join("Q" if position[column] == row else "." for column in range(self.size))
            for row in range(self.size)
        )

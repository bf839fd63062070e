"""Explicit game trees from the textbook: nested lists whose leaves hold MAX's values.

`Tree([[3, 12, 8], [2, 4, 6], [14, 5, 2]])` is a game of two plies with MAX at the root. A position
is the path to it; moves are numbers of branches. As everywhere, `outcome` is for the side to move,
so it is the leaf's number if MAX is to move and its negative if MIN is.
"""

from __future__ import annotations

from typing import Any

from games.contract import Game
from games.errors import PositionError

__all__ = ["Tree"]


class Tree(Game):
    """A game given by its tree; a leaf of None has no value and must not be evaluated."""

    name = "tree"
    wins = False

    def __init__(self, root: Any, *, max_begins: bool = True) -> None:
        self.root = root
        self.max_begins = max_begins

    def _node(self, position: tuple[int, ...]) -> Any:
        node = self.root
        for branch in position:
            node = node[branch]
        return node

    def start(self) -> tuple[int, ...]:
        return ()

    def to_move(self, position: tuple[int, ...]) -> int:
        """Returns 0 if MAX is to move, else 1."""
        return (len(position) + (not self.max_begins)) % 2

    def legal_moves(self, position: tuple[int, ...]) -> list[int]:
        node = self._node(position)
        return list(range(len(node))) if isinstance(node, (list, tuple)) else []

    def play(self, position: tuple[int, ...], move: int) -> tuple[int, ...]:
        return (*position, move)

    def outcome(self, position: tuple[int, ...]) -> float | None:
        node = self._node(position)
        if isinstance(node, (list, tuple)):
            return None
        if node is None:
            raise PositionError(f"the leaf at {position} has no value: expected a number")
        return float(node) if self.to_move(position) == 0 else -float(node)

    def parse_position(self, text: str) -> tuple[int, ...]:
        path: tuple[int, ...] = super().parse_position(text)
        node = self.root
        for branch in path:
            if not isinstance(node, (list, tuple)) or branch not in range(len(node)):
                raise PositionError(f"expected a path of this tree, found {text[:80]!r}")
            node = node[branch]
        return path

    def move_text(self, position: tuple[int, ...], move: int) -> str:
        return str(move + 1)

"""Explicit game trees from the textbook: nested lists whose leaves hold MAX's values.

`Tree([[3, 12, 8], [2, 4, 6], [14, 5, 2]])` is a game of two plies with MAX at the root. A position
is the path to it; moves are numbers of branches. As everywhere, `outcome` is for the side to move,
so it is the leaf's number if MAX moves and its negative if MIN does.

A branch may be a chance node: `Tree([Chance((0.9, 2), (0.1, 3)), Chance((0.9, 1), (0.1, 4))])`.
Chance moves in place of a side, so the same side moves after it. `expectiminimax` of
`search.textbook.minimax` values such trees; alpha-beta does not.

As text, a tree is `max` or `min`, the side that begins, and the nested lists; a chance node is
`{0.9: 2, 0.1: 3}`. Without a side MAX begins. With leaves such as `(1, 2, 6)` it is a tree for
three players.

With more than two players the leaves are tuples of numbers, one for each player, the first for the
one who begins: `Tree([[(1, 2, 6), (4, 2, 3)], [(6, 1, 2), (7, 4, 1)]], players=3)`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from games.contract import Game, Position
from games.errors import PositionError
from games.values import GRID

__all__ = ["Chance", "Tree"]

#: Russell and Norvig, figure 5.2.
AIMA = [[3, 12, 8], [2, 4, 6], [14, 5, 2]]
SIDES = ("max", "min")


class Chance:
    """A chance node of a tree.

    branches: pairs of a probability and a subtree.

    Raises ValueError unless the probabilities are positive and add up to 1.
    """

    def __init__(self, *branches: tuple[float, Any]) -> None:
        self.chances = tuple(float(chance) for chance, _ in branches)
        self.branches = [branch for _, branch in branches]
        if not all(chance > 0 for chance in self.chances):
            raise ValueError(f"expected probabilities above 0, found {list(self.chances)}")
        if not math.isclose(sum(self.chances), 1.0, abs_tol=1e-9):
            raise ValueError(f"expected probabilities that add up to 1, found {sum(self.chances)}")

    def __getitem__(self, branch: int) -> Any:
        return self.branches[branch]

    def __len__(self) -> int:
        return len(self.branches)

    def __repr__(self) -> str:
        pairs = zip(self.chances, self.branches, strict=True)
        return "{" + ", ".join(f"{chance!r}: {branch!r}" for chance, branch in pairs) + "}"


@dataclass(frozen=True)
class Explicit:
    """The reader of a game that is part of the text of a position, an extra.

    read: `read(text)` returns the game and the position; raises PositionError if it is neither.
    """

    read: Callable[[str], tuple[Game, Position]]


class Tree(Game):
    """A game given by its tree; a leaf of None has no value and must not be evaluated.

    root: nested lists and chance nodes with numbers as leaves, or with tuples of numbers.
    max_begins: whether MAX moves first, in a tree for two players.
    players: the number of players.
    """

    name = "tree"
    sides: tuple[str, ...] = ("MAX", "MIN")
    wins = False

    def __init__(self, root: Any = AIMA, *, max_begins: bool = True, players: int = 2) -> None:
        self.root = root
        self.max_begins = max_begins
        self.players = players
        #: Whether leaves are tuples of numbers.
        self._vectors = players > 2
        if self._vectors:
            self.sides = tuple(f"Player {number + 1}" for number in range(players))
            self.constant_sum = self._sum_of_leaves()
        if any(isinstance(node, Chance) for node in self._nodes()):
            self.chances = self._chances

    @classmethod
    def from_text(cls, text: str) -> Tree:
        """Returns the tree that a text describes; raises PositionError if it describes none."""
        side, space, rest = text.strip().partition(" ")
        has_side = space != "" and side.lower() in SIDES
        try:
            syntax = ast.parse((rest if has_side else text).strip(), mode="eval").body
            sizes = {len(part.elts) for part in ast.walk(syntax) if isinstance(part, ast.Tuple)}
            if len(sizes) > 1:
                raise _Unread("leaves have the same number of players")
            players = max(sizes, default=2)
            if has_side and sizes:
                raise _Unread("MAX and MIN are two players")
            max_begins = not has_side or side.lower() == "max"
            return cls(_read(syntax), max_begins=max_begins, players=players)
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            reason = f": {error}" if isinstance(error, _Unread) else ""
            raise PositionError(
                "expected nested lists of numbers such as [[3, 12, 8], [2, 4, 6]], found"
                f" {text.strip()[:80]!r}{reason}"
            ) from None

    def __str__(self) -> str:
        return self.show(())

    def show(self, position: tuple[int, ...]) -> str:
        side = "" if self._vectors else f"{SIDES[self.to_move(position)]} "
        return f"{side}{self._node(position)!r}"

    def turn(self, position: tuple[int, ...]) -> tuple[int, ...]:
        times, path = self._turns(position)
        times = (times + 1) % self.players
        return (-times, *path) if times else path

    def _turns(self, position: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """Returns how often a position was turned, which a number below 0 says, and its path."""
        return (-position[0], position[1:]) if position and position[0] < 0 else (0, position)

    def _node(self, position: tuple[int, ...]) -> Any:
        node = self.root
        for branch in self._turns(position)[1]:
            node = node[branch]
        return node

    def _is_inner(self, node: Any) -> bool:
        if self._vectors and isinstance(node, tuple):
            return not all(isinstance(value, (int, float)) for value in node)
        return isinstance(node, (list, tuple, Chance))

    def _nodes(self) -> Iterator[Any]:
        """Yields all nodes and leaves."""
        pending = [self.root]
        while pending:
            node = pending.pop()
            yield node
            if self._is_inner(node):
                pending.extend(node)

    def _sum_of_leaves(self) -> float | None:
        """Returns the sum of the numbers at each leaf; None if it differs, or may not be exact."""
        leaves = [node for node in self._nodes() if node is not None and not self._is_inner(node)]
        values = [leaf if isinstance(leaf, tuple) else (leaf,) for leaf in leaves]
        sums = {float(sum(leaf)) for leaf in values}
        exact = all(GRID * value % 1 == 0 for leaf in values for value in leaf)
        return sums.pop() if exact and len(sums) == 1 else None

    def start(self) -> tuple[int, ...]:
        return ()

    def to_move(self, position: tuple[int, ...]) -> int:
        """Returns the number of the mover, 0 for MAX; at a chance node, who moves after it."""
        times, path = self._turns(position)
        decisions = times + len(path)
        if self.chances is not None:
            node = self.root
            for branch in path:
                decisions -= isinstance(node, Chance)
                node = node[branch]
        return (decisions + (not self.max_begins)) % self.players

    def legal_moves(self, position: tuple[int, ...]) -> list[int]:
        node = self._node(position)
        return list(range(len(node))) if self._is_inner(node) else []

    def play(self, position: tuple[int, ...], move: int) -> tuple[int, ...]:
        return (*position, move)

    def outcome_vector(self, position: tuple[int, ...]) -> tuple[float, ...] | None:
        node = self._node(position)
        if self._is_inner(node):
            return None
        if node is None:
            raise PositionError(f"the leaf at {position} has no value: expected a number")
        values = node if self._vectors else (node, -node)
        if not isinstance(values, tuple) or len(values) != self.players:
            raise PositionError(
                f"the leaf at {position}: expected {self.players} numbers, found {node!r}"
            )
        mover = self.to_move(position)
        return tuple(map(float, (*values[mover:], *values[:mover])))

    def _chances(self, position: tuple[int, ...]) -> tuple[float, ...]:
        node = self._node(position)
        return node.chances if isinstance(node, Chance) else ()

    def parse_position(self, text: str) -> tuple[int, ...]:
        path: tuple[int, ...] = super().parse_position(text)
        node = self.root
        for branch in path:
            if not self._is_inner(node) or branch not in range(len(node)):
                raise PositionError(f"expected a path of this tree, found {text[:80]!r}")
            node = node[branch]
        return path

    def move_text(self, position: tuple[int, ...], move: int) -> str:
        return str(move + 1)


class _Unread(ValueError):
    """A text that does not describe a tree, and the reason."""


def _read(syntax: ast.expr) -> Any:
    """Returns the tree that an expression describes; raises ValueError if it describes none."""
    if isinstance(syntax, ast.List) and syntax.elts:
        return [_read(part) for part in syntax.elts]
    if isinstance(syntax, ast.Dict) and syntax.keys:
        pairs = zip(syntax.keys, syntax.values, strict=True)
        branches = [(_number(chance), _read(branch)) for chance, branch in pairs]
        try:
            return Chance(*branches)
        except ValueError as error:
            raise _Unread(error) from None
    if isinstance(syntax, ast.Tuple) and len(syntax.elts) > 2:
        return tuple(_number(part) for part in syntax.elts)
    if isinstance(syntax, ast.Constant) and syntax.value is None:
        return None
    return _number(syntax)


def _number(syntax: ast.expr | None) -> float:
    """Returns the number that an expression is: also -3, and 1/6."""
    if isinstance(syntax, ast.UnaryOp) and isinstance(syntax.op, ast.USub):
        return -_number(syntax.operand)
    if isinstance(syntax, ast.BinOp) and isinstance(syntax.op, ast.Div):
        divisor = _number(syntax.right)
        if divisor:
            return _number(syntax.left) / divisor
    value = syntax.value if isinstance(syntax, ast.Constant) else None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1e15:
        return value
    raise _Unread("a leaf is a number")


Tree.extras = (Explicit(lambda text: (Tree.from_text(text), ())),)

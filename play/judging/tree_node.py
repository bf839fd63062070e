"""A position of the tree of a search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["CHANCE", "MAX", "MIN", "TreeNode", "average", "number"]

MAX, MIN, CHANCE = "MAX", "MIN", "chance"


@dataclass(frozen=True)
class TreeNode:
    """A position of the tree of a search; values and windows are MAX's.

    With more than two players values are those of the player who moves here, and the window ends
    at the bound that cuts: once it is reached, the player before has no use for the position.

    move: the move that leads here, as people write it; empty at the root.
    chance: the probability of that move after a chance node, else None.
    player: who moves here: "MAX", "MIN", "chance" or the name of a side; also at a leaf, who
        would move next.
    window: alpha and beta on entering.
    value: the value by the search; for a leaf that was not searched its static value, or None.
    kind: "" for an inner position, else "static", "end of the game" or "not looked at".
    cut: whether moves were left out because alpha or beta was reached.
    children: the positions after the moves, in the order of the search; those not looked at last.
    vector: with more than two players the values of all, side 0 first; empty where `value` is
        None, and after a cut, where only the mover's value is known, which is a lower bound.
    """

    move: str
    chance: float | None
    player: str
    window: tuple[float, float]
    value: float | None
    kind: str
    cut: bool = False
    children: tuple[TreeNode, ...] = ()
    vector: tuple[float, ...] = ()

    @property
    def value_text(self) -> str:
        """The value as the tree shows it; with more than two players those of all."""
        if self.value is None:
            return ""
        if self.vector:
            return f"({', '.join(map(number, self.vector))})"
        return number(self.value)

    @property
    def relation(self) -> str:
        """The relation of minimax's value to `value`: "=", or ">=" or "<=" for a bound."""
        if self.vector or not self.children:
            return "="
        if self.player not in (MAX, MIN, CHANCE):
            return ">="
        low, high = self.interval
        return "=" if low == high else ">=" if self.value == low else "<="

    @property
    def interval(self) -> tuple[float, float]:
        """The interval in which minimax's value of the position lies, as far as it was searched."""
        if self.kind == "not looked at":
            return -math.inf, math.inf
        if not self.children:
            assert self.value is not None
            return self.value, self.value
        low, high = zip(*(child.interval for child in self.children), strict=True)
        if self.player == MAX:
            return max(low), max(high)
        if self.player == MIN:
            return min(low), min(high)
        chances = [child.chance or 0.0 for child in self.children]
        return average(chances, low), average(chances, high)

    @property
    def looked_at(self) -> list[TreeNode]:
        """The children that were searched."""
        return [child for child in self.children if child.kind != "not looked at"]


def average(chances: Sequence[float], values: Sequence[float]) -> float:
    """Returns the mean of values, weighted by their chances."""
    return math.fsum(chance * value for chance, value in zip(chances, values, strict=True))


def number(value: float) -> str:
    """Returns a value as the tree shows it."""
    if math.isinf(value):
        return "+inf" if value > 0 else "-inf"
    return f"{value + 0.0:.4g}"

"""What a player may spend on a move."""

from __future__ import annotations

import operator
from dataclasses import dataclass

from games.contract import DiceGame, Game
from search.alphabeta.search import DEEPEST

__all__ = ["DEEPEST_WITH_DICE", "Limits", "check_depth"]

#: More plies than anybody can wait for, in a game with dice.
DEEPEST_WITH_DICE = 9


@dataclass(frozen=True)
class Limits:
    """What a player may spend on a move: any combination of plies, positions and seconds.

    A depth of 0 is for games with dice, where it means static values.
    """

    depth: int | None = None
    nodes: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.depth is None and self.nodes is None and self.seconds is None:
            raise ValueError("expected a limit: depth, nodes or seconds; found none")
        if self.depth is not None and not 0 <= self.depth <= DEEPEST:
            raise ValueError(
                f"depth: expected 1 to {DEEPEST} plies (with dice also 0), found {self.depth}"
            )
        if self.nodes is not None and self.nodes < 1:
            raise ValueError(f"nodes: expected at least 1, found {self.nodes}")
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"seconds: expected more than 0, found {self.seconds}")

    def check(self, game: Game) -> None:
        """Raises ValueError where the depth is not one for the game."""
        if isinstance(game, DiceGame):
            check_depth(self.depth or 0)
        elif self.depth == 0:
            raise ValueError("depth: expected at least 1 ply in a game without dice, found 0")

    def __str__(self) -> str:
        parts = [
            f"depth {self.depth}" if self.depth is not None else "",
            f"{self.nodes} nodes" if self.nodes is not None else "",
            f"{self.seconds} s" if self.seconds is not None else "",
        ]
        return ", ".join(part for part in parts if part) + " a move"


def check_depth(depth: int) -> None:
    """Raises ValueError unless `depth` is a number of plies for a game with dice, from 0 on."""
    if not 0 <= operator.index(depth) <= DEEPEST_WITH_DICE:
        raise ValueError(
            f"depth: expected 0 to {DEEPEST_WITH_DICE} plies in a game with dice, found {depth}"
        )

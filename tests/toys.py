"""Small games with known properties, on which searches, learners and matches are tested."""

from __future__ import annotations

from typing import Any

from games.checkers.encoding import PIECE_SQUARES
from games.contract import DiceGame, Game
from games.features import Group, TupleLayout, blocks
from games.kernels import kernel, popcount
from games.puzzles.sliding_tiles import SlidingTiles
from games.rolls import Rolls

#: n-tuples for checkers: blocks of two by three squares, with the kinds of pieces on them.
CHECKERS_BLOCKS = TupleLayout(PIECE_SQUARES, 32, tuple(map(Group, blocks(4, 8, 2, 3))))


@kernel
def own_men(position: Any) -> Any:
    return popcount(position[0] & ~position[2])


@kernel
def weighted(weights: Any, position: Any) -> Any:
    return weights[0] * own_men(position)


class Pile(Game):
    """Take one to three sticks; the last stick wins. Positions are bare numbers."""

    def __init__(self, sticks: int = 17) -> None:
        self.sticks = sticks

    def start(self) -> int:
        return self.sticks

    def legal_moves(self, sticks: int) -> list[int]:
        return list(range(1, min(3, sticks) + 1))

    def play(self, sticks: int, move: int) -> int:
        return sticks - move

    def outcome(self, sticks: int) -> float | None:
        return None if sticks else -1.0


class HighPile(Pile):
    """A pile of 41 sticks."""

    def __init__(self) -> None:
        super().__init__(41)


class Walk(DiceGame):
    """Two walkers some steps from home: a roll of 0 allows one step, a roll of 1 one or two.

    The first to come home wins; two points if the other has more than a third of the way to go.
    Positions are the steps left for the side to move and for the other side.
    """

    name = "walk"
    wins = False
    dice = Rolls((0.25, 0.75))

    def __init__(self, steps: int = 3) -> None:
        self.steps = steps

    def start(self) -> tuple[int, int]:
        return self.steps, self.steps

    def legal_moves(self, position: Any, roll: int | None = None) -> list[int]:
        assert roll in (0, 1)
        return [] if self.outcome(position) is not None else list(range(1, roll + 2))

    def play(self, position: Any, move: int) -> Any:
        return position[1], max(position[0] - move, 0)

    def outcome(self, position: Any) -> float | None:
        if position[1]:
            return None
        return -2.0 if position[0] > self.steps // 3 else -1.0


class SmallTiles(SlidingTiles):
    """The 5-puzzle, with 360 positions."""

    def __init__(self) -> None:
        super().__init__(3, 2)


class ThreeInARow(Game):
    """Tic-tac-toe for three; a position is the squares and the number of the side to move.

    Whoever has a line of three gets 2 points, the others lose one each.
    """

    name = "three_in_a_row"
    players = 3
    sides = ("X", "O", "Z")
    wins = False
    lines = ("012", "345", "678", "036", "147", "258", "048", "246")

    def start(self) -> Any:
        return ".........", 0

    def to_move(self, position: Any) -> int:
        return int(position[1])

    def legal_moves(self, position: Any) -> list[int]:
        if self.outcome_vector(position) is not None:
            return []
        return [square for square in range(9) if position[0][square] == "."]

    def play(self, position: Any, move: int) -> Any:
        squares, side = position
        return squares[:move] + self.sides[side] + squares[move + 1 :], (side + 1) % 3

    def turn(self, position: Any) -> Any:
        return position[0], (position[1] + 1) % 3

    def outcome_vector(self, position: Any) -> tuple[float, ...] | None:
        squares, side = position
        for line in self.lines:
            for winner, sign in enumerate(self.sides):
                if all(squares[int(square)] == sign for square in line):
                    return tuple(2.0 if (side + k) % 3 == winner else -1.0 for k in range(3))
        return None if "." in squares else (0.0, 0.0, 0.0)


@kernel
def sticks_left(position, places):
    """List one input for each pile that has sticks, chosen by the number of sticks."""
    count = 0
    for pile in range(3):
        if position[pile] > 0:
            places[count] = 6 * pile + position[pile]
            count += 1
    return count

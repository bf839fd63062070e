"""Lights Out: a press switches a light and its neighbours, and the aim is to put all out.

A problem of one's own, in kernels: `plysmith play solve docs.examples.lights_out:LightsOut`. A
position is one word with a bit for each light in reading order; a move is the light that is
pressed.
"""

from __future__ import annotations

from typing import Any

from games.board import Board
from games.errors import PositionError
from games.features import Encoding, FeatureSet
from games.kernels import family, popcount
from games.problem import Heuristic, KernelProblem, Known, ProblemRules

__all__ = ["LightsOut"]

MOST_SIDE = 7

#: The side of the board, and for each light those that a press switches; placeholders, as each
#: family has its own.
SIDE, SWITCHED = 5, (0,)


def legal_moves(position, moves):
    """Write every light; returns their number."""
    for light in range(SIDE * SIDE):
        moves[light] = light
    return SIDE * SIDE


def play(position, move):
    """Returns the lights after one of them is pressed."""
    return (position[0] ^ SWITCHED[move],)


def solved(position):
    """Whether all lights are out."""
    return position[0] == 0


def undo(position, move):
    """Returns the same light, because a second press undoes the first."""
    return move


def fifth(position):
    """A fifth of the lights that are on, rounded up, because no press puts out more than five."""
    return (popcount(position[0]) + 4) // 5


def lit(position):
    """The number of lights that are on."""
    return popcount(position[0])


def lights(position, places):
    """Write the lights that are on, for learners; returns their number."""
    count = 0
    for light in range(SIDE * SIDE):
        if position[0] >> light & 1:
            places[count] = light
            count += 1
    return count


class LightsOut(KernelProblem):
    """A square board of `side` by `side` lights; texts are rows of `*` (on) and `.`, with `/`.

    Raises ValueError for a side below 2 or above 7.
    """

    def __init__(self, side: int = 5) -> None:
        if not 2 <= side <= MOST_SIDE:
            raise ValueError(f"expected a side of 2 to {MOST_SIDE} lights, found {side}")
        self.side = side
        self.name = f"lights_out{side}"
        self.most_moves = side * side
        switched = tuple(_switched(side))
        made = family(
            legal_moves, play, solved, undo, fifth, lit, lights, SIDE=side, SWITCHED=switched
        )
        self.problem = ProblemRules(made.legal_moves, made.play, made.solved, undo=made.undo)
        self.goal_position = (0,)
        self.start_position = self.random_position(0)
        self.features = {"lights": FeatureSet("lights", {"lit": made.lit})}
        every = side * side
        self.encodings = {"lights": Encoding("lights", every, every, made.lights)}
        self.evaluators = {"fifth": Heuristic(made.fifth, known=Known.BY_PROOF)}
        self._solvable = _span(switched)
        self.reachable = 2 ** len(self._solvable)
        self.title = f"Lights Out, {side} x {side}"
        board = Board(
            side,
            side,
            lambda position: {
                light: (1, "") for light in range(side * side) if position[0] >> light & 1
            },
            lambda position, move: (move,),
        )
        self.extras = (board,)
        super().__init__()

    def random_position(self, seed: int) -> tuple[int, ...]:
        """Returns the lights after random presses; depends on the seed alone."""
        import random

        presses = random.Random(seed).getrandbits(self.side**2)
        lights = 0
        for light, change in enumerate(_switched(self.side)):
            lights ^= change if presses >> light & 1 else 0
        return (lights,)

    def why_unsolvable(self, position: Any) -> str:
        """Returns the reason why the lights cannot be put out; empty if they can."""
        rest = position[0]
        for row in self._solvable:
            rest = min(rest, rest ^ row)
        if rest == 0:
            return ""
        return (
            "no set of presses switches just these lights: they are not a sum of presses modulo 2"
            f" (of {self.side**2} presses only {len(self._solvable)} are independent)"
        )

    def position_text(self, position: Any) -> str:
        lights = ["*" if position[0] >> i & 1 else "." for i in range(self.side**2)]
        rows = ["".join(lights[i : i + self.side]) for i in range(0, len(lights), self.side)]
        return "/".join(rows)

    def parse_position(self, text: str) -> tuple[int, ...]:
        rows = text.strip().split("/")
        if [len(row) for row in rows] != [self.side] * self.side or set("".join(rows)) - set("*."):
            raise PositionError(
                f"expected {self.side} rows of {self.side} lights, `*` or `.`, with `/` between"
                f" them, found {text.strip()[:80]!r}"
            )
        return (sum(1 << i for i, light in enumerate("".join(rows)) if light == "*"),)

    def move_text(self, position: Any, move: int) -> str:
        return f"{'abcdefg'[move % self.side]}{move // self.side + 1}"

    def show(self, position: Any) -> str:
        return self.position_text(position).replace("/", "\n")


def _switched(side: int) -> list[int]:
    """Returns for each light the lights that a press on it switches, as bits."""
    return [
        sum(
            1 << side * r + c
            for r, c in ((row, column), (row - 1, column), (row + 1, column),
                         (row, column - 1), (row, column + 1))
            if 0 <= r < side and 0 <= c < side
        )
        for row in range(side)
        for column in range(side)
    ]  # fmt: skip


def _span(vectors: tuple[int, ...]) -> list[int]:
    """Returns a basis of the span of vectors modulo 2, the highest bit of each in no other."""
    basis: list[int] = []
    for vector in vectors:
        for row in basis:
            vector = min(vector, vector ^ row)
        if vector:
            basis = [min(row, row ^ vector) for row in basis]
            basis.append(vector)
    return sorted(basis, reverse=True)

"""Pancakes: sort a stack by turning over its upper part; the rules are kernels.

A position is one word with four bits for each pancake from the top on, 0 the smallest. A move is
the number of pancakes that are turned over, at least 2. The goal has the smallest on top.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from games.board import Board, Pieces
from games.errors import PositionError, stripped
from games.features import Encoding, FeatureSet
from games.kernels import family, kernel
from games.problem import Heuristic, KernelProblem, Known, Pattern, ProblemRules
from games.puzzles.arrangements import MOST_PIECES, arrangements, number_of, places_of

__all__ = ["Pancakes"]

MOST = 15

#: Pancakes of a stack, and the sorted stack; placeholders, as each family has its own.
COUNT, SORTED = 10, 0
#: Of a pattern: the place of each size among its pancakes or -1, the sizes, and their number.
SLOT, SIZES, PIECES = np.full(16, -1, dtype=np.int64), np.zeros(1, dtype=np.int64), 1
#: The size that stands for pancakes outside a pattern.
OTHER = 15


def legal_moves(position, moves):
    """Write 2, 3 and so on up to the whole stack; returns the number of moves."""
    for turned in range(2, COUNT + 1):
        moves[turned - 2] = turned
    return COUNT - 1


def play(position, move):
    """Returns the stack after the upper `move` pancakes are turned over."""
    stack = position[0]
    turned = 0
    for place in range(move):
        turned |= (stack >> 4 * place & 15) << 4 * (move - 1 - place)
    return (stack >> 4 * move << 4 * move | turned,)


def solved(position):
    """Whether the stack is sorted."""
    return position[0] == SORTED


def undo(position, move):
    """Returns the same move, which turns the pancakes back."""
    return move


def gap(position):
    """The number of neighbours, the plate included, that differ in size by more than 1.

    No move removes more than one such gap. Source: Helmert 2010.
    """
    stack = position[0] | COUNT << 4 * COUNT
    count_of_gaps = 0
    for place in range(COUNT):
        difference = (stack >> 4 * place & 15) - (stack >> 4 * (place + 1) & 15)
        if difference != 1 and difference != -1:
            count_of_gaps += 1
    return count_of_gaps


def gap_change(position, move):
    """Change of `gap` by a move: only the place where it cuts changes."""
    stack = position[0] | COUNT << 4 * COUNT
    below = stack >> 4 * move & 15
    before = (stack >> 4 * (move - 1) & 15) - below
    after = (stack & 15) - below
    change = 0
    if before != 1 and before != -1:
        change -= 1
    if after != 1 and after != -1:
        change += 1
    return change


def pancake_pairs(position, places):
    """Write the input of each pair of places, which combines their number and the two pancakes."""
    count = 0
    for here in range(COUNT):
        for there in range(here + 1, COUNT):
            upper, lower = position[0] >> 4 * here & 15, position[0] >> 4 * there & 15
            places[count] = (count * COUNT + upper) * COUNT + lower
            count += 1
    return count


def rank(position):
    """Returns the number of the arrangement of the pattern's pancakes."""
    places = 0
    for place in range(COUNT):
        slot = SLOT[position[0] >> 4 * place & 15]
        if slot >= 0:
            places |= place << 5 * slot
    return number_of(places, PIECES, COUNT)


def unrank(number):
    """Returns the stack with a number; pancakes outside the pattern have the size 15."""
    places = places_of(number, PIECES, COUNT)
    stack = (1 << 4 * COUNT) - 1
    for slot in range(PIECES):
        stack ^= (OTHER ^ SIZES[slot]) << 4 * (places >> 5 * slot & 31)
    return (stack,)


@kernel
def whole(position):
    """Returns the position as it is."""
    return position


@kernel
def turn_cost(position, move):
    """Returns 1, for any move."""
    return 1


class Pancakes(KernelProblem):
    """A stack of `count` pancakes; texts are their sizes from the top on, 0 the smallest.

    Raises ValueError for fewer than 2 pancakes or more than 15.
    """

    most_moves = MOST

    def __init__(self, count: int = 10) -> None:
        if not 2 <= count <= MOST:
            raise ValueError(f"expected 2 to {MOST} pancakes, found {count}")
        self.count = count
        self.reachable = math.factorial(count)
        self.name = f"pancakes{count}"
        sorted_stack = sum(size << 4 * place for place, size in enumerate(range(count)))
        made = family(
            legal_moves, play, solved, undo, gap, gap_change, pancake_pairs,
            COUNT=count, SORTED=sorted_stack,
        )  # fmt: skip
        self.problem = ProblemRules(made.legal_moves, made.play, made.solved, undo=made.undo)
        self.goal_position = (sorted_stack,)
        self.start_position = self.random_position(0)
        self.features = {"gaps": FeatureSet("gaps", {"gap": made.gap})}
        self.evaluators = {"gap": Heuristic(made.gap, made.gap_change, Known.BY_PROOF)}
        pairs = count * (count - 1) // 2
        inputs = pairs * count * count
        self.encodings = {
            "pancake_pairs": Encoding("pancake_pairs", inputs, pairs, made.pancake_pairs)
        }
        self.title = f"{count} pancakes"
        board = Board(
            count,
            1,
            lambda position: dict(enumerate((None, str(n + 1)) for n in self.sizes(position))),
            lambda position, move: (move - 1,),
            shape="bar",
        )
        self.extras = (board, Pieces(input_text=self._input_text))
        self.patterns = {f"{min(count, 7)}": (tuple(range(count))[-7:],)}
        super().__init__()

    def pattern(self, pieces: Sequence[int], *, additive: bool = False) -> Pattern:
        """Returns the pattern of some pancakes, by their sizes."""
        chosen = self._pattern_pieces(pieces, range(self.count), summed=additive)
        if len(chosen) > MOST_PIECES:
            raise ValueError(
                f"{self.name}: expected at most {MOST_PIECES} pancakes in a pattern, found"
                f" {len(chosen)}"
            )
        made = _pattern_family(self.count, chosen)
        masked = [size if size in chosen else OTHER for size in range(self.count)]
        goal = sum(size << 4 * place for place, size in enumerate(masked))
        size = arrangements(len(chosen), self.count)
        return Pattern(
            chosen, False, size, 1, (goal,), made.rank, made.unrank, whole, made.rank, turn_cost
        )

    def _input_text(self, encoding: str, place: int, position: Any) -> tuple[str, float]:
        """Returns the two pancakes of a pair, such as "4 above 1"."""
        upper, lower = divmod(place % self.count**2, self.count)
        return f"{upper} above {lower}", 1.0

    def random_position(self, seed: int) -> tuple[int, ...]:
        """Returns a stack in random order, all equally likely; depends on the seed alone."""
        import random

        sizes = list(range(self.count))
        random.Random(seed).shuffle(sizes)
        return (sum(size << 4 * place for place, size in enumerate(sizes)),)

    def sizes(self, position: Any) -> list[int]:
        """Returns the sizes of the pancakes from the top on."""
        return [position[0] >> 4 * place & 15 for place in range(self.count)]

    def position_text(self, position: Any) -> str:
        return " ".join(map(str, self.sizes(position)))

    def parse_position(self, text: str) -> tuple[int, ...]:
        words = stripped(text).split()
        if sorted(words) != sorted(map(str, range(self.count))):
            raise PositionError(
                f"expected each size from 0 to {self.count - 1} once, from the top on, found"
                f" {text.strip()[:80]!r}"
            )
        return (sum(int(word) << 4 * place for place, word in enumerate(words)),)

    def show(self, position: Any) -> str:
        widest = 2 * self.count - 1
        return "\n".join(("=" * (2 * size + 1)).center(widest) for size in self.sizes(position))


@functools.cache
def _pattern_family(count: int, sizes: tuple[int, ...]) -> Any:
    """Returns the kernels of a pattern."""
    slot = np.full(16, -1, dtype=np.int64)
    slot[list(sizes)] = range(len(sizes))
    numbers = np.array(sizes, dtype=np.int64)
    return family(rank, unrank, COUNT=count, SLOT=slot, SIZES=numbers, PIECES=len(sizes))

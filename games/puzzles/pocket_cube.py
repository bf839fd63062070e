"""The 2 x 2 x 2 cube as kernels, in the half-turn metric.

One corner is fixed, so that only the three faces away from it turn. A position is one word with
five bits for each of the seven other places, three for the corner that is there and two for its
twist. A move is three times the face (R, U, F) plus the quarter turns minus one.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from games.board import Pieces
from games.errors import PositionError
from games.features import Encoding, FeatureSet
from games.kernels import family, kernel
from games.problem import Heuristic, KernelProblem, Known, Pattern, ProblemRules
from games.puzzles.arrangements import arrangements, number_of, places_of, whole_pattern

__all__ = ["PocketCube"]

PLACES = 7
FACES = "RUF"
TURNS = ("", "2", "'")
#: How the twist of a corner is written.
TURNED = ("", "+", "-")
#: Places: up-right-front, up-front-left, up-left-back, up-back-right, down-back-right,
#: down-right-front, down-left-front; the corner down-back-left is fixed.
#: For each face, the places whose corners go round in a quarter turn, each to the next.
CYCLES = ((0, 3, 4, 5), (0, 1, 2, 3), (0, 5, 6, 1))
#: How much a quarter turn twists the corner that comes from each place of the cycle.
TWISTS = ((1, 2, 1, 2), (0, 0, 0, 0), (2, 1, 2, 1))


def _turns() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Returns, for each move and place, where its corner comes from and its added twist."""
    comes = np.tile(np.arange(PLACES), (9, 1))
    twist = np.zeros((9, PLACES), dtype=np.int64)
    for face, (cycle, added) in enumerate(zip(CYCLES, TWISTS, strict=True)):
        source, turn = np.arange(PLACES), np.zeros(PLACES, dtype=np.int64)
        for i, place in enumerate(cycle):
            after = cycle[(i + 1) % 4]
            source[after], turn[after] = place, added[i]
        place_from, place_twist = np.arange(PLACES), np.zeros(PLACES, dtype=np.int64)
        for quarter in range(3):
            place_twist = (place_twist[source] + turn) % 3
            place_from = place_from[source]
            comes[3 * face + quarter], twist[3 * face + quarter] = place_from, place_twist
    return comes.astype(np.int64), twist


COMES, TWIST = _turns()
#: The corner that stands for all outside a pattern.
OTHER = 7
#: Of a pattern: the place of each corner among its corners or -1, the corners, their number, and
#: the number of those whose twists count: with all corners the others determine the last twist.
SLOT, CORNERS = np.full(8, -1, dtype=np.int64), np.zeros(1, dtype=np.int64)
PIECES, TWISTED = 1, 1
SOLVED = sum(place << 5 * place for place in range(PLACES))


@kernel
def legal_moves(position, moves):
    """Write the nine turns; returns their number."""
    for move in range(9):
        moves[move] = move
    return 9


@kernel
def play(position, move):
    """Returns the cube after a turn."""
    cube = position[0]
    after = 0
    for place in range(PLACES):
        corner = cube >> 5 * COMES[move, place] & 31
        twist = (corner >> 3) + TWIST[move, place]
        after |= (corner & 7 | (twist - 3 if twist >= 3 else twist) << 3) << 5 * place
    return (after,)


@kernel
def solved(position):
    """Whether every corner is in its place and not twisted."""
    return position[0] == SOLVED


@kernel
def undo(position, move):
    """Returns the move that turns the same face back."""
    return move // 3 * 3 + 2 - move % 3


@kernel
def out_of_place(position):
    """The number of corners that are out of place or twisted."""
    count = 0
    for place in range(PLACES):
        if position[0] >> 5 * place & 31 != place:
            count += 1
    return count


@kernel
def fourth(position):
    """A fourth of the corners that are out of place or twisted, because a turn moves four."""
    return (out_of_place(position) + 3) // 4


@kernel
def corners(position, places):
    """Write, for each place, the input of the corner that is there with its twist."""
    for place in range(PLACES):
        corner = position[0] >> 5 * place & 31
        places[place] = 21 * place + 3 * (corner & 7) + (corner >> 3)
    return PLACES


@kernel
def corner_pairs(position, places):
    """Write, for each pair of places, the input of the corners there with their twists."""
    count = 0
    for first in range(PLACES):
        a = position[0] >> 5 * first & 31
        for second in range(first + 1, PLACES):
            b = position[0] >> 5 * second & 31
            one, other = 3 * (a & 7) + (a >> 3), 3 * (b & 7) + (b >> 3)
            places[count] = (21 * count + one) * 21 + other
            count += 1
    return count


def rank(position):
    """Returns the number of the places and twists of the pattern's corners."""
    places, twists = 0, 0
    for place in range(PLACES):
        corner = position[0] >> 5 * place & 31
        slot = SLOT[corner & 7]
        if slot >= 0:
            places |= place << 5 * slot
            twists |= (corner >> 3) << 2 * slot
    number = number_of(places, PIECES, PLACES)
    for slot in range(TWISTED):
        number = 3 * number + (twists >> 2 * slot & 3)
    return number


def unrank(number):
    """Returns the cube with a number; corners outside the pattern are 7."""
    twists, total = 0, 0
    for slot in range(TWISTED - 1, -1, -1):
        twists |= number % 3 << 2 * slot
        total += number % 3
        number //= 3
    if TWISTED < PIECES:
        twists |= (3 - total % 3) % 3 << 2 * TWISTED
    places = places_of(number, PIECES, PLACES)
    cube = 0
    for place in range(PLACES):
        cube |= OTHER << 5 * place
    for slot in range(PIECES):
        corner = CORNERS[slot] | (twists >> 2 * slot & 3) << 3
        cube ^= (OTHER ^ corner) << 5 * (places >> 5 * slot & 31)
    return (cube,)


@functools.cache
def _pattern_family(corners: tuple[int, ...]) -> Any:
    """Returns the kernels of a pattern."""
    slot = np.full(8, -1, dtype=np.int64)
    slot[list(corners)] = range(len(corners))
    return family(
        rank,
        unrank,
        SLOT=slot,
        CORNERS=np.array(corners, dtype=np.int64),
        PIECES=len(corners),
        TWISTED=min(len(corners), PLACES - 1),
    )


class PocketCube(KernelProblem):
    """The 2 x 2 x 2 cube.

    A text is the moves that bring the solved cube there, such as `R U2 F'`, or the corner at each
    place with its twist, `0+ 1 2- 3 4 5 6`.
    """

    name = "cube2"
    title = "2 x 2 x 2 cube"
    most_moves = 9
    reachable = 3_674_160
    problem = ProblemRules(legal_moves, play, solved, undo=undo)
    goal_position = (SOLVED,)
    features = {"corners": FeatureSet("corners", {"out_of_place": out_of_place})}
    encodings = {
        "corner_pairs": Encoding("corner_pairs", 21 * 21 * 21, 21, corner_pairs),
        "corners": Encoding("corners", 21 * PLACES, PLACES, corners),
    }
    evaluators = {"fourth": Heuristic(fourth, known=Known.BY_PROOF)}
    patterns = {"7": (tuple(range(PLACES)),)}

    def __init__(self) -> None:
        super().__init__()
        self.extras = (Pieces(input_text=self._input_text),)
        self.start_position = (SOLVED,)
        self.start_position = self.random_position(0)

    def pattern(self, pieces: Sequence[int], *, additive: bool = False) -> Pattern:
        """Returns the pattern of some corners, with their places and twists."""
        chosen = self._pattern_pieces(pieces, range(PLACES), summed=additive)
        made = _pattern_family(chosen)
        masked = [corner if corner in chosen else OTHER for corner in range(PLACES)]
        goal = sum(corner << 5 * place for place, corner in enumerate(masked))
        size = arrangements(len(chosen), PLACES) * 3 ** min(len(chosen), PLACES - 1)
        return whole_pattern(chosen, size, (goal,), made)

    def random_position(self, seed: int) -> tuple[int, ...]:
        """Returns any cube that can be solved, all equally likely; depends on the seed alone."""
        import random

        chance = random.Random(seed)
        corners = list(range(PLACES))
        chance.shuffle(corners)
        twists = [chance.randrange(3) for _ in corners[1:]]
        twists.append(-sum(twists) % 3)
        cells = [corner | twist << 3 for corner, twist in zip(corners, twists, strict=True)]
        return (sum(cell << 5 * place for place, cell in enumerate(cells)),)

    def _input_text(self, encoding: str, place: int, position: Any) -> tuple[str, float]:
        """Returns the places of the corners of an input and what is there, "0+ at 2, 1 at 4"."""

        def there(where: int, corner: int) -> str:
            return f"{corner // 3}{TURNED[corner % 3]} at {where}"

        if encoding != "corner_pairs":
            return there(*divmod(place, 21)), 1.0
        pairs = [(a, b) for a in range(PLACES) for b in range(a + 1, PLACES)]
        both, other = divmod(place, 21)
        pair, one = divmod(both, 21)
        first, second = pairs[pair]
        return f"{there(first, one)}, {there(second, other)}", 1.0

    def position_text(self, position: Any) -> str:
        """Returns the corner of each place with its twist, `0+ 1 2- …`."""
        cells = [position[0] >> 5 * place & 31 for place in range(PLACES)]
        return " ".join(f"{cell & 7}{TURNED[cell >> 3]}" for cell in cells)

    def parse_position(self, text: str) -> tuple[int, ...]:
        words = text.split()
        names = {
            f"{FACES[move // 3]}{TURNS[move % 3]}": move for move in range(9)
        }  # turns of the solved cube
        if words and all(word in names for word in words):
            position: tuple[int, ...] = (SOLVED,)
            for word in words:
                position = self.play(position, names[word])
            return position
        twists = {sign: twist for twist, sign in enumerate(TURNED)}
        corners = [
            (int(word[0]), twists[word[1:]])
            for word in words
            if word[:1].isdigit() and word[1:] in twists
        ]
        if len(words) != PLACES or sorted(corner for corner, _ in corners) != list(range(PLACES)):
            raise PositionError(
                "expected turns of the solved cube such as R U2 F', or the corners 0 to 6 with"
                f" their twists such as 0+ 1 2-, found {text.strip()[:80]!r}"
            )
        cells = [corner | twist << 3 for corner, twist in corners]
        return (sum(cell << 5 * place for place, cell in enumerate(cells)),)

    def why_unsolvable(self, position: Any) -> str:
        """Returns the reason why a cube cannot be solved; empty if it can."""
        twist = sum(position[0] >> 5 * place + 3 & 3 for place in range(PLACES)) % 3
        return f"the twists add up to {twist} modulo 3; turns keep them at 0" if twist else ""

    def move_text(self, position: Any, move: int) -> str:
        return f"{FACES[move // 3]}{TURNS[move % 3]}"

"""Sliding tiles of any width and height as kernels; among them the 8-, 15- and 24-puzzle.

A position is one or more words that hold the tile of each square in reading order, and the square
of the blank, which counts as tile 0. A move is the square of the tile that slides. By default
the goal has the blank in the first square and the tiles in order after it.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from games.board import Board, Pieces
from games.errors import PositionError, stripped
from games.features import Encoding, FeatureSet
from games.kernels import family, word
from games.problem import Heuristic, KernelProblem, Known, Pattern, ProblemRules
from games.puzzles import sliding_kernels
from games.puzzles.arrangements import MOST_PIECES, arrangements
from games.puzzles.sliding_cells import cells_of_tiles
from programs.phrases import counted

__all__ = ["Sliding8", "Sliding15", "Sliding24", "SlidingTiles"]

#: Bits of a word.
WORD = 64
#: Ordered so that each kernel calls only earlier ones.
KERNELS = (
    "tile_at legal_moves changed solved undo misplaced manhattan manhattan_change at_home"
    " tile_after leaving linear_conflict linear_conflict_change parity over turned_over play mirror"
    " tile_pairs"
).split()
MOST_SQUARES = 30
PATTERN_KERNELS = (
    "tile_at over placed view tiles_index tiles_mirror with_blank blank_index blank_mirror rank"
    " unrank own_cost move_cost"
).split()


class SlidingTiles(KernelProblem):
    """Tiles on a board of `width` by `height` squares, of which one is free.

    Texts are the tiles in reading order, 0 for the blank: `1 2 0 3 4 5 6 7 8`.

    goal: the tiles in reading order that solve the puzzle; default 0, 1, 2 and so on.

    Raises ValueError for a board of fewer than 2 x 2 or more than 30 squares, and PositionError for
    a goal that does not name each tile once.
    """

    version = 1
    most_moves = 4

    def __init__(self, width: int = 4, height: int = 4, goal: Sequence[int] = ()) -> None:
        squares = width * height
        if min(width, height) < 2 or squares > MOST_SQUARES:
            raise ValueError(
                f"expected a board of 2 x 2 to {MOST_SQUARES} squares, found {width} x {height}"
            )
        self.width, self.height = width, height
        size = f"{squares - 1}" if width == height else f"_{width}x{height}"
        usual = tuple(goal or range(squares)) == tuple(range(squares))
        self.name = f"sliding{size}" + ("" if usual else f"_to_{'_'.join(map(str, goal))}")
        if type(self).title == SlidingTiles.title:
            self.title = f"Sliding tiles, {width} x {height}"
        self.reachable = math.factorial(squares) // 2
        self.bits = 4 if squares <= 16 else 5
        self.goal_position = self.parse_position(" ".join(map(str, goal or range(squares))))
        goal_tiles = self.tiles(self.goal_position)
        self._homes = tuple(goal_tiles.index(tile) for tile in range(squares))
        made = _family(width, height, self.bits, self._homes)
        # the usual goal of a square board is its own mirror image at the diagonal
        square = width == height and self._homes == tuple(range(squares))
        self.problem = ProblemRules(
            made.legal_moves,
            made.play,
            made.solved,
            undo=made.undo,
            parity=made.parity,
            mirror=made.mirror if square else None,
        )
        self.start_position = self.random_position(0)
        self.patterns = _usual_patterns(squares)
        self.evaluators = {
            "manhattan": Heuristic(made.manhattan, made.manhattan_change, Known.BY_PROOF),
            "misplaced": Heuristic(made.misplaced, known=Known.BY_PROOF),
            "linear_conflict": Heuristic(
                made.linear_conflict, made.linear_conflict_change, Known.BY_PROOF
            ),
        }
        terms = {name: entry.value for name, entry in self.evaluators.items()}
        self.features = {"distances": FeatureSet("distances", terms)}
        board = Board(height, width, self._pieces, lambda position, move: (move,), shape="tile")
        cells = _cells(width, height, self.bits, self._homes)
        self.extras = (board, Pieces(self._removals, self._input_text), cells)
        pairs = squares * (squares - 1) // 2
        inputs = pairs * squares * squares
        self.encodings = {"tile_pairs": Encoding("tile_pairs", inputs, pairs, made.tile_pairs)}
        super().__init__()

    # --- positions -------------------------------------------------------------------------------

    def pack(self, tiles: Sequence[int]) -> tuple[int, ...]:
        """Returns the position with these tiles in reading order; each must occur once."""
        return (*_words(tiles, self.bits), list(tiles).index(0))

    def tiles(self, position: Any) -> list[int]:
        """Returns the tiles of a position in reading order."""
        each, mask = WORD // self.bits, (1 << self.bits) - 1
        return [
            position[square // each] >> self.bits * (square % each) & mask
            for square in range(self.width * self.height)
        ]

    def with_goal(self, position: Any) -> SlidingTiles:
        """Returns the same board with another arrangement as its goal."""
        return SlidingTiles(self.width, self.height, self.tiles(position))

    def why_unsolvable(self, position: Any) -> str:
        """Returns the reason why a position cannot reach the goal; empty if it can.

        Every move swaps the blank with a tile and moves it by one square, so the parity of the
        permutation and that of the blank's distance from its corner change together.
        """
        homes = [self._homes[tile] for tile in self.tiles(position)]
        swaps = len(homes)
        seen = [False] * len(homes)
        for first in range(len(homes)):  # a cycle of n tiles takes n - 1 swaps
            if seen[first]:
                continue
            swaps -= 1
            square = first
            while not seen[square]:
                seen[square] = True
                square = homes[square]
        row, column = divmod(position[-1], self.width)
        goal_row, goal_column = divmod(self._homes[0], self.width)
        steps = abs(row - goal_row) + abs(column - goal_column)
        if (swaps + steps) % 2 == 0:
            return ""
        return (
            f"the tiles are {counted(swaps, 'swap')} from the goal and the blank is"
            f" {counted(steps, 'step')} from its square; a move is one swap and one step, so both"
            " have to be even or both odd"
        )

    def random_position(self, seed: int) -> tuple[int, ...]:
        """Returns a solvable position, all equally likely; depends on the seed alone."""
        tiles = list(range(self.width * self.height))
        random.Random(seed).shuffle(tiles)
        position = self.pack(tiles)
        if self.why_unsolvable(position):
            first, second = [square for square, tile in enumerate(tiles) if tile][:2]
            tiles[first], tiles[second] = tiles[second], tiles[first]
            position = self.pack(tiles)
        return position

    # --- for people ------------------------------------------------------------------------------

    def _pieces(self, position: Any) -> dict[int, tuple[None, str]]:
        return {square: (None, str(t)) for square, t in enumerate(self.tiles(position)) if t}

    def _input_text(self, encoding: str, place: int, position: Any) -> tuple[str, float]:
        """Returns the tiles of a pair, such as "tiles 3 and 7"; the blank counts as tile 0."""
        squares = self.width * self.height
        pair, larger = place // squares**2, 1
        while larger * (larger + 1) // 2 <= pair:
            larger += 1
        smaller = pair - larger * (larger - 1) // 2
        return (f"tiles {smaller} and {larger}" if smaller else f"blank and {larger}"), 1.0

    def _removals(self, position: Any) -> Iterator[tuple[str, float, Any]]:
        """Yields for each tile: words for it, 1, and the position with another blank instead."""
        tiles = self.tiles(position)
        for tile in range(1, len(tiles)):
            without = [0 if other == tile else other for other in tiles]
            yield f"tile {tile}", 1.0, (*_words(without, self.bits), position[-1])

    def pattern(self, pieces: Sequence[int], *, additive: bool = False) -> Pattern:
        """Returns the pattern of some tiles; if it is not additive, the blank is told apart too."""
        squares = self.width * self.height
        chosen = self._pattern_pieces(pieces, range(1, squares))
        if len(chosen) >= MOST_PIECES:
            raise ValueError(
                f"{self.name}: expected fewer than {MOST_PIECES} tiles in a pattern, found"
                f" {len(chosen)}"
            )
        made = _pattern_family(self.width, self.height, self.bits, chosen)
        square = self.problem.mirror is not None
        free = squares - len(chosen)
        tiles = self.tiles(self.goal_position)
        masked = [tile if tile in chosen else 0 for tile in tiles]
        return Pattern(
            pieces=chosen,
            additive=additive,
            size=arrangements(len(chosen), squares) * free,
            fold=free if additive else 1,
            goal=(*_words(masked, self.bits), tiles.index(0)),
            rank=made.rank,
            unrank=made.unrank,
            view=made.view,
            index=made.tiles_index if additive else made.blank_index,
            cost=made.own_cost if additive else made.move_cost,
            mirror_index=(made.tiles_mirror if additive else made.blank_mirror) if square else None,
        )

    # --- texts -----------------------------------------------------------------------------------

    def position_text(self, position: Any) -> str:
        return " ".join(map(str, self.tiles(position)))

    def parse_position(self, text: str) -> tuple[int, ...]:
        words = stripped(text).replace(",", " ").replace("/", " ").replace("_", "0").split()
        squares = self.width * self.height
        tiles = [int(word) for word in words if word.isdecimal()]
        if not len(words) == len(tiles) == squares:
            raise PositionError(
                f"expected {squares} tiles from 0 (the blank) to {squares - 1} in reading order,"
                f" found {text.strip()[:80]!r}"
            )
        twice = sorted({tile for tile in tiles if tiles.count(tile) > 1})
        missing = sorted(set(range(squares)) - set(tiles))
        if missing:
            shown = f"{twice[0]} twice" if twice else f"{max(tiles)}"
            raise PositionError(
                f"expected each tile from 0 to {squares - 1} once, found {shown} and no"
                f" {missing[0]}"
            )
        return self.pack(tiles)

    def move_text(self, position: Any, move: int) -> str:
        """Returns the number of the tile that slides."""
        return str(self.tiles(position)[move])

    def show(self, position: Any) -> str:
        tiles = [str(tile) if tile else "." for tile in self.tiles(position)]
        rows = [tiles[i : i + self.width] for i in range(0, len(tiles), self.width)]
        return "\n".join(" ".join(f"{tile:>2}" for tile in row) for row in rows)


class Sliding8(SlidingTiles):
    """The 8-puzzle."""

    name = "sliding8"
    title = "8-puzzle"

    def __init__(self) -> None:
        super().__init__(3, 3)


class Sliding15(SlidingTiles):
    """The 15-puzzle."""

    name = "sliding15"
    title = "15-puzzle"

    def __init__(self) -> None:
        super().__init__(4, 4)


class Sliding24(SlidingTiles):
    """The 24-puzzle."""

    name = "sliding24"
    title = "24-puzzle"

    def __init__(self) -> None:
        super().__init__(5, 5)


@functools.cache
def _family(width: int, height: int, bits: int, homes: tuple[int, ...]) -> Any:
    """Returns the kernels of one board and goal; `homes`: the square of each tile in the goal."""
    kernels = (getattr(sliding_kernels, name) for name in KERNELS)
    return family(*kernels, **_constants(width, height, bits, homes))


@functools.cache
def _cells(width: int, height: int, bits: int, homes: tuple[int, ...]) -> Any:
    return cells_of_tiles(_constants(width, height, bits, homes))


def _constants(width: int, height: int, bits: int, homes: tuple[int, ...]) -> dict[str, Any]:
    """Returns the constants of the kernels."""
    home = np.array(homes, dtype=np.int64)
    goal = _words([homes.index(square) for square in range(len(homes))], bits)
    return {
        "WIDTH": width,
        "HEIGHT": height,
        "SQUARES": width * height,
        "BITS": bits,
        "EACH": WORD // bits,
        "MASK": (1 << bits) - 1,
        "WORDS": len(goal),
        "HOME": home,
        "GOAL": goal,
        "AT_GOAL": (*goal, homes[0]),
        "NEIGHBOURS": _neighbours(width, height),
        "DISTANCE": _distances(width, height, home),
    }


@functools.cache
def _pattern_family(width: int, height: int, bits: int, tiles: tuple[int, ...]) -> Any:
    """Returns the kernels of a pattern."""
    return family(
        *(getattr(sliding_kernels, name) for name in PATTERN_KERNELS),
        WIDTH=width,
        SQUARES=width * height,
        BITS=bits,
        EACH=WORD // bits,
        MASK=(1 << bits) - 1,
        WORDS=-(-width * height // (WORD // bits)),
        TILES=np.array(tiles, dtype=np.int64),
        TILE_COUNT=len(tiles),
    )


def _usual_patterns(squares: int) -> dict[str, tuple[tuple[int, ...], ...]]:
    """Returns the usual additive patterns of a board, of tiles near together, by their sizes."""
    if squares == 16:
        return {
            "6-6-3": ((1, 4, 5, 8, 9, 12), (2, 3, 6, 7, 10, 11), (13, 14, 15)),
            "5-5-5": ((1, 4, 5, 8, 9), (2, 3, 6, 7, 11), (10, 12, 13, 14, 15)),
            "7-8": ((1, 4, 5, 8, 9, 12, 13), (2, 3, 6, 7, 10, 11, 14, 15)),
        }
    most = 5 if squares > 16 else 4
    tiles = list(range(1, squares))
    parts = tuple(tuple(tiles[i : i + most]) for i in range(0, len(tiles), most))
    usual = {"-".join(str(len(part)) for part in parts): parts}
    if squares == 25:
        usual["5-5-5-5-4"] = (
            (1, 2, 5, 6, 7), (3, 4, 8, 9, 14), (10, 11, 15, 16, 20), (12, 13, 17, 18, 19),
            (21, 22, 23, 24),
        )  # fmt: skip
        usual["6-6-6-6"] = (
            (1, 2, 5, 6, 7, 12), (3, 4, 8, 9, 13, 14), (10, 11, 15, 16, 20, 21),
            (17, 18, 19, 22, 23, 24),
        )  # fmt: skip
    return usual


def _words(tiles: Sequence[int], bits: int) -> tuple[int, ...]:
    """Returns tiles in reading order, `bits` bits each, packed into as few words as possible."""
    each = WORD // bits
    return tuple(
        word(sum(tile << bits * i for i, tile in enumerate(tiles[first : first + each])))
        for first in range(0, len(tiles), each)
    )


def _neighbours(width: int, height: int) -> np.ndarray[Any, Any]:
    """Returns for each square those above, left, right and below it, and their number."""
    table = np.zeros((width * height, 5), dtype=np.int64)
    for square in range(width * height):
        row, column = divmod(square, width)
        beside = [
            width * r + c
            for r, c in (
                (row - 1, column),
                (row, column - 1),
                (row, column + 1),
                (row + 1, column),
            )
            if 0 <= r < height and 0 <= c < width
        ]
        table[square, : len(beside)], table[square, 4] = beside, len(beside)
    return table


def _distances(width: int, height: int, home: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns the steps from each tile's goal square to each square, [tile, square]; blank: 0."""
    rows, columns = np.divmod(np.arange(width * height), width)
    steps = np.abs(rows[home, None] - rows) + np.abs(columns[home, None] - columns)
    steps[0] = 0
    return np.asarray(steps, dtype=np.int64)

"""n-tuples without a layout: connected groups of squares, drawn at random from a game's cells.

Source: W. Konen and others' General Board Game playground, where n-tuples are random walks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from games.features.cells import Cells
from games.features.encoding import Encoding
from games.features.tuples import Group, TupleLayout

__all__ = ["WALKS", "Squares", "walks"]

WALKS = "walks:"
NEAR = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if row or column]
#: Groups that are drawn for each one asked for, before too few of them are different.
TRIES = 100


@dataclass(frozen=True)
class Squares:
    """The squares of a board whose pieces are not words of bits: what groups need of `Cells`.

    rows, columns: the size of the board.
    encoding: their states, as a `TupleLayout` has them.
    """

    rows: int
    columns: int
    encoding: Encoding

    #: No symmetries are known.
    images: ClassVar[Sequence[tuple[int, ...]]] = ()

    @property
    def phased(self) -> Encoding:
        """The encoding, which may have phases already."""
        return self.encoding

    @property
    def bits(self) -> Mapping[int, int]:
        """The number of each square."""
        return {square: square for square in range(self.width)}

    @property
    def width(self) -> int:
        """Number of squares."""
        return self.rows * self.columns

    def neighbour(self, square: int, offset: tuple[int, int]) -> int | None:
        """Returns the square `rows` below and `columns` right, or None if it does not exist."""
        row, column = divmod(square, self.columns)
        row, column = row + offset[0], column + offset[1]
        inside = 0 <= row < self.rows and 0 <= column < self.columns
        return row * self.columns + column if inside else None


def walks(cells: Cells | Squares, text: str, seed: int) -> TupleLayout:
    """Returns a layout of random groups; squares are neighbours also at their corners.

    No group is another one, or its image by a symmetry of the game.

    cells: the cells or squares of the game.
    text: "walks:N,L" for N groups of L squares each.
    seed: of the groups.

    Raises ValueError for another text, or if the board has fewer groups of this length.
    """
    match = re.fullmatch(rf"{WALKS}([1-9]\d{{0,3}}),([1-9]\d?)", text)
    if match is None:
        raise ValueError(f"tuples: expected walks:N,L, such as walks:40,5, found {text!r:.80}")
    number, length = int(match[1]), int(match[2])
    random = np.random.default_rng(seed)
    squares = sorted(cells.bits)
    groups: list[Group] = []
    seen: set[frozenset[int]] = set()
    images = tuple(cells.images)
    for _ in range(TRIES * number):
        walk = [squares[random.integers(len(squares))]]
        while len(walk) < length:
            around = {cells.neighbour(square, step) for square in walk for step in NEAR}
            free = sorted(square for square in around - {*walk} if square is not None)
            if not free:
                break
            walk.append(free[random.integers(len(free))])
        if len(walk) == length:
            bits = tuple(cells.bits[square] for square in walk)
            if frozenset(bits) not in seen:
                groups.append(Group(bits))
                seen.add(frozenset(bits))
                seen.update(frozenset(image[bit] for bit in bits) for image in images)
        if len(groups) == number:
            return TupleLayout(cells.phased, cells.width, tuple(groups), images)
    raise ValueError(
        f"tuples: expected at most {len(groups)} groups of {length} squares, found {number}"
    )

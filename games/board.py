"""A game's drawing on a plain grid and its words for people: extras of a game.

`Board` is the grid, and which squares are clicked for a move; `Pieces` are words for the pieces
there, and positions without each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from games.extras import Extra

__all__ = ["Board", "Piece", "Pieces"]

#: The side that owns a piece (None for neither) and the text on it, often empty.
Piece = tuple[int | None, str]

SHAPES = ("stone", "man", "tile", "bar")


@dataclass(frozen=True)
class Board:
    """A rectangle of squares, numbered from 0 row by row, from the top left as side 0 sees it.

    rows, columns: its size, 1 to 26 each.
    pieces: `pieces(position)` returns the pieces, {square: (side, text)}.
    clicks: `clicks(position, move)` returns the clicks that make a move, one entry a click: a
        square, or several equivalent squares, of which the first is shown. Placing a stone is one
        click, moving a piece is two. Different moves need different clicks.
    light_first: whether side 0 rather than side 1 has the light pieces.
        Default: no.
    shape: how pieces are drawn: "stone", a disc; "man", a disc that wears a crown if it has a text;
        "tile", which fills its square; or "bar", which is as wide as the whole number that is its
        text. Tiles and bars have different texts.
    holes: the squares that exist, if these are the holes of a hexagonal grid: in each row at least
        two columns apart, those of the next row between them. Default: all, as a plain grid.
    tints: {square: side} for squares in the colour of a side, such as those of its goal.
    path: `path(position, move)` returns the squares on the way of a piece, from its first to its
        last. Default: the way is not known.
    row_names, column_names: names of rows, from the top, and columns, from the left, in moves.
        Default: numbers from 1.
    names: names of the squares in moves, which are drawn on them, if only these are played on.
    turns: whether side 1 sees the board from the other end. Default: both see it as side 0 does.
    jumps: whether a click two rows and columns further captures the piece between.
    words: names of pieces, by their texts.
    must: `must(moves)` returns a sentence about the rule that limits the legal moves, or "".
    """

    rows: int
    columns: int
    pieces: Callable[[Any], Mapping[int, Piece]]
    clicks: Callable[[Any, Any], Sequence[int | Sequence[int]]]
    light_first: bool = False
    shape: str = "stone"
    holes: Sequence[int] | None = None
    tints: Mapping[int, int] = field(default_factory=dict)
    path: Callable[[Any, Any], Sequence[int]] | None = None
    row_names: Sequence[str] = ()
    column_names: Sequence[str] = ()
    names: Mapping[int, str] = field(default_factory=dict)
    turns: bool = False
    jumps: bool = False
    words: Mapping[str, str] = field(default_factory=dict)
    must: Callable[[Sequence[Any]], str] = lambda moves: ""

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):
            size = getattr(self, name)
            if not isinstance(size, int) or not 1 <= size <= 26:
                raise ValueError(f"board: expected 1 to 26 {name}, found {size!r}")
            names = getattr(self, f"{name.removesuffix('s')}_names")
            if names and len(names) != size:
                raise ValueError(f"board: expected names of {size} {name}, found {list(names)}")
        if self.shape not in SHAPES:
            raise ValueError(f"board: expected shape {', '.join(SHAPES)}, found {self.shape!r}")
        for name, found in (
            ("holes", self.holes or ()),
            ("tints", self.tints),
            ("names", self.names),
        ):
            beyond = [square for square in found if not 0 <= square < self.squares]
            if beyond:
                raise ValueError(f"board: expected {name} below {self.squares}, found {beyond[0]}")

    @property
    def squares(self) -> int:
        """The number of squares."""
        return self.rows * self.columns


def _number(encoding: str, place: int, position: Any) -> tuple[str, float]:
    return f"{encoding} {place}", 1.0


@dataclass(frozen=True)
class Pieces(Extra):
    """Words for the pieces of a position, which explanations of values name.

    removals: `removals(position)` yields for each piece words for it, its number of pieces, and the
        position without it. None: positions cannot be explained by removing pieces.
    input_text: `input_text(encoding, place, position)` returns words for an input of an encoding
        that is 1, and its number of pieces. Default: the encoding and the place.
    """

    removals: Callable[[Any], Iterable[tuple[str, float, Any]]] | None = None
    input_text: Callable[[str, int, Any], tuple[str, float]] = _number

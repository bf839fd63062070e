"""`Board`: how a game is drawn on a plain grid, and which squares are clicked for a move."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Board", "Piece"]

#: The side that owns a piece (0, 1, or None for neither) and the text on it, often empty.
Piece = tuple[int | None, str]

SHAPES = ("stone", "tile", "bar")


@dataclass(frozen=True)
class Board:
    """A rectangle of squares, numbered from 0 row by row, from the top left as side 0 sees it.

    rows, columns: its size, 1 to 26 each.
    pieces: `pieces(position)` returns the pieces, {square: (side, text)}.
    clicks: `clicks(position, move)` returns the clicks that make a move, one entry a click: a
        square, or several equivalent squares, of which the first is shown. Placing a stone is one
        click, moving a piece is two. Different moves need different clicks.
    light_first: whether the pieces of side 0, rather than of side 1, are the light ones.
        Default: no.
    shape: how pieces are drawn: "stone", a disc; "tile", which fills its square; or "bar", which is
        as wide as the whole number that is its text. Tiles and bars have different texts.
    """

    rows: int
    columns: int
    pieces: Callable[[Any], Mapping[int, Piece]]
    clicks: Callable[[Any, Any], Sequence[int | Sequence[int]]]
    light_first: bool = False
    shape: str = "stone"

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):
            size = getattr(self, name)
            if not isinstance(size, int) or not 1 <= size <= 26:
                raise ValueError(f"board: expected 1 to 26 {name}, found {size!r}")
        if self.shape not in SHAPES:
            raise ValueError(f"board: expected shape {', '.join(SHAPES)}, found {self.shape!r}")

    @property
    def squares(self) -> int:
        """The number of squares."""
        return self.rows * self.columns

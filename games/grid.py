"""`Grid`: one declaration of a board's geometry, for its drawing, its cells and its texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from games.board import Board
from games.errors import PositionError, stripped
from games.features.cells import Cells, Kind
from games.kernel_game import KernelGame
from games.kernels import bit, kernel

__all__ = ["Grid", "GridGame", "swap_sides"]

#: Signs for an empty square in texts, the one that is written first.
EMPTY = ".-"


@kernel
def _own(position):
    return position[0]


@kernel
def _their(position):
    return position[1]


@kernel
def swap_sides(position):
    """Returns the same board with the other side to move, if both see it from the same end."""
    own, opponent, side = position
    return (opponent, own, 1 - side)


@dataclass(frozen=True)
class Grid:
    """A rectangular board of one kind of pieces, whose positions are (own, opponent's, side).

    The first two numbers are words, a bit for each square that a piece of the side to move, or of
    the other side, stands on. Squares are numbered from 0 row by row, from the top left.

    rows, columns: the size of the board.
    letters: the signs of the sides in texts, the one that begins first.
    bits: the bit of each square, as the side to move sees the board. Default: its number.
    turned: whether the words show the board as the side to move sees it, from its own end.
    row_names, column_names: the names of the rows from the top and of the columns from the left.
        Default: the drawing numbers them, and texts have none.
    divider: the sign between two rows of a position's text.
    marked: whether the board shows the letters on the pieces.
    symmetry: the changes of the board after which the rules are the same: "" for none, "mirror" if
        left and right can be exchanged, "square" for all turns and mirrors of a square.
    """

    rows: int
    columns: int
    letters: str = "XO"
    bits: Mapping[int, int] = field(default_factory=dict)
    turned: bool = False
    row_names: Sequence[str] = ()
    column_names: Sequence[str] = ()
    divider: str = "/"
    marked: bool = False
    symmetry: str = ""

    def __post_init__(self) -> None:
        if self.symmetry not in ("", "mirror", "square"):
            raise ValueError(f"grid: expected symmetry mirror or square, found {self.symmetry!r}")
        if self.symmetry == "square" and self.rows != self.columns:
            raise ValueError(f"grid: expected a square, found {self.rows} rows, {self.columns}")

    @property
    def squares(self) -> range:
        """The squares of the board."""
        return range(self.rows * self.columns)

    def bit_of(self, square: int, side: int = 0) -> int:
        """Returns the bit of a square in the words of a position with `side` to move."""
        seen = len(self.squares) - 1 - square if self.turned and side else square
        return self.bits[seen] if self.bits else seen

    @cached_property
    def _squares_of(self) -> tuple[dict[int, int], ...]:
        return tuple({self.bit_of(s, side): s for s in self.squares} for side in (0, 1))

    def square_of(self, number: int, side: int = 0) -> int | None:
        """Returns the square of a bit in the words with `side` to move, or None without one."""
        return self._squares_of[side].get(number)

    def name_of(self, square: int) -> str:
        """Returns the name of a square, its column's and its row's."""
        row, column = divmod(square, self.columns)
        return f"{self.column_names[column]}{self.row_names[row]}"

    def owners(self, position: Any) -> dict[int, int]:
        """Returns the side that each piece belongs to, by its square."""
        own, opponent, side = position
        owners = {}
        for square in self.squares:
            number = self.bit_of(square, side)
            if (own | opponent) >> number & 1:
                owners[square] = side if own >> number & 1 else 1 - side
        return owners

    # --- drawing and inputs -------------------------------------------------------------------

    def clicks(self, position: Any, move: int) -> list[Any]:
        """Returns one click, for moves that are bits: their square, or any for a pass."""
        square = self.square_of(move, position[2])
        return [list(self.squares) if square is None else square]

    def board(self, clicks: Callable[[Any, Any], Any] | None = None, **options: Any) -> Board:
        """Returns the board of a game for its drawing.

        clicks: as in `Board`. Default: moves are the bits of the squares that they take.
        options: further fields of `Board`.
        """

        def pieces(position: Any) -> dict[int, tuple[int, str]]:
            owners = self.owners(position)
            return {s: (side, self.letters[side] * self.marked) for s, side in owners.items()}

        names = {"row_names": self.row_names, "column_names": self.column_names}
        return Board(self.rows, self.columns, pieces, clicks or self.clicks, **(names | options))

    def cells(
        self,
        piece: str = "stone",
        relations: Mapping[str, Kind] | None = None,
        swap: Callable[[Any], Any] = swap_sides,
        **options: Any,
    ) -> Cells:
        """Returns the cells of the board, for invented terms, n-tuples and networks.

        piece: the name of the pieces.
        relations: further kinds, which the rules give.
        swap: as in `Cells`; a game whose board is `turned` has its own.
        options: further fields of `Cells`.
        """
        return Cells(
            self.rows, self.columns, {square: self.bit_of(square) for square in self.squares},
            {piece: Kind(_own, _their, ""), **(relations or {})}, swap, turned=self.turned,
            images=self.images, **options,
        )  # fmt: skip

    @property
    def images(self) -> tuple[tuple[int, ...], ...]:
        """The symmetries as permutations of the bits."""
        last = self.rows - 1
        ways = {
            (row, column): [(row, self.columns - 1 - column)] * bool(self.symmetry)
            for row, column in (divmod(square, self.columns) for square in self.squares)
        }
        if self.symmetry == "square":
            for row, column in ways:
                both = [(row, column), (column, row)]
                ways[row, column] = [
                    (last - r if down else r, last - c if across else c)
                    for r, c in both
                    for down in (0, 1)
                    for across in (0, 1)
                ][1:]
        width = max(self.bit_of(square) for square in self.squares) + 1
        images = []
        for number in range(len(ways[0, 0])):
            image = list(range(width))
            for (row, column), others in ways.items():
                r, c = others[number]
                image[self.bit_of(self.columns * row + column)] = self.bit_of(self.columns * r + c)
            images.append(tuple(image))
        return tuple(images)

    # --- texts --------------------------------------------------------------------------------

    def rows_text(self, position: Any) -> list[str]:
        """Returns the rows of a position from the top, a sign for each square."""
        owners = self.owners(position)
        signs = "".join(self.letters[owners[s]] if s in owners else EMPTY[0] for s in self.squares)
        return [signs[start : start + self.columns] for start in self.squares[:: self.columns]]

    def text(self, position: Any) -> str:
        """Returns the rows from the top and the letter of the side to move."""
        return f"{self.divider.join(self.rows_text(position))} {self.letters[position[2]]}"

    def parse(self, text: str) -> tuple[int, int, int]:
        """Returns the position of a text; dividers, blanks and the case of letters do not matter.

        Raises PositionError if squares or the side to move are missing, or have other signs.
        """
        words = stripped(text).casefold()
        letters = self.letters.casefold()
        signs = [sign for sign in words[:-1] if sign not in f" \n{self.divider}"]
        if (
            len(signs) != len(self.squares)
            or not {*signs} <= {*letters, *EMPTY}
            or words[-1:] not in [*letters]
        ):
            raise PositionError(
                f"expected {len(self.squares)} squares of {', '.join(self.letters)} and"
                f" '{EMPTY[0]}', and {' or '.join(self.letters)} to move, found {text[:80]!r}"
            )
        side = letters.index(words[-1])
        stones = [0, 0]
        for square, sign in enumerate(signs):
            if sign not in EMPTY:
                stones[letters.index(sign)] |= bit(self.bit_of(square, side))
        return (stones[side], stones[1 - side], side)

    def show(self, position: Any) -> str:
        """Returns the rows with the names of rows and columns, and the side to move."""
        heads = [f"{name:<3}" for name in self.row_names] or [""] * self.rows
        rows = [
            head + " ".join(row) for head, row in zip(heads, self.rows_text(position), strict=True)
        ]
        names = [" " * len(heads[0]) + " ".join(self.column_names)] if self.column_names else []
        return "\n".join([*rows, *names, f"{self.letters[position[2]]} to move"])


class GridGame(KernelGame):
    """A game on a `Grid`, which gives its texts; moves are bits of squares, any other a pass.

    A subclass sets `grid`, `rules`, `start_position` and `most_moves`, and lists among its `extras`
    what `Grid.board` and `Grid.cells` return.
    """

    grid: Grid

    def to_move(self, position: Any) -> int:
        return int(position[2])

    def position_text(self, position: Any) -> str:
        return self.grid.text(position)

    def parse_position(self, text: str) -> Any:
        return self.grid.parse(text)

    def move_text(self, position: Any, move: int) -> str:
        square = self.grid.square_of(move, position[2])
        return "pass" if square is None else self.grid.name_of(square)

    def show(self, position: Any) -> str:
        return self.grid.show(position)

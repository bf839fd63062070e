"""`Cells`: which bits of a position hold which pieces of the board, so that terms can read them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.kernels.memory import native_function, read_position

__all__ = ["Cells", "Kind"]

#: Highest bit that a square may have: the one above it is the sign of a word.
LAST_BIT = 62
Kernel = Callable[[Any], int]
Words = Mapping[str, NDArray[np.uint64]]


class Kind(NamedTuple):
    """A kind of pieces, or a relation that the rules give, such as a piece that can be captured.

    own, their: kernels of a position that return the squares of the side to move, and those of the
        other side, as the bits of a word.
    text: the text of these pieces on the game's `Board`; None for a relation.
    """

    own: Kernel
    their: Kernel
    text: str | None = None


@dataclass(frozen=True)
class Cells:
    """The bits by which the words of a position hold the pieces on the game's `Board`.

    rows, columns: the size of the board.
    bits: by square of the board, as the side sees it that begins, its bit, 0 to 62. Squares that
        are left out do not exist.
    kinds: kinds of pieces and relations by their names, which are words such as "man".
    swap: a kernel that returns the same board with the other side to move.
    turned: whether the side that moves second sees the board turned by 180 degrees.
    side: if it does, and its words are not turned already, a kernel of a position that returns 1
        for that side to move and 0 for the other.
    reach: greatest distance of two squares, in rows or columns, that a term relates.
    areas: squares with a name, as the side to move sees them: {"double corner": (56, 49)}.

    Raises ValueError if the bits are out of range or not distinct, or a name is not words.
    """

    rows: int
    columns: int
    bits: Mapping[int, int]
    kinds: Mapping[str, Kind]
    swap: Callable[[Any], Any]
    turned: bool = False
    side: Kernel | None = None
    reach: int = 2
    areas: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        used = list(self.bits.values())
        if not all(0 <= bit <= LAST_BIT for bit in used) or len(set(used)) < len(used):
            raise ValueError(f"cells: expected different bits from 0 to {LAST_BIT}, found {used}")
        for name in (*self.kinds, *self.areas):
            if not name.replace(" ", "_").isidentifier():
                raise ValueError(f"cells: expected names of words, found {name!r}")

    @cached_property
    def zones(self) -> dict[str, frozenset[int]]:
        """The squares of each zone as a side sees them, by its name; "" for the whole board.

        These are the rows and columns, the side edges, the centre (all but the outer quarters, or
        the outer lines of a small board) and the areas that the game names.
        """
        found: dict[str, list[int]] = {"": list(self.bits)}
        top, left = max(1, self.rows // 4), max(1, self.columns // 4)
        for square in self.bits:
            row, column = self.place(square)
            found.setdefault(self._row_name(self.rows - 1 - row), []).append(square)
            found.setdefault(f"{_ordinal(column)} column", []).append(square)
            if column in (0, self.columns - 1):
                found.setdefault("side edge", []).append(square)
            if top <= row < self.rows - top and left <= column < self.columns - left:
                found.setdefault("centre", []).append(square)
        found.update({name: list(squares) for name, squares in self.areas.items()})
        return {name: frozenset(squares) for name, squares in found.items()}

    def _row_name(self, number: int) -> str:
        if self.turned and number in (0, self.rows - 1):
            return "last row" if number else "back row"
        return f"{_ordinal(number)} row"

    def place(self, square: int) -> tuple[int, int]:
        """Returns the row from the top and the column from the left of a square."""
        return divmod(square, self.columns)

    def neighbour(self, square: int, offset: tuple[int, int]) -> int | None:
        """Returns the square so many rows below and columns right; None if it does not exist."""
        row, column = self.place(square)
        row, column = row + offset[0], column + offset[1]
        other = row * self.columns + column
        inside = 0 <= row < self.rows and 0 <= column < self.columns
        return other if inside and other in self.bits else None

    def bit(self, square: int, *, other_view: bool = False) -> int:
        """Returns the bit of a square that the side to move sees at this place.

        other_view: whether that side sees the board turned, and its words do not.
        """
        return self.bits[self.rows * self.columns - 1 - square if other_view else square]

    def mask(self, squares: Any, *, other_view: bool = False) -> int:
        """Returns the word of squares that the side to move sees at these places."""
        return sum(1 << self.bit(square, other_view=other_view) for square in squares)

    def words(self, positions: NDArray[np.int64]) -> dict[str, NDArray[np.uint64]]:
        """Returns for each kind, as `man` and `their man`, its squares in many positions.

        positions: [positions, integers].

        The arrays, [2, positions], hold words in which every square that a side sees at some place
        has the bit that it has for the side that begins: first as the side to move sees its own
        and the other side's pieces, then as the other side does. `empty` are the squares without a
        piece.
        """
        read = {}
        for name, kind in self.kinds.items():
            read[name], read[f"their {name}"] = kind.own, kind.their
        if self.side is not None:
            read["side"] = self.side
        found = _read_words(np.ascontiguousarray(positions), list(read.values()), self.swap)
        words = dict(zip(read, found.transpose(1, 0, 2), strict=True))
        turned = words.pop("side", None)
        if turned is not None:
            for name, word in words.items():
                straight = np.zeros_like(word)
                for square, bit in self.bits.items():
                    source = np.uint64(self.bit(square, other_view=True))
                    straight |= (word >> source & np.uint64(1)) << np.uint64(bit)
                words[name] = np.where(turned != 0, straight, word)
        taken = np.zeros_like(next(iter(words.values())))
        for name in self.pieces():
            taken |= words[name] | words[f"their {name}"]
        words["empty"] = np.uint64(self.mask(self.bits)) & ~taken
        return words

    def pieces(self) -> list[str]:
        """Returns the names of the kinds that are pieces, not relations."""
        return [name for name, kind in self.kinds.items() if kind.text is not None]

    def shown(self, game: Any, position: Any) -> dict[int, str]:
        """Returns what the game's board shows: by square as the side to move sees it, its kind.

        game: the game with these cells and a board.
        position: one of its positions.

        The kinds are those of `words`; one that `kinds` lacks is called by its text on the board.
        """
        names = {kind.text: name for name, kind in self.kinds.items() if kind.text is not None}
        side = game.to_move(position)
        found = {}
        for square, (owner, text) in game.board.pieces(position).items():
            seen = self.rows * self.columns - 1 - square if self.turned and side == 1 else square
            name = names.get(text, repr(text))
            found[seen] = name if owner == side else f"their {name}"
        return found

    def held(self, position: Any) -> dict[int, str]:
        """Returns the same of what the words of a position hold, read by the interpreter."""
        other_view = self.side is not None and bool(kernels.uncompiled(self.side)(position))
        return dict(self._held(position, other_view))

    def _held(self, position: Any, other_view: bool) -> Iterator[tuple[int, str]]:
        for name in self.pieces():
            for prefix, read in (("", self.kinds[name].own), ("their ", self.kinds[name].their)):
                word = int(kernels.uncompiled(read)(position))
                for square in self.bits:
                    if word >> self.bit(square, other_view=other_view) & 1:
                        yield square, prefix + name


def _ordinal(number: int) -> str:
    number += 1
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{endings.get(number % 10 if number % 100 // 10 != 1 else 0, 'th')}"


def _read_words(
    rows: NDArray[np.int64], read: Sequence[Kernel], swap: Callable[[Any], Any]
) -> NDArray[np.uint64]:
    """Returns what kernels return for positions and for these swapped, [2, kernels, positions]."""
    found = np.zeros((2, len(read), len(rows)), dtype=np.int64)
    if not kernels.compiled:
        swapped = kernels.uncompiled(swap)
        plain = [kernels.uncompiled(kernel) for kernel in read]
        for i, position in enumerate(map(tuple, rows.tolist())):
            for view, seen in enumerate((position, swapped(position))):
                found[view, :, i] = [int(kernel(seen)) for kernel in plain]
        return found.view(np.uint64)
    lines = [
        "def words_at(count, source, target):",
        "    for i in range(count):",
        f"        position = {read_position(rows.shape[1])}",
        "        swapped = swap(position)",
    ]
    for view, seen in enumerate(("position", "swapped")):
        for place in range(len(read)):
            offset = f"{view * len(read) + place} * count + i"
            lines.append(f"        store_int(target, {offset}, int(read_{place}({seen})))")
    lines.append(f"        source += {8 * rows.shape[1]}")
    scope: dict[str, Any] = {f"read_{i}": kernel for i, kernel in enumerate(read)}
    address = native_function(
        "words_at", "\n".join(lines), {**scope, "swap": swap}, "void(int64, int64, int64)"
    )
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)(address)
    call(len(rows), rows.ctypes.data, found.ctypes.data)
    return found.view(np.uint64)

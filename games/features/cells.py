"""`Cells`: which bits of a position hold which pieces of the board, so that terms can read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from games.features.encoding import Encoding
from games.features.feature_set import FeatureSet
from games.features.phases import Phases
from games.kernels import bit, kernel, lowest
from games.kernels.compiler import GENERATED

__all__ = ["CELL_INPUTS", "EMPTY", "PHASE_INPUTS", "THEIR", "Cells", "Kind"]

#: Squares without a piece, beside the kinds of pieces; and what goes before the enemy's.
EMPTY, THEIR = "empty", "their "
LAST_BIT = 63
#: Names of the encodings that cells give, without and with the phases of the game.
CELL_INPUTS, PHASE_INPUTS = "cells", "cells by phase"
WRITE = """    rest = read{number}(position)
    while rest:
        square = lowest(rest)
        places[count] = {first} + square
        rest ^= bit(square)
        count += 1
"""
WRITE_PHASE = """    stage = phase(position)
    if stage:
        places[count] = {before} + stage
        count += 1
"""
Kernel = Callable[[Any], int]
Words = Mapping[str, NDArray[np.uint64]]


class Kind(NamedTuple):
    """A kind of pieces, or a relation that the rules give, such as a piece that can be captured.

    own, their: kernels of a position that return the squares of the side to move, and those of the
        other side, as the bits of a word.
    text: the text of these pieces on the game's `Board`; None for a relation.
    amount: whether the word is not of squares but has as many bits as there are of something, such
        as men borne off; no condition asks for it.
    """

    own: Kernel
    their: Kernel
    text: str | None = None
    amount: bool = False


@dataclass(frozen=True)
class Cells:
    """The bits by which words that kernels return hold the pieces on the game's `Board`.

    rows, columns: the size of the board.
    bits: by square of the board, as the side to move sees it, its bit, 0 to 63. Squares that are
        left out do not exist.
    kinds: kinds of pieces and relations by their names, which are words such as "man".
    swap: a kernel that returns the same board with the other side to move.
    turned: whether the side that moves second sees the board turned by 180 degrees.
    reach: greatest distance of two squares, in rows or columns, that a term relates.
    areas: squares with a name, as the side to move sees them: {"corner": (56, 49)}.
    row_names: names of the rows from the top. Default: numbers, with the back and the last row.
    alone: whether one agent moves; `swap` then returns the goal's board, and no kind is a piece.
    phases: the phases of the game for which n-tuples have tables of their own. Default: one.
    images: symmetries of the game for n-tuples, each as a permutation of the bits up to the highest
        one of a square.

    Raises ValueError if the bits are out of range or not distinct, or a name is not words.
    """

    rows: int
    columns: int
    bits: Mapping[int, int]
    kinds: Mapping[str, Kind]
    swap: Callable[[Any], Any]
    turned: bool = False
    reach: int = 2
    areas: Mapping[str, Sequence[int]] = field(default_factory=dict)
    row_names: Sequence[str] = ()
    alone: bool = False
    phases: Phases | None = None
    images: Sequence[tuple[int, ...]] = ()

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
        the outer lines of a small board) and the areas that the game names. Where all turns and
        mirrors of a square keep the rules, they are its lines from the edge inwards, and the
        squares of one that are alike.
        """
        found: dict[str, list[int]] = {"": list(self.bits)}
        if self.square:
            for square in self.bits:
                here = divmod(square, self.columns)
                line, place = sorted(min(step, self.rows - 1 - step) for step in here)
                name = f"{_ordinal(line)} line" if line else "edge"
                alike = f"{_ordinal(place)} square of the {name}" if place else "corner"
                found.setdefault(name, []).append(square)
                found.setdefault(alike, []).append(square)
            found.update({name: list(squares) for name, squares in self.areas.items()})
            return {name: frozenset(squares) for name, squares in found.items()}
        top, left = max(1, self.rows // 4), max(1, self.columns // 4)
        ends = {0: "back row", self.rows - 1: "last row"} if self.turned else {}
        ends = dict(enumerate(reversed(self.row_names))) or ends
        for square in self.bits:
            row, column = divmod(square, self.columns)
            number = self.rows - 1 - row
            found.setdefault(ends.get(number, f"{_ordinal(number)} row"), []).append(square)
            found.setdefault(f"{_ordinal(column)} column", []).append(square)
            if column in (0, self.columns - 1):
                found.setdefault("side edge", []).append(square)
            if top <= row < self.rows - top and left <= column < self.columns - left:
                found.setdefault("centre", []).append(square)
        found.update({name: list(squares) for name, squares in self.areas.items()})
        return {name: frozenset(squares) for name, squares in found.items()}

    @property
    def square(self) -> bool:
        """Whether all turns and mirrors of a square keep the rules."""
        return len(self.images) == 7

    def neighbour(self, square: int, offset: tuple[int, int]) -> int | None:
        """Returns the square so many rows below and columns right; None if it does not exist."""
        row, column = divmod(square, self.columns)
        row, column = row + offset[0], column + offset[1]
        other = row * self.columns + column
        inside = 0 <= row < self.rows and 0 <= column < self.columns
        return other if inside and other in self.bits else None

    def mask(self, squares: Any) -> int:
        """Returns the word of some squares."""
        return sum(1 << self.bits[square] for square in squares)

    def words(self, positions: Any) -> dict[str, NDArray[np.uint64]]:
        """Returns for each kind, as `man` and `their man`, its squares in many positions.

        The arrays, [2, positions], hold words: first as the side to move sees its own and the other
        side's pieces, then as the other side does. `empty` are the squares without a piece.
        """
        read = {}
        for name, kind in self.kinds.items():
            read[name], read[THEIR + name] = kind.own, kind.their
        both = FeatureSet.of_both_sides("words", read, self.swap).measure(positions, words=True)
        planes = both.view(np.uint64).T.reshape(2, len(read), -1)
        words = dict(zip(read, planes.transpose(1, 0, 2), strict=True))
        taken = np.zeros_like(planes[:, 0])
        for name in self.pieces():
            taken |= words[name] | words[THEIR + name]
        words[EMPTY] = np.uint64(self.mask(self.bits)) & ~taken
        return words

    @property
    def width(self) -> int:
        """One more than the highest bit of a square."""
        return max(self.bits.values()) + 1

    @cached_property
    def encoding(self) -> Encoding:
        """The pieces as inputs: width * state + bit; states are own and enemy kinds in turn."""
        return self._encoding(CELL_INPUTS)

    @cached_property
    def phased(self) -> Encoding:
        """The same inputs, and one for each of `phases` but the first, if there are any."""
        return self._encoding(PHASE_INPUTS) if self.phases else self.encoding

    def _encoding(self, name: str) -> Encoding:
        pieces = [self.kinds[name] for name in self.pieces()]
        read = [own for piece in pieces for own in (piece.own, piece.their)]
        lines = ["@kernel\ndef active(position, places):\n    count = 0\n"]
        lines += [WRITE.format(number=i, first=i * self.width) for i in range(len(read))]
        size, most = len(read) * self.width, len(self.bits)
        scope: dict[str, Any] = {"__name__": GENERATED, "kernel": kernel, "lowest": lowest}
        scope["bit"] = bit
        if name == PHASE_INPUTS and self.phases:
            lines.append(WRITE_PHASE.format(before=size - 1))
            scope["phase"] = self.phases.phase
            size, most = size + len(self.phases) - 1, most + 1
        scope |= {f"read{i}": own for i, own in enumerate(read)}
        scope["__text__"] = "".join([*lines, "    return count\n"])
        exec(compile(scope["__text__"], GENERATED, "exec"), scope)
        return Encoding(name, size, most, scope["active"])

    def pieces(self) -> list[str]:
        """Returns the names of the kinds that are pieces, not relations."""
        return [name for name, kind in self.kinds.items() if kind.text is not None]

    @property
    def of_a_board(self) -> bool:
        """Whether squares hold all that the kinds say: they are pieces, and no amounts."""
        return not self.alone and not any(kind.amount for kind in self.kinds.values())

    def amount(self, name: str) -> bool:
        """Returns whether a kind is an amount, which is on no squares."""
        return name in self.kinds and self.kinds[name].amount

    def shown(self, board: Any, position: Any, side: int) -> dict[int, str]:
        """Returns the kind of each square's content, as the side to move numbers the squares.

        The kinds are those of `words`; one that `kinds` lacks is called by its text on the board.
        """
        names = {kind.text: name for name, kind in self.kinds.items() if kind.text is not None}
        pieces = {}
        for square, (owner, text) in board.pieces(position).items():
            seen = self.rows * self.columns - 1 - square if self.turned and side == 1 else square
            pieces[seen] = (THEIR if owner != side else "") + names.get(text, repr(text))
        return pieces

    def held(self, position: Any) -> dict[int, str]:
        """Returns the pieces that the words of a position hold, as `shown` does."""
        words = self.words([position])
        names = [prefix + name for name in self.pieces() for prefix in ("", THEIR)]
        return {
            square: name
            for name in names
            for square, bit in self.bits.items()
            if int(words[name][0, 0]) >> bit & 1
        }


def _ordinal(number: int) -> str:
    number += 1
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number, 'th') }"

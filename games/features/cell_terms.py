"""Terms as data: pieces on squares, and what stands around them, counted over a board.

A `CellTerm` counts the squares on which its conjunction holds: an anchor, such as an own man, in a
zone of the board, such as the back row, and conditions on squares relative to it, such as an empty
square ahead. Everything is meant as the side to move sees it, so that one term serves both sides.
It is told in words, drawn as a little board, measured over many positions at once, and written as
the source of a kernel of a few shifts and a population count.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.features.cells import EMPTY, THEIR, Cells, Words
from games.kernels import word

__all__ = ["MOST_CONDITIONS", "OFF", "CellTerm", "Neighbours", "atoms"]

#: A square that does not exist.
OFF = "off"
MOST_CONDITIONS = 4
COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven"}
#: Last words of zones on which something is; it is in all others.
ON = ("row", "edge", "line", "point", "bar")
#: Words that the names of terms leave out.
SMALL = {"own", "the", "to", "a", "an"}

Offset = tuple[int, int]


@dataclass(frozen=True, order=True)
class CellTerm:
    """The number of squares on which a conjunction holds.

    It may hold in any direction where all turns and mirrors of a square keep the rules.

    anchor: what stands on the square itself: a kind, or EMPTY.
    zone: where the square is, by a name in `Cells.zones`; "" for anywhere.
    conditions: pairs of an offset (rows down, columns right, as the side to move sees them) and
        what stands there: a kind, "their " and a kind, EMPTY or OFF; sorted, each offset once.
    """

    anchor: str
    zone: str = ""
    conditions: tuple[tuple[Offset, str], ...] = ()

    @classmethod
    def of(cls, cells: Cells, plain: Any) -> CellTerm:
        """Returns the term of a list that `plain` made; ValueError if the cells have no such."""
        try:
            anchor, zone, conditions = plain
            term = cls(anchor, zone, tuple(((int(r), int(c)), a) for r, c, a in conditions))
            exist = {*dict(term.conditions).values()} <= {*atoms(cells)}
            exist &= term.anchor in {*atoms(cells), *cells.kinds} and term.anchor != OFF
            if exist and len(dict(term.conditions)) == len(conditions) <= MOST_CONDITIONS:
                term.squares(cells)
                return term
        except (KeyError, TypeError, ValueError):
            pass
        raise ValueError(f"expected a term over the cells of the game, found {plain!r:.100}")

    def plain(self) -> list[Any]:
        """Returns the term as a list of texts and numbers."""
        return [self.anchor, self.zone, [[*offset, atom] for offset, atom in self.conditions]]

    def also(self, offset: Offset, atom: str) -> CellTerm:
        """Returns the term with one more condition."""
        return CellTerm(self.anchor, self.zone, tuple(sorted([*self.conditions, (offset, atom)])))

    def images(self, cells: Cells) -> list[CellTerm]:
        """Returns the term in all directions in which it may hold, in a fixed order."""
        if not cells.square or not self.conditions:
            return [self]
        terms = set()
        for down, right, across in itertools.product((1, -1), (1, -1), (False, True)):
            turned = [((down * r, right * c), atom) for (r, c), atom in self.conditions]
            if across:
                turned = [((c, r), atom) for (r, c), atom in turned]
            terms.add(CellTerm(self.anchor, self.zone, tuple(sorted(turned))))
        return sorted(terms)

    def without(self) -> Iterator[CellTerm]:
        """Yields the terms with one condition less, and the one without the zone."""
        for i in range(len(self.conditions)):
            yield CellTerm(self.anchor, self.zone, self.conditions[:i] + self.conditions[i + 1 :])
        if self.zone:
            yield CellTerm(self.anchor, "", self.conditions)

    def squares(self, cells: Cells) -> frozenset[int]:
        """Returns the squares of the zone from which the conditions' squares exist, or do not."""
        return frozenset(
            square
            for square in cells.zones[self.zone]
            if all(
                (cells.neighbour(square, offset) is None) == (atom == OFF)
                for offset, atom in self.conditions
            )
        )

    def text(self, cells: Cells) -> str:
        """Returns the term in words, such as "own man on the back row with a king ahead"."""
        own = "" if cells.alone else "own "
        text = f"{'each ' if cells.amount(self.anchor) else own}{self.anchor}"
        if self.anchor == EMPTY:
            text = "empty square"
        if self.zone:
            text += f" {'on' if self.zone.endswith(ON) else 'in'} the {self.zone}"
        way = _distance if cells.square else _way
        parts = [
            f"{_atom_text(atom, own)} {way(offset, cells)}" for offset, atom in self.conditions
        ]
        if parts:
            head = ", ".join(parts[:-1])
            text += f" with {head}{' and ' * bool(head)}{parts[-1]}"
        return text

    def name(self, cells: Cells) -> str:
        """Returns the words as a name, such as `man_on_back_row_with_hole_ahead`."""
        text = self.text(cells).replace("empty square", "hole").replace("board's edge", "edge")
        words = re.split(r"[\s,-]+", text.replace("enemy", "their"))
        return "_".join(word for word in words if word not in SMALL)

    def drawing(self, cells: Cells) -> list[str]:
        """Returns the anchor's neighbourhood in rows, the side to move at the bottom.

        A kind is its first letter, a capital for own pieces, in brackets for the anchor; `o` is an
        empty square, `#` none at all, and `.` one that may hold anything.
        """
        last = -1 if cells.alone else 0  # a tile's word is where its home lies
        signs = {offset: f" {_sign(atom, last)} " for offset, atom in self.conditions}
        signs[0, 0] = f"[{_sign(self.anchor, last)}]"
        rows, columns = (range(min(axis), max(axis) + 1) for axis in zip(*signs, strict=True))
        return ["".join(signs.get((r, c), " . ") for c in columns).rstrip() for r in rows]

    def difference(self, around: Neighbours) -> NDArray[np.int8]:
        """Returns the count of the side to move less that of the other side, [positions].

        The count in the positions that they are compared with, if any, is subtracted.
        """
        counts = np.bitwise_count(around.held(self)).astype(np.int8)
        values = np.asarray(counts[0] - counts[1])
        return values if around.others is None else values - self.difference(around.others)

    def source(self, cells: Cells) -> str:
        """Returns a kernel's body; `_man`, `_their_man` … are kernels of `cells`."""
        masks = " | ".join(term._mask(cells) for term in self.images(cells))
        return f"return popcount({masks})"

    def _mask(self, cells: Cells) -> str:
        """Returns the word of the squares on which the term holds in its one direction."""
        squares = self.squares(cells)
        parts = [_call(self.anchor)]
        if len(squares) < len(cells.bits):
            parts.append(hex(word(cells.mask(squares))))
        for offset, atom in self.conditions:
            steps = _steps(cells, offset, squares)
            shifts = [
                _shifted(_call(atom), step, cells.width)
                + f" & {hex(word(cells.mask(some)))}" * (len(steps) > 1)
                for step, some in sorted(steps.items())
            ]
            if atom != OFF:
                parts.append(shifts[0] if len(shifts) == 1 else f"({' | '.join(shifts) or 0})")
        return " & ".join(parts)


class Neighbours:
    """The pieces around every square of many positions, for counting terms.

    cells: the cells of the game.
    words: as `Cells.words` returns them.
    others: the surroundings in the positions to compare with, one for each position, or None.
    """

    def __init__(self, cells: Cells, words: Words, others: Neighbours | None = None) -> None:
        self.cells = cells
        self.words = words
        self.others = others
        self._shifted: dict[tuple[Offset, str], NDArray[np.uint64]] = {}

    def take(self, chosen: NDArray[np.bool_]) -> Neighbours:
        """Returns the surroundings of the chosen positions."""
        words = {name: word[:, chosen] for name, word in self.words.items()}
        return Neighbours(self.cells, words, self.others and self.others.take(chosen))

    def held(self, term: CellTerm) -> NDArray[np.uint64]:
        """Returns the squares on which a term holds, as words of both sides, [2, positions]."""
        images = [self._held(image) for image in term.images(self.cells)]
        return images[0] if len(images) == 1 else np.bitwise_or.reduce(images)

    def _held(self, term: CellTerm) -> NDArray[np.uint64]:
        held, squares = self.words[term.anchor], term.squares(self.cells)
        if len(squares) < len(self.cells.bits):  # as `CellTerm.source`: amounts have more bits
            held = held & np.uint64(self.cells.mask(squares))
        for offset, atom in term.conditions:
            if atom != OFF:
                held = held & self._around(offset, atom)
        return held

    def board_squares(self, term: CellTerm, side: int) -> list[int]:
        """Returns the squares of the game's `Board` on which a term holds in the first position.

        side: the side to move there; what holds for the other side is included. An amount has none.
        """
        if self.cells.amount(term.anchor):
            return []
        last = self.cells.rows * self.cells.columns - 1
        viewers = (side,) if self.cells.alone else (side, 1 - side)
        return sorted(
            last - square if self.cells.turned and viewer == 1 else square
            for viewer, (held, *_) in zip(viewers, self.held(term), strict=False)
            for square, bit in self.cells.bits.items()
            if int(held) >> bit & 1
        )

    def _around(self, offset: Offset, atom: str) -> NDArray[np.uint64]:
        """Returns the squares that see something at an offset, as words, [2, positions]."""
        key = (offset, atom)
        if key not in self._shifted:
            shifted = np.zeros_like(self.words[atom])
            for step, squares in _steps(self.cells, offset, self.cells.bits).items():
                word = self.words[atom]
                word = word >> np.uint64(step) if step > 0 else word << np.uint64(-step)
                shifted |= word & np.uint64(self.cells.mask(squares))
            self._shifted[key] = shifted
        return self._shifted[key]


def atoms(cells: Cells) -> list[str]:
    """Returns the kinds that a condition may require of a square, OFF last."""
    kinds = [name for name, kind in cells.kinds.items() if not kind.amount]
    if cells.alone:
        return [*kinds, OFF]
    return [*(prefix + name for name in kinds for prefix in ("", THEIR)), EMPTY, OFF]


def _atom_text(atom: str, own: str) -> str:
    if atom in (EMPTY, OFF):
        return "an empty square" if atom == EMPTY else "the board's edge"
    if atom.startswith(THEIR):
        return f"an enemy {atom.removeprefix(THEIR)}"
    return f"an {own}{atom}" if own else f"a {atom}"


def _sign(atom: str, word: int) -> str:
    if atom in (EMPTY, OFF):
        return "o" if atom == EMPTY else "#"
    sign = atom.removeprefix(THEIR).split()[word][0]
    return sign.lower() if atom.startswith(THEIR) else sign.upper()


def _way(offset: Offset, cells: Cells) -> str:
    """Returns the way to an offset in words, such as "two ahead to the left"."""
    down, right = offset
    ahead, behind = ("ahead", "behind") if cells.turned else ("above", "below")
    along = behind if down > 0 else ahead if down else ""
    across = ("to the right" if right > 0 else "to the left") if right else ""
    steps = [COUNTS.get(abs(count), "") for count in offset]
    if abs(down) == abs(right):
        return f"{steps[0]} {along} {across}".strip()
    both = zip(steps, (along, across), strict=True)
    parts = [f"{step} {way}".strip() for step, way in both if way]
    return " and ".join(part if len(parts) == 1 or " " in part else f"one {part}" for part in parts)


def _distance(offset: Offset, cells: Cells) -> str:
    """Returns how far away an offset is in any direction, such as "two away diagonally"."""
    near, far = sorted(map(abs, offset))
    steps = COUNTS.get(far, "next")
    if near not in (0, far):
        return f"{steps} away and {COUNTS.get(near, 'one')} aside"
    return f"{steps} {'to it' if far == 1 else 'away'}{' diagonally' * (near > 0)}"


def _call(atom: str) -> str:
    return f"_{atom.replace(' ', '_')}(position)"


def _shifted(call: str, step: int, width: int) -> str:
    """Returns the text of a word moved down by `step` bits; only bit 63 needs the functions."""
    if width < 64:
        return f"({call} {'>>' if step > 0 else '<<'} {abs(step)})"
    return f"shift_{'right' if step > 0 else 'left'}({call}, {abs(step)})"


def _steps(cells: Cells, offset: Offset, squares: Any) -> dict[int, list[int]]:
    """Returns the squares that have a neighbour at an offset, by the bits from each to that."""
    steps: dict[int, list[int]] = {}
    for square in squares:
        other = cells.neighbour(square, offset)
        if other is not None:
            steps.setdefault(cells.bits[other] - cells.bits[square], []).append(square)
    return steps

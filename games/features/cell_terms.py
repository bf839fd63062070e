"""Terms as data: pieces on squares, and what stands around them, counted over a board.

A `CellTerm` counts the squares on which its conjunction holds: an anchor, such as an own man, in a
zone of the board, such as the back row, and conditions on squares relative to it, such as an empty
square ahead. Everything is meant as the side to move sees it, so that one term serves both sides.
It is told in words, drawn as a little board, measured over many positions at once, and written as
the source of a kernel of a few shifts and a population count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.features.cells import Cells, Words

__all__ = ["EMPTY", "MOST_CONDITIONS", "OFF", "CellTerm", "Neighbours", "atoms"]

#: What may stand on a square beside the kinds of pieces; OFF for a square that does not exist.
EMPTY, OFF = "empty", "off"
THEIR = "their "
MOST_CONDITIONS = 4
COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven"}

Offset = tuple[int, int]


@dataclass(frozen=True, order=True)
class CellTerm:
    """The number of squares on which a conjunction holds.

    anchor: what stands on the square itself: a kind, or EMPTY.
    zone: where the square is, by a name in `Cells.zones`; "" for anywhere.
    conditions: pairs of an offset (rows down, columns right, as the side to move sees them) and
        what stands there: a kind, "their " and a kind, EMPTY or OFF; sorted, each offset once.
    """

    anchor: str
    zone: str = ""
    conditions: tuple[tuple[Offset, str], ...] = ()

    def also(self, offset: Offset, atom: str) -> CellTerm:
        """Returns the term with one more condition."""
        return CellTerm(self.anchor, self.zone, tuple(sorted([*self.conditions, (offset, atom)])))

    def without(self) -> Iterator[CellTerm]:
        """Yields the terms with one condition less, and the one without the zone."""
        for i in range(len(self.conditions)):
            yield CellTerm(self.anchor, self.zone, self.conditions[:i] + self.conditions[i + 1 :])
        if self.zone:
            yield CellTerm(self.anchor, "", self.conditions)

    # --- words --------------------------------------------------------------------------------

    def text(self, cells: Cells) -> str:
        """Returns the term in words, such as "own man on the back row with a king ahead"."""
        text = "empty square" if self.anchor == EMPTY else f"own {self.anchor}"
        if self.zone:
            text += f" {'on' if self.zone.endswith(('row', 'edge')) else 'in'} the {self.zone}"
        parts = [f"{_atom_text(atom)} {_way(offset, cells)}" for offset, atom in self.conditions]
        if parts:
            head = ", ".join(parts[:-1])
            text += f" with {head}{' and ' * bool(head)}{parts[-1]}"
        return text

    def name(self, cells: Cells) -> str:
        """Returns the words as a name, such as `man_on_back_row_with_hole_ahead`."""
        words = ["hole" if self.anchor == EMPTY else self.anchor]
        if self.zone:
            words += ["on" if self.zone.endswith(("row", "edge")) else "in", self.zone]
        for i, (offset, atom) in enumerate(self.conditions):
            what = {EMPTY: "hole", OFF: "edge"}.get(atom, atom)
            words += ["and" if i else "with", what, _way(offset, cells).replace("to the ", "")]
        return "_".join(words).replace(" ", "_").replace("-", "_")

    def drawing(self, cells: Cells) -> list[str]:
        """Returns the anchor's neighbourhood in rows, the side to move at the bottom.

        A kind is its first letter, a capital for own pieces, in brackets for the anchor; `o` is an
        empty square, `#` none at all, and `.` one that may hold anything.
        """
        signs = {offset: _sign(atom) for offset, atom in self.conditions}
        signs[0, 0] = _sign(self.anchor)
        up, left = (min(offset[axis] for offset in signs) for axis in (0, 1))
        down, right = (max(offset[axis] for offset in signs) for axis in (0, 1))
        rows = []
        for row in range(up, down + 1):
            line = " ".join(signs.get((row, column), ".") for column in range(left, right + 1))
            line = f" {line} "
            if row == 0:
                place = 1 - 2 * left
                line = f"{line[: place - 1]}[{line[place]}]{line[place + 2 :]}"
            rows.append(line.rstrip())
        return rows

    # --- values -------------------------------------------------------------------------------

    def difference(self, around: Neighbours) -> NDArray[np.int8]:
        """Returns the count of the side to move less that of the other side, [positions]."""
        held = around.held(self)
        counts = np.bitwise_count(held).astype(np.int8)
        return np.asarray(counts[0] - counts[1])

    def source(self, cells: Cells) -> list[str]:
        """Returns the lines of a kernel's body; `_man`, `_their_man` … are kernels of `cells`."""
        count = f"return popcount({self._expression(cells, other_view=False)})"
        if cells.side is None:
            return [count]
        other = f"return popcount({self._expression(cells, other_view=True)})"
        return ["if _side(position):", f"    {other}", count] if other != count else [count]

    def _expression(self, cells: Cells, *, other_view: bool) -> str:
        squares = self.squares(cells)
        parts = [_call(self.anchor)]
        if len(squares) < len(cells.bits):
            parts.append(hex(cells.mask(squares, other_view=other_view)))
        for offset, atom in self.conditions:
            if atom != OFF:
                parts.append(_shifted(cells, offset, atom, squares, other_view=other_view))
        return " & ".join(parts)

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


class Neighbours:
    """What stands around every square of many positions, for counting terms.

    cells: the cells of the game.
    words: as `Cells.words` returns them.
    """

    def __init__(self, cells: Cells, words: Words) -> None:
        self.cells = cells
        self.words = words
        self._shifted: dict[tuple[Offset, str], NDArray[np.uint64]] = {}

    def held(self, term: CellTerm) -> NDArray[np.uint64]:
        """Returns the squares on which a term holds, as words of both sides, [2, positions]."""
        held = self.words[term.anchor] & np.uint64(self.cells.mask(term.squares(self.cells)))
        for offset, atom in term.conditions:
            if atom != OFF:
                held &= self.around(offset, atom)
        return held

    def around(self, offset: Offset, atom: str) -> NDArray[np.uint64]:
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
    """Returns what conditions may ask of a square, OFF last."""
    return [*(prefix + name for name in cells.kinds for prefix in ("", THEIR)), EMPTY, OFF]


def _atom_text(atom: str) -> str:
    if atom in (EMPTY, OFF):
        return "an empty square" if atom == EMPTY else "the board's edge"
    return f"an enemy {atom.removeprefix(THEIR)}" if atom.startswith(THEIR) else f"an own {atom}"


def _sign(atom: str) -> str:
    if atom in (EMPTY, OFF):
        return "o" if atom == EMPTY else "#"
    return atom.removeprefix(THEIR)[0].lower() if atom.startswith(THEIR) else atom[0].upper()


def _way(offset: Offset, cells: Cells) -> str:
    """Returns the way to an offset in words, such as "two ahead to the left"."""
    down, right = offset
    up_name, down_name = ("ahead", "behind") if cells.turned else ("above", "below")
    along = down_name if down > 0 else up_name if down else ""
    across = ("to the right" if right > 0 else "to the left") if right else ""
    steps = [COUNTS.get(abs(count), "") for count in (down, right)]
    if abs(down) == abs(right):
        return f"{steps[0]} {along} {across}".strip()
    both = zip(steps, (along, across), strict=True)
    parts = [f"{step} {way}".strip() for step, way in both if way]
    return " and ".join(part if len(parts) == 1 or " " in part else f"one {part}" for part in parts)


def _call(atom: str) -> str:
    return f"_{atom.replace(' ', '_')}(position)"


def _steps(
    cells: Cells, offset: Offset, squares: Any, *, other_view: bool = False
) -> dict[int, list[int]]:
    """Returns the squares that have a neighbour at an offset, by the bits from each to that."""
    steps: dict[int, list[int]] = {}
    for square in squares:
        other = cells.neighbour(square, offset)
        if other is not None:
            step = cells.bit(other, other_view=other_view) - cells.bit(
                square, other_view=other_view
            )
            steps.setdefault(step, []).append(square)
    return steps


def _shifted(cells: Cells, offset: Offset, atom: str, squares: Any, *, other_view: bool) -> str:
    """Returns text for those of the squares that see something at an offset; others may be in it
    where the anchor's mask excludes them.
    """
    steps = _steps(cells, offset, squares, other_view=other_view)
    parts = []
    for step, members in sorted(steps.items()):
        text = f"{_call(atom)} {'>>' if step > 0 else '<<'} {abs(step)}"
        if len(steps) > 1:
            text = f"({text}) & {hex(cells.mask(members, other_view=other_view))}"
        parts.append(f"({text})")
    return parts[0] if len(parts) == 1 else f"({' | '.join(parts)})" if parts else "0"

"""Groups of cells whose contents together are the index of a table: the inputs of n-tuple networks.

A cell has a state, such as empty, own stone, opponent's stone. A group of n cells looks up one of
states^n weights, so that it learns what its cells mean together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from games.features.encoding import Encoding

__all__ = ["Group", "TupleLayout"]

#: The maximum number of weights of a layout: a quarter of a gigabyte, the most that a file may
#: hold.
MOST_WEIGHTS = 1 << 26
#: The maximum number of groups of a layout, because indices are kept on the stack of a searching
#: thread.
MOST_GROUPS = 1024


@dataclass(frozen=True)
class Group:
    """Some cells, looked up together.

    cells: the cells.
    classes: for each state its class; states of one class are not told apart. () tells all apart.
    """

    cells: tuple[int, ...]
    classes: tuple[int, ...] = ()


@dataclass(frozen=True)
class TupleLayout:
    """The tables of an n-tuple network.

    encoding: an encoding whose input `cells * (state - 1) + cell` is 1 if a cell has a state from 1
        on; none is 1 if its state is 0. At most one of the remaining inputs, fewer than there are
        cells, is 1. There are separate tables for each of these, and for none.
    cells: number of cells.
    groups: the groups, each with a table of its own.
    images: symmetries as permutations of the cells: a group looks up its table once more with the
        cells that they put in the place of its own.
    turns: whether the last input of all, which is then no phase, says that the other inputs
        describe the position for the other side: the sum of the weights is negated.

    Raises ValueError if cells or classes do not fit the encoding, or there are too many weights.
    """

    encoding: Encoding
    cells: int
    groups: tuple[Group, ...]
    images: tuple[tuple[int, ...], ...] = ()
    turns: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.cells <= self.encoding.size - self.turns:
            raise ValueError(
                f"cells: expected 1 to {self.encoding.size - self.turns}, found {self.cells}"
            )
        if not 1 <= len(self.groups) * (len(self.images) + 1) <= MOST_GROUPS:
            raise ValueError(
                f"groups: expected 1 to {MOST_GROUPS} together with their images, found"
                f" {len(self.groups)} and {len(self.images)} images"
            )
        for image in self.images:
            if sorted(image) != list(range(self.cells)):
                raise ValueError(f"images: expected permutations of {self.cells} cells")
        for group in self.groups:
            distinct = set(group.cells)
            wrong = not distinct or not distinct <= set(range(self.cells))
            if wrong or len(distinct) < len(group.cells):
                raise ValueError(
                    f"groups: expected different cells from 0 to {self.cells - 1}, found"
                    f" {list(group.cells)[:20]}"
                )
            classes = group.classes or range(self.states)
            if len(classes) != self.states or set(classes) != set(range(max(classes) + 1)):
                raise ValueError(
                    f"groups: expected a class for each of {self.states} states, from 0 on and"
                    f" without gaps, found {list(classes)[:20]}"
                )
        if self.size > MOST_WEIGHTS:
            raise ValueError(f"groups: expected at most {MOST_WEIGHTS} weights, found {self.size}")

    @property
    def states(self) -> int:
        """Number of states of a cell."""
        return (self.encoding.size - self.turns) // self.cells + 1

    @property
    def phases(self) -> int:
        """Number of sets of tables."""
        return (self.encoding.size - self.turns) % self.cells + 1

    @property
    def turn(self) -> int:
        """The input by which the sum is negated, or -1 without one."""
        return self.encoding.size - 1 if self.turns else -1

    @property
    def size(self) -> int:
        """Number of weights of all sets of tables."""
        return self.phases * sum(self._sizes)

    @property
    def _sizes(self) -> list[int]:
        return [(max(g.classes or (self.states - 1,)) + 1) ** len(g.cells) for g in self.groups]

    @cached_property
    def lookups(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The indices of inputs: for each lookup its first index [lookups], and the number that
        each input adds to the index of each lookup, [inputs + 1, lookups]; the last row, of
        padding, is 0.
        """
        starts, columns, start = [], [], 0
        for group, size in zip(self.groups, self._sizes, strict=True):
            classes = np.array(group.classes or range(self.states))
            seen = dict.fromkeys([
                group.cells, *(tuple(image[cell] for cell in group.cells) for image in self.images)
            ])  # fmt: skip
            for cells in seen:
                column = np.zeros(self.encoding.size + 1, dtype=np.int64)
                for place, cell in enumerate(cells):
                    for state in range(1, self.states):
                        column[self.cells * (state - 1) + cell] = (classes[state] - classes[0]) * (
                            classes.max() + 1
                        ) ** place
                starts.append(start + sum(
                    int(classes[0]) * (int(classes.max()) + 1) ** i for i in range(len(cells))
                ))  # fmt: skip
                columns.append(column)
            start += size
        offsets = np.array(columns).T.copy()
        for phase in range(1, self.phases):
            offsets[self.cells * (self.states - 1) + phase - 1] = phase * start
        return np.array(starts, dtype=np.int32), np.ascontiguousarray(offsets, dtype=np.int32)


def straight_lines(columns: int, rows: int, length: int) -> Sequence[tuple[int, ...]]:
    """Returns all lines of `length` cells on a board, cells numbered row by row."""
    steps = ((1, 0), (0, 1), (1, 1), (1, -1))
    return [
        tuple(columns * (row + i * up) + column + i * across for i in range(length))
        for column in range(columns)
        for row in range(rows)
        for across, up in steps
        if column + (length - 1) * across < columns and 0 <= row + (length - 1) * up < rows
    ]


def blocks(columns: int, rows: int, width: int, height: int) -> Sequence[tuple[int, ...]]:
    """Returns all blocks of cells of this size on a board, cells numbered row by row."""
    return [
        tuple(columns * (row + j) + column + i for j in range(height) for i in range(width))
        for column in range(columns - width + 1)
        for row in range(rows - height + 1)
    ]


def unlike(
    groups: Sequence[tuple[int, ...]], images: Sequence[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """Returns the groups without those whose cells are an image of an earlier one's."""
    groups_left: dict[frozenset[int], tuple[int, ...]] = {}
    for group in groups:
        sets = [frozenset(group), *(frozenset(image[c] for c in group) for image in images)]
        if not any(cells in groups_left for cells in sets):
            groups_left[sets[0]] = group
    return list(groups_left.values())

"""The star of Chinese Checkers: 121 cells, their neighbours, and the triangles of its points.

Cells are numbered row by row from the top, as in OpenSpiel. Rows have 1, 2, 3, 4, 13, 12, 11, 10,
9, 10, ... cells; in a row, columns are two apart, and those of the next row lie between them.
A set of cells is two words: bit c of the first is cell c, bit c of the second is cell c + 61.
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "CELLS",
    "COLUMNS",
    "DIRECTIONS",
    "DISTANCES",
    "HIGH",
    "HOPS",
    "LOW",
    "NEIGHBOURS",
    "POINTS",
    "ROWS",
    "SEATS",
    "both_words",
]

#: The number of cells in each row.
LENGTHS = (1, 2, 3, 4, 13, 12, 11, 10, 9, 10, 11, 12, 13, 4, 3, 2, 1)
CELLS = sum(LENGTHS)
#: Cells of the first word.
LOW = 61
HIGH = CELLS - LOW
#: Up left, up right, left, right, down left, down right: steps of rows and columns.
DIRECTIONS = ((-1, -1), (-1, 1), (0, -2), (0, 2), (1, -1), (1, 1))
#: For each number of players the points at which they begin: north, clockwise to north-west.
SEATS = {2: (0, 3), 3: (0, 2, 4), 4: (0, 1, 3, 4), 6: (0, 1, 2, 3, 4, 5)}

ROWS = tuple(row for row, length in enumerate(LENGTHS) for _ in range(length))
COLUMNS = tuple(13 - length + 2 * i for length in LENGTHS for i in range(length))
_AT = {place: cell for cell, place in enumerate(zip(ROWS, COLUMNS, strict=True))}


def _reached(cell: int, steps: int) -> list[int]:
    """Returns the cells some steps away in each direction, -1 for none."""
    row, column = ROWS[cell], COLUMNS[cell]
    return [_AT.get((row + steps * down, column + steps * right), -1) for down, right in DIRECTIONS]


#: [cell, direction]: the next cell, and the one behind it; -1 off the star.
NEIGHBOURS = np.array([_reached(cell, 1) for cell in range(CELLS)], dtype=np.int64)
HOPS = np.array([_reached(cell, 2) for cell in range(CELLS)], dtype=np.int64)


def _steps(cell: int, other: int) -> int:
    """Returns the number of steps from one cell to another on an empty star."""
    down = abs(ROWS[cell] - ROWS[other])
    right = abs(COLUMNS[cell] - COLUMNS[other])
    return down + max(0, right - down) // 2


def _points() -> tuple[tuple[int, ...], ...]:
    """Returns the ten cells of each point: those more than four steps from the middle."""
    middle = CELLS // 2
    outside = [cell for cell in range(CELLS) if _steps(cell, middle) > 4]
    return tuple(tuple(cell for cell in outside if _steps(cell, tip) <= 3) for tip in TIPS)


#: The tip of each point, from north clockwise.
TIPS = (0, 22, 110, 120, 98, 10)
#: The ten cells of each point.
POINTS = _points()
#: [point, cell]: steps from a cell to the tip of the point that is opposite to `point`.
DISTANCES = np.array(
    [[_steps(cell, TIPS[(point + 3) % 6]) for cell in range(CELLS)] for point in range(6)],
    dtype=np.int64,
)


def both_words(cells: tuple[int, ...] | list[int]) -> tuple[int, int]:
    """Returns a set of cells as two words."""
    return (
        sum(1 << cell for cell in cells if cell < LOW),
        sum(1 << cell - LOW for cell in cells if cell >= LOW),
    )

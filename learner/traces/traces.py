"""Traces in memory: for each position its terms, and what it was worth.

The value of a position is a sum of weights times terms, whatever engine has computed these. A term
that changes its weight in the course of a game is a pair, `NAME.mg` and `NAME.eg`: the first counts
as far as the phase is 1, the opening, the second as far as it is 0, the ending.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from learner.regression.matrix import Matrix

__all__ = ["TraceError", "Traces", "pairs", "table_of"]

Floats = NDArray[np.float64]


class TraceError(ValueError):
    """Traces that cannot be fitted, with the place of the error."""


@contextlib.contextmanager
def table_of(path: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Opens a CSV table; returns the sign between its cells, and its lines, the header first.

    The sign is a comma, or a semicolon or tab if the header has no comma; numbers may then have a
    decimal comma. Raises TraceError for text that is not UTF-8 or not a table, and OSError.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = file.readline()
            file.seek(0)
            sign = next((sign for sign in ",;\t" if sign in header), ",")
            yield sign, iter(file.readline, "")
    except UnicodeDecodeError:
        raise TraceError(f"{path}: expected text in UTF-8, found other bytes") from None
    except csv.Error as error:
        raise TraceError(f"{path}: expected a table, found one that is damaged: {error}") from None


def pairs(names: Sequence[str]) -> dict[str, str]:
    """Returns the tapered pairs: the `.eg` name for each `.mg` name.

    Raises TraceError if one of a pair is missing.
    """
    present = set(names)
    for name in names:
        for own, other in ((".mg", ".eg"), (".eg", ".mg")):
            wanted = name.removesuffix(own) + other
            if name.endswith(own) and wanted not in present:
                raise TraceError(f"terms: expected {wanted} beside {name}, found none")
    return {name: name[:-3] + ".eg" for name in names if name.endswith(".mg")}


@dataclass(frozen=True, eq=False)
class Traces:
    """Rows of terms, and what is known of each row.

    names: the terms, in the order of the columns.
    matrix: the terms of the rows; those of tapered pairs are already multiplied by their share.
    result: [rows], 0 for a loss, 1 for a win, or an expected score; None if not known.
    value: [rows], in the engine's own unit; None if not known.
    game: [rows], the number of each row's game, from 0 without gaps.
    weight: [rows], how much each row counts.
    by_game: whether games are known; otherwise each row counts as a game.
    """

    names: tuple[str, ...]
    matrix: Matrix
    result: Floats | None
    value: Floats | None
    game: NDArray[np.int64]
    weight: Floats
    by_game: bool

    def __len__(self) -> int:
        return len(self.matrix)

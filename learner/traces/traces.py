"""Traces in memory: for each position its terms, and what it was worth.

The value of a position is a sum of weights times terms, whatever engine has computed these. A term
that changes its weight in the course of a game is a pair, `NAME.mg` and `NAME.eg`: the first counts
as far as the phase is 1, the opening, the second as far as it is 0, the ending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learner.fit.matrix import Matrix

__all__ = ["TraceError", "Traces", "pairs"]

Floats = NDArray[np.float64]


class TraceError(ValueError):
    """Traces that cannot be fitted, with the place of the error."""


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

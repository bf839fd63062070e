"""Match equity tables: the chance to win a match from each score.

Tables of others are read in GNU Backgammon's XML form; `own_table` makes our own.
"""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["LONGEST", "MatchEquities", "read_match_equities"]

#: The longest match, in points.
LONGEST = 64
_MOST_CHARACTERS = 1_000_000


@dataclass(frozen=True, eq=False)
class MatchEquities:
    """Chances to win a match.

    before: [n, n], by the points that a side and its opponent lack, less one; where one of them
        lacks a single point, before the Crawford game.
    after: [n], the chance of the trailing side by the points that it lacks, less one, when the
        Crawford game is over and its opponent lacks one point.
    name: where the table is from.
    """

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    name: str = ""

    @property
    def digest(self) -> str:
        """A text that differs from table to table."""
        return hashlib.sha256(self.before.tobytes() + self.after.tobytes()).hexdigest()[:16]

    def chance(self, own: int, theirs: int, *, crawford_over: bool) -> float:
        """Returns the chance of a side that lacks `own` points against one that lacks `theirs`.

        crawford_over: whether the Crawford game has been played.

        Raises ValueError if the table is too small.
        """
        if own <= 0 or theirs <= 0:
            return 1.0 if own <= 0 else 0.0
        if max(own, theirs) > len(self.after):
            raise ValueError(
                f"match equities: expected at most {len(self.after)} points, found"
                f" {max(own, theirs)}"
            )
        if crawford_over and theirs == 1:
            return float(self.after[own - 1])
        if crawford_over and own == 1:
            return 1.0 - float(self.after[theirs - 1])
        return float(self.before[own - 1, theirs - 1])


def read_match_equities(text: str) -> MatchEquities:
    """Returns a table in GNU Backgammon's XML form, with explicit rows.

    Raises ValueError if the text is not such a table: expected are a square table
    `pre-crawford-table` of at least 2 rows and a `post-crawford-table` for both players, with
    numbers from 0 to 1.
    """
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(
            f"match equities: expected at most {_MOST_CHARACTERS} characters, found {len(text)}"
        )
    if "<!ENTITY" in text:
        raise ValueError("match equities: expected no entities, found <!ENTITY")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise ValueError(f"match equities: expected XML, found a text with {error}") from None
    before = _rows(root, "pre-crawford-table")
    after = _rows(root, "post-crawford-table")
    size = len(before)
    if not 2 <= size <= LONGEST or any(len(row) < size for row in before):
        raise ValueError(
            f"match equities: expected 2 to {LONGEST} rows of as many numbers, found {size} rows"
        )
    if len(after) != 1 or len(after[0]) < size:
        raise ValueError(
            f"match equities: expected {size} numbers after the Crawford game, found"
            f" {len(after[0]) if after else 0}"
        )
    table = np.array([row[:size] for row in before])
    if np.abs(table + table.T - 1.0).max() > 0.001:
        raise ValueError("match equities: expected chances of both sides with the sum 1")
    name = root.findtext(".//name") or ""
    return MatchEquities(table, np.array(after[0][:size]), " ".join(name.split())[:80])


def _rows(root: ElementTree.Element, name: str) -> list[list[float]]:
    """Returns the rows of numbers of the first table with a name."""
    table = root.find(f".//{name}")
    if table is None or table.get("type") != "explicit":
        kind = "none" if table is None else repr(table.get("type"))
        raise ValueError(f"match equities: expected an explicit {name}, found {kind}")
    rows = []
    for row in table.findall("row"):
        numbers = []
        for entry in row.findall("me"):
            word = (entry.text or "").strip()
            if (
                re.fullmatch(r"[01]?(?:\.[0-9]{1,20})?", word) is None
                or not word
                or float(word) > 1
            ):
                raise ValueError(
                    f"match equities: expected numbers from 0 to 1, found {word[:40]!r}"
                )
            numbers.append(float(word))
        rows.append(numbers)
    return rows

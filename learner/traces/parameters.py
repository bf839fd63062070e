"""The freedom of a fit: weights by term, some of them fixed, bounded or scaled together."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learner.traces.traces import TraceError, table_of

__all__ = ["Parameters", "Term", "parameters", "read_terms"]

Floats = NDArray[np.float64]
COLUMNS = ("term", "weight", "fixed", "least", "most", "group")


@dataclass(frozen=True)
class Term:
    """Constraints on the weight of a term.

    weight: where it starts.
    fixed: whether it stays there.
    least, most: its bounds.
    group: terms of one group keep the proportions of their weights, and learn a common scale; those
        that start with the same weight therefore share it.
    """

    weight: float = 0.0
    fixed: bool = False
    least: float = -math.inf
    most: float = math.inf
    group: str = ""


@dataclass(frozen=True)
class Parameters:
    """The numbers that are learned, and how they make the weights: base + factor * number[place].

    names: the first term of each number.
    base, factor, place: [terms].
    start, low, high: [numbers], where they start and their bounds.
    """

    names: tuple[str, ...]
    base: Floats
    factor: Floats
    place: NDArray[np.int32]
    start: Floats
    low: Floats
    high: Floats

    def weights(self, numbers: Any) -> Floats:
        """Returns the weights of the terms."""
        return self.base + self.factor * np.asarray(numbers, dtype=np.float64)[self.place]


def parameters(names: Sequence[str], asked: dict[str, Term], absent: Sequence[str]) -> Parameters:
    """Returns the numbers to learn for these terms.

    absent: terms that never occur, which keep their weights.

    Raises TraceError for terms that do not exist, for bounds that cross or belong to a member of a
    group, for a weight of 0 in a group, and if nothing is left to learn.
    """
    unknown = [name for name in asked if name not in names]
    if unknown:
        raise TraceError(f"terms: expected those of the traces, found {', '.join(unknown[:8])}")
    numbers: list[tuple[str, float, float, float]] = []
    groups: dict[str, int] = {}
    base, factor = np.zeros(len(names)), np.zeros(len(names))
    place = np.zeros(len(names), dtype=np.int32)
    for i, name in enumerate(names):
        term = asked.get(name, Term())
        if not term.least <= term.most:
            raise TraceError(
                f"{name}: expected bounds in order, found {term.least:g} above {term.most:g}"
            )
        if term.group and (term.fixed or term.least > -math.inf or term.most < math.inf):
            raise TraceError(f"{name}: expected a group, or bounds, or a fixed weight, found more")
        if term.group and term.weight == 0:
            raise TraceError(f"{name}: expected a weight other than 0 in a group, found 0")
        if term.fixed or name in absent:
            base[i] = term.weight
            continue
        factor[i], place[i] = term.weight if term.group else 1.0, len(numbers)
        if term.group in groups:
            place[i] = groups[term.group]
        elif term.group:
            groups[term.group] = len(numbers)
            numbers.append((name, 1.0, -math.inf, math.inf))
        else:
            start = min(max(term.weight, term.least), term.most)
            numbers.append((name, start, term.least, term.most))
    if not numbers:
        raise TraceError("terms: expected one to learn, found all of them fixed or absent")
    learned, *bounds = zip(*numbers, strict=True)
    starts, low, high = (np.array(column, dtype=np.float64) for column in bounds)
    return Parameters(learned, base, factor, place, starts, low, high)


def read_terms(path: Path) -> dict[str, Term]:
    """Returns the limits and groups in a table of terms, such as an earlier fit's `weights.csv`.

    Its columns are `term`, and any of `weight`, `fixed` (1 or empty), `least`, `most` and
    `group`; others are left aside. Raises TraceError that names file, row and column.
    """
    with table_of(path) as (sign, file):
        rows = list(csv.DictReader(file, delimiter=sign))
    terms: dict[str, Term] = {}
    for number, row in enumerate(rows, 2):
        cells = {name: (row.get(name) or "").strip() for name in COLUMNS}
        name = cells["term"]
        if not name or name in terms:
            wanted = "the name of a term" if not name else "each term once"
            raise TraceError(
                f"{path}, row {number}, column term: expected {wanted}, found {name!r}"
            )
        numbers = {"weight": 0.0, "least": -math.inf, "most": math.inf}
        for column in numbers:
            if cells[column]:
                try:
                    numbers[column] = float(cells[column])
                except ValueError:
                    numbers[column] = math.nan
                if math.isnan(numbers[column]):
                    raise TraceError(
                        f"{path}, row {number}, column {column}: expected a number, found"
                        f" {cells[column]!r}"
                    )
        if cells["fixed"] not in ("", "0", "1"):
            raise TraceError(
                f"{path}, row {number}, column fixed: expected 1 or nothing, found"
                f" {cells['fixed']!r}"
            )
        fixed = cells["fixed"] == "1"
        terms[name] = Term(**numbers, fixed=fixed, group=cells["group"])
    return terms

"""What a fit may change: weights by term, some of them fixed, bounded, tied or scaled together."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learner.traces.traces import TraceError

__all__ = ["Parameters", "Term", "parameters", "read_terms"]

Floats = NDArray[np.float64]
COLUMNS = ("term", "weight", "fixed", "least", "most", "tied", "group")


@dataclass(frozen=True)
class Term:
    """What is asked of the weight of a term.

    weight: where it starts.
    fixed: whether it stays there.
    least, most: its bounds.
    tied: a term whose weight it shares; "" for none.
    group: terms of one group keep the proportions of their weights, and learn a common scale.
    """

    weight: float = 0.0
    fixed: bool = False
    least: float = -math.inf
    most: float = math.inf
    tied: str = ""
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


@dataclass
class _Numbers:
    names: list[str] = field(default_factory=list)
    start: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def add(self, name: str, start: float, low: float, high: float) -> int:
        self.names.append(name)
        self.start.append(min(max(start, low), high))
        self.low.append(low)
        self.high.append(high)
        return len(self.names) - 1


def parameters(names: Sequence[str], asked: dict[str, Term], absent: Sequence[str]) -> Parameters:
    """Returns the numbers to learn for these terms.

    absent: terms that never occur, which keep their weights.

    Raises TraceError for terms that do not exist, tied to what is fixed or tied itself, for bounds
    that cross or stand beside a tie or a group, and if nothing is left to learn.
    """
    unknown = [name for name in asked if name not in names]
    if unknown:
        raise TraceError(f"terms: expected those of the traces, found {', '.join(unknown[:8])}")
    made, groups = _Numbers(), dict[str, int]()
    own: dict[str, int] = {}
    base, factor = np.zeros(len(names)), np.zeros(len(names))
    place = np.zeros(len(names), dtype=np.int32)
    terms = [asked.get(name, Term()) for name in names]
    for i, (name, term) in enumerate(zip(names, terms, strict=True)):
        bounded = math.isfinite(term.least) or math.isfinite(term.most)
        if not term.least <= term.most:
            raise TraceError(
                f"{name}: expected bounds in order, found {term.least:g} above {term.most:g}"
            )
        if (term.tied or term.group) and (bounded or term.fixed or (term.tied and term.group)):
            raise TraceError(f"{name}: expected one of bounds, fixed, tied and group, found more")
        if term.group and term.weight == 0:
            raise TraceError(f"{name}: expected a weight other than 0 in a group, found 0")
        if term.fixed or name in absent or term.tied:
            base[i] = 0.0 if term.tied else term.weight
        elif term.group:
            place[i] = groups.setdefault(term.group, -1)
            if place[i] < 0:
                place[i] = groups[term.group] = made.add(name, 1.0, -math.inf, math.inf)
            factor[i] = term.weight
        else:
            place[i] = own[name] = made.add(name, term.weight, term.least, term.most)
            factor[i] = 1.0
    for i, (name, term) in enumerate(zip(names, terms, strict=True)):
        if term.tied:
            if term.tied not in own:
                raise TraceError(
                    f"{name}: expected to be tied to a term with a weight of its own, found"
                    f" {term.tied}"
                )
            place[i], factor[i] = own[term.tied], 1.0
    if not made.names:
        raise TraceError("terms: expected one to learn, found all of them fixed or absent")
    return Parameters(
        tuple(made.names), base, factor, place,
        np.array(made.start), np.array(made.low), np.array(made.high),
    )  # fmt: skip


def read_terms(path: Path) -> dict[str, Term]:
    """Returns what a table of terms asks, such as the `weights.csv` of an earlier fit.

    Its columns are `term`, and any of `weight`, `fixed` (1 or empty), `least`, `most`, `tied` and
    `group`; others are left aside. Raises TraceError that names file, row and column.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    except UnicodeDecodeError:
        raise TraceError(f"{path}: expected text in UTF-8, found other bytes") from None
    found: dict[str, Term] = {}
    for number, row in enumerate(rows, 2):
        cells = {name: (row.get(name) or "").strip() for name in COLUMNS}
        name = cells["term"]
        if not name or name in found:
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
        found[name] = Term(**numbers, fixed=fixed, tied=cells["tied"], group=cells["group"])
    return found

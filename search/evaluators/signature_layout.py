"""The layout of signature tables: how terms are quantised and grouped into tables.

Source: A. L. Samuel, "Some Studies in Machine Learning Using the Game of Checkers. II - Recent
Progress", IBM Journal of Research and Development 11 (1967).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import Game
from games.extras import extra
from games.features import FeatureSet

__all__ = ["SignatureLayout", "layout_of", "starts"]


@dataclass(frozen=True)
class SignatureLayout:
    """The levels of terms and their groups in tables.

    name: the name of the layout.
    features: a feature set with all the terms named here.
    groups: the terms of each first-level table.
    thresholds: for each term in a group its ascending thresholds. The level of a term is the number
        of thresholds that it reaches (those above 0) or exceeds (the others), so that thresholds
        mirrored at 0 give mirrored levels.
    second: for each second-level table its first-level tables, by their place in `groups`; each of
        these in exactly one. The third level is one table of all second-level tables.
    material: terms with fixed weights, outside the tables.
    first_levels: number of output levels of a first-level table.
    second_levels: number of output levels of a second-level table.
    phases: number of versions of all tables.
    phase: a kernel that returns the version for a position, from 0 on (numbers out of range count
        as the nearest phase). Default: a single phase.

    The index of a cell is a number whose digits are the table's inputs, the first input highest.
    Raises ValueError if the parts do not fit together.
    """

    name: str
    features: FeatureSet
    groups: tuple[tuple[str, ...], ...]
    thresholds: Mapping[str, tuple[float, ...]]
    second: tuple[tuple[int, ...], ...]
    material: tuple[str, ...] = ()
    first_levels: int = 5
    second_levels: int = 7
    phases: int = 1
    phase: Callable[[Any], int] | None = None

    def __post_init__(self) -> None:
        grouped = [term for group in self.groups for term in group]
        unknown = [t for t in (*grouped, *self.material) if t not in self.features.terms]
        if unknown or not grouped or not all(self.groups):
            raise ValueError(
                f"layout {self.name}: expected groups of terms of {self.features.name}, found"
                f" {', '.join(unknown) or 'an empty group'}"
            )
        for term in grouped:
            steps = self.thresholds.get(term, ())
            rising = all(a < b for a, b in zip(steps, steps[1:], strict=False))
            if not steps or not rising or not all(map(math.isfinite, steps)):
                raise ValueError(
                    f"layout {self.name}: expected ascending thresholds for {term}, found {steps}"
                )
        inputs = sorted(table for tables in self.second for table in tables)
        if inputs != list(range(len(self.groups))) or not all(self.second):
            raise ValueError(
                f"layout {self.name}: expected each of {len(self.groups)} first-level tables in one"
                f" second-level table, found {self.second}"
            )
        for field in ("first_levels", "second_levels"):
            if not 2 <= getattr(self, field) <= 100:
                raise ValueError(f"{field}: expected 2 to 100, found {getattr(self, field)}")
        if self.phases < 1 or (self.phases > 1) != (self.phase is not None):
            raise ValueError(
                f"layout {self.name}: expected a phase kernel for more than one phase, and none"
                f" for one, found {self.phases} phases and {self.phase}"
            )
        if self.phase is not None and not kernels.is_kernel(self.phase):
            raise TypeError(f"phase: expected a function marked with @kernel, found {self.phase!r}")

    @property
    def symmetric(self) -> bool:
        """Whether an advantage of one side can be an exactly equal disadvantage of the other.

        This holds if terms are differences between the sides and thresholds are mirrored at 0. The
        cell of the position seen by the other side is then the last cell minus this one.
        """
        return self.features.differences and all(
            list(self.thresholds[term]) == [-step for step in reversed(self.thresholds[term])]
            for group in self.groups
            for term in group
        )

    @property
    def sizes(self) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """The number of cells of each table: of the first, second and third level."""
        first = tuple(
            math.prod(len(self.thresholds[term]) + 1 for term in group) for group in self.groups
        )
        second = tuple(self.first_levels ** len(tables) for tables in self.second)
        return first, second, self.second_levels ** len(self.second)

    def description(self) -> dict[str, Any]:
        """Returns the layout without its kernels, as plain JSON values."""
        return {
            "layout": self.name,
            "groups": [list(group) for group in self.groups],
            "thresholds": {
                term: [float(step) for step in self.thresholds[term]]
                for group in self.groups
                for term in group
            },
            "second": [list(tables) for tables in self.second],
            "levels": [self.first_levels, self.second_levels],
            "phases": self.phases,
        }

    def empty_tables(self) -> dict[str, NDArray[Any]]:
        """Returns neutral tables: coefficients 0, output levels in the middle."""
        first, second, third = self.sizes
        return {
            "first": np.zeros((self.phases, sum(first))),
            "first_levels": np.full((self.phases, sum(first)), self.first_levels // 2, np.int8),
            "second": np.zeros((self.phases, sum(second))),
            "second_levels": np.full((self.phases, sum(second)), self.second_levels // 2, np.int8),
            "third": np.zeros((self.phases, third)),
        }

    # --- cells of many positions --------------------------------------------------------------

    def phases_of(self, positions: Any) -> NDArray[np.int64]:
        """Returns the phase of each position, [positions]."""
        if self.phase is None:
            return np.zeros(len(positions), dtype=np.int64)
        marks = FeatureSet("phase", {"phase": self.phase})
        phases = marks.measure(positions)[:, 0].astype(np.int64)
        return np.clip(phases, 0, self.phases - 1)

    def first_cells(self, terms: NDArray[np.float64]) -> NDArray[np.int64]:
        """Returns the cells of the first-level tables, [positions, tables].

        terms: values of all terms of `features`, [positions, terms].

        Cells are counted from the first cell of the level.
        """
        cells = np.zeros((len(terms), len(self.groups)), dtype=np.int64)
        for table, group in enumerate(self.groups):
            for term in group:
                column = terms[:, self.features.names.index(term)]
                steps = self.thresholds[term]
                cells[:, table] *= len(steps) + 1
                for step in steps:
                    cells[:, table] += column >= step if step > 0 else column > step
        return cells + starts(self.sizes[0])

    def second_cells(self, levels: NDArray[Any]) -> NDArray[np.int64]:
        """Returns the cells of the second-level tables, [positions, tables].

        levels: output levels, [positions, first-level tables].
        """
        cells = np.stack(
            [_number(levels[:, list(tables)], self.first_levels) for tables in self.second], axis=1
        )
        return cells + starts(self.sizes[1])

    def third_cells(self, levels: NDArray[Any]) -> NDArray[np.int64]:
        """Returns the cells of the third level, [positions].

        levels: output levels, [positions, second-level tables].
        """
        return _number(levels, self.second_levels)


def layout_of(game: Game) -> SignatureLayout:
    """Returns the layout of signature tables that a game declares; ValueError if it has none."""
    layout = extra(game, SignatureLayout)
    if layout is None:
        raise ValueError(
            f"expected a game with signature tables, such as checkers, found {game.name};"
            " give a layout of your own"
        )
    return layout


def starts(sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """Returns the index of the first cell of each table among the cells of its level."""
    return np.cumsum(sizes, dtype=np.int64) - np.array(sizes, dtype=np.int64)


def _number(digits: NDArray[Any], base: int) -> NDArray[np.int64]:
    number = np.zeros(len(digits), dtype=np.int64)
    for column in digits.T:
        number = number * base + column
    return number

"""Phases: stages of a game, for each of which an evaluator may have its own weights."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.features.feature_set import FeatureSet
from games.kernels import is_kernel

__all__ = ["Phases"]


@dataclass(frozen=True)
class Phases:
    """The phases of a game.

    names: their names.
    phase: a kernel phase(position) that returns the number of the position's phase, from 0 on.

    pieces: a kernel pieces(position) that returns the number of pieces left, at least 1; None if
        the chances of games do not depend on it (`search.evaluators.calibration`).

    Raises ValueError if there are no names, TypeError if a function is not a kernel.
    """

    names: tuple[str, ...]
    phase: Callable[[Any], int]
    pieces: Callable[[Any], int] | None = None

    def __post_init__(self) -> None:
        if not self.names:
            raise ValueError("phases: expected at least one name, found none")
        if not is_kernel(self.phase) or not (self.pieces is None or is_kernel(self.pieces)):
            raise TypeError("phases: expected functions marked with @kernel")

    def __len__(self) -> int:
        return len(self.names)

    @functools.cached_property
    def _term(self) -> FeatureSet:
        return FeatureSet("phases", {"phase": self.phase})

    def of(self, positions: Any) -> NDArray[np.int64]:
        """Returns the number of the phase of each position, [positions]."""
        return self._term.measure(positions)[:, 0].astype(np.int64)

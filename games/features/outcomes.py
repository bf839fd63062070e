"""Outcomes: the ends that a game can come to, for evaluators that give the probability of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from games.kernels import is_kernel

__all__ = ["Outcomes"]


@dataclass(frozen=True)
class Outcomes:
    """Events of which an evaluator gives the probabilities, for the side to move.

    The value of a position is `base` plus the sum of each probability times its `worth`. In a game
    with gammons the events are cumulative: a gammon is also a win. The kernel
    `confine(position, probabilities)` changes what cannot be, in an array of float64 in place: a
    gammon against a side that has borne off, a backgammon more likely than a gammon. `turn`
    (probabilities) makes them those of the other side, in place, and `finished(position,
    probabilities)` writes those of a game that is over.
    """

    names: tuple[str, ...]
    worth: tuple[float, ...]
    base: float
    confine: Callable[[Any, Any], Any]
    turn: Callable[[Any], Any]
    finished: Callable[[Any, Any], Any]

    def __post_init__(self) -> None:
        if not 1 <= len(self.names) == len(self.worth):
            raise ValueError(
                f"outcomes: expected as many names as worths, found {self.names} and {self.worth}"
            )
        for part in ("confine", "turn", "finished"):
            if not is_kernel(getattr(self, part)):
                raise TypeError(f"outcomes: expected {part} to be a function marked with @kernel")

    def __len__(self) -> int:
        return len(self.names)

    def values(self, probabilities: ArrayLike) -> NDArray[np.float64]:
        """The values of probabilities [..., outcomes]."""
        return np.asarray(self.base + np.asarray(probabilities, dtype=float) @ self.worth)

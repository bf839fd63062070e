"""Outcomes: the possible ends of a game, for evaluators that give the probability of each."""

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
    """Events for which an evaluator gives probabilities, for the side to move.

    The value of a position is `base` plus the sum of probability times payoff. In a game with
    gammons the events are cumulative: a gammon is also a win.

    names: the names of the events; the first one is that the side to move wins.
    payoffs: the payoff of each event.
    base: the value if no event happens.
    confine: a kernel confine(position, probabilities) that corrects impossible probabilities in
        place, in an array of float64: a gammon against a side that has borne off, or a backgammon
        more probable than a gammon.
    turn: a kernel turn(probabilities) that turns them in place into those of the other side.
    finished: a kernel finished(position, probabilities) that writes those of a finished game.

    Raises ValueError if names and payoffs differ in number, and TypeError if a function is not a
    kernel.
    """

    names: tuple[str, ...]
    payoffs: tuple[float, ...]
    base: float
    confine: Callable[[Any, Any], Any]
    turn: Callable[[Any], Any]
    finished: Callable[[Any, Any], Any]

    def __post_init__(self) -> None:
        if not 1 <= len(self.names) == len(self.payoffs):
            raise ValueError(
                "outcomes: expected as many names as payoffs, found"
                f" {self.names} and {self.payoffs}"
            )
        for part in ("confine", "turn", "finished"):
            if not is_kernel(getattr(self, part)):
                raise TypeError(f"outcomes: expected {part} to be a function marked with @kernel")

    def __len__(self) -> int:
        return len(self.names)

    def values(self, probabilities: ArrayLike) -> NDArray[np.float64]:
        """Returns the values [...] of probabilities [..., outcomes]."""
        return np.asarray(self.base + np.asarray(probabilities, dtype=float) @ self.payoffs)

"""Outcomes: the possible ends of a game, for evaluators that give the probability of each."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from games.kernels import is_kernel, runs_compiled, uncompiled
from games.kernels.memory import native_function, read_position

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
                f"outcomes: expected a name for each payoff, found {self.names} and {self.payoffs}"
            )
        for part in ("confine", "turn", "finished"):
            if not is_kernel(getattr(self, part)):
                raise TypeError(f"outcomes: expected {part} to be a function marked with @kernel")

    def __len__(self) -> int:
        return len(self.names)

    def values(self, probabilities: ArrayLike) -> NDArray[np.float64]:
        """Returns the values [...] of probabilities [..., outcomes]."""
        return np.asarray(self.base + np.asarray(probabilities, dtype=float) @ self.payoffs)

    def confined(self, positions: Any, probabilities: ArrayLike) -> NDArray[np.float64]:
        """Returns probabilities [positions, outcomes] corrected by `confine`.

        positions: [positions, integers], or a sequence of positions.
        """
        possible = np.array(probabilities, dtype=np.float64, order="C")
        if not runs_compiled():
            confine = uncompiled(self.confine)
            for position, row in zip(positions, possible, strict=True):
                confine(tuple(map(int, position)), row)
            return possible
        rows = np.ascontiguousarray(positions, dtype=np.int64)
        if len(rows):
            confine_all = _confine_all(self.confine, rows.shape[1], len(self))
            confine_all(len(rows), rows.ctypes.data, possible.ctypes.data)
        return possible


@functools.cache
def _confine_all(confine: Callable[[Any, Any], Any], width: int, count: int) -> Any:
    """Returns a native function of (rows, positions, probabilities), which confines all rows."""
    text = f"""
def confine_all(rows, source, target):
    for i in range(rows):
        row = array_at(float64_pointer(target + {8 * count} * i), ({count},))
        confine({read_position(width)}, row)
        source += {8 * width}
"""
    scope = {"confine": confine}
    address = native_function("confine_all", text, scope, "void(int64, int64, int64)")
    return ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)(address)

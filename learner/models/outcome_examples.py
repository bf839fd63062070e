"""Positions as the nets of an outcome network see them.

Inputs are measured once for a data set, so that passing over it many times is fast.
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import Game
from games.features import FeatureSet, Outcomes, Phases
from games.kernels.memory import native_function, read_position
from search.evaluators.layers import Net
from search.evaluators.outcome_network import OutcomeNetwork

__all__ = ["Examples", "Seen", "confined", "phases_of"]

#: Positions that are measured at a time, which bounds the memory that it takes.
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Seen:
    """The inputs of one net.

    index: indices of its positions in the data set, int64 [rows].
    places: inputs of the encoding that are 1, padded with its size, as small integers [rows, most];
        None without an encoding.
    terms: values of the features, float32 [rows, terms]; None without features.
    possible: 1 for the outcomes that are still possible, else 0, uint8 [rows, outcomes].
    """

    index: NDArray[np.int64]
    places: NDArray[Any] | None
    terms: NDArray[np.float32] | None
    possible: NDArray[np.uint8]

    def rows(self, chosen: NDArray[np.int64]) -> Seen:
        """Returns the inputs of some of the rows."""
        parts = (self.index, self.places, self.terms, self.possible)
        return Seen(*(None if part is None else part[chosen] for part in parts))  # type: ignore[arg-type]


class Examples:
    """Positions [positions, integers] and the inputs of an evaluator's nets, net by net."""

    positions: NDArray[np.int64]
    seen: tuple[Seen, ...]

    def __init__(self, evaluator: OutcomeNetwork, positions: Any) -> None:
        width = len(evaluator.game.start())
        self.positions = np.ascontiguousarray(positions, dtype=np.int64).reshape(-1, width)
        half = np.full((len(self), len(evaluator.kinds)), 0.5)
        possible = (confined(evaluator.game, self.positions, half) > 0).astype(np.uint8)
        several = len(evaluator.nets) > 1
        phases = evaluator.game.phases if several else None
        which = phases_of(phases, self.positions)
        seen = []
        for number, net in enumerate(evaluator.nets):
            index = np.flatnonzero(which == number)
            places, terms = _measured(net, self.positions[index])
            seen.append(Seen(index, places, terms, possible[index]))
        self.seen = tuple(seen)

    def __len__(self) -> int:
        return len(self.positions)


def phases_of(phases: Phases | None, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the phase of each of the positions [positions, integers]; 0 for phases of None."""
    if phases is None:
        return np.zeros(len(positions), dtype=np.int64)
    return _as_term(phases).measure(positions)[:, 0].astype(np.int64)


@functools.cache
def _as_term(phases: Phases) -> FeatureSet:
    """Returns the phase as a term."""
    return FeatureSet("phases", {"phase": phases.phase})


def confined(
    game: Game, positions: NDArray[np.int64], probabilities: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Returns probabilities [positions, outcomes] without impossible outcomes, see `Outcomes`."""
    assert game.outcomes is not None
    possible = np.array(probabilities, dtype=np.float64, order="C")
    if not kernels.compiled:
        confine = kernels.uncompiled(game.outcomes.confine)
        for position, row in zip(positions.tolist(), possible, strict=True):
            confine(tuple(position), row)
        return possible
    rows = np.ascontiguousarray(positions, dtype=np.int64)
    _confine_all(game.outcomes, rows.shape[1])(len(rows), rows.ctypes.data, possible.ctypes.data)
    return possible


@functools.cache
def _confine_all(outcomes: Outcomes, width: int) -> Any:
    """Returns a native function of (count, positions, target), which confines all rows."""
    step = 8 * len(outcomes)
    text = f"""
def each_at(count, source, target):
    for i in range(count):
        row = array_at(float64_pointer(target + {step} * i), ({len(outcomes)},))
        confine({read_position(width)}, row)
        source += {8 * width}
"""
    scope = {"confine": outcomes.confine}
    address = native_function("each_at", text, scope, "void(int64, int64, int64)")
    return ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)(address)


def _measured(net: Net, positions: NDArray[np.int64]) -> tuple[Any, Any]:
    """Returns places and terms of positions, in as little memory as they need."""
    places = terms = None
    if net.encoding:
        kind = np.int16 if net.encoding.size < 1 << 15 else np.int32
        places = np.zeros((len(positions), net.encoding.most), dtype=kind)
    if net.features:
        terms = np.zeros((len(positions), len(net.features)), dtype=np.float32)
    for first in range(0, len(positions), _CHUNK):
        part = positions[first : first + _CHUNK]
        if net.encoding and places is not None:
            places[first : first + len(part)] = net.encoding.active_rows(part)
        if net.features and terms is not None:
            terms[first : first + len(part)] = net.features.measure(part)
    return places, terms

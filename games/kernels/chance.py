"""Random numbers in native code: streams that a seed determines, and rolls drawn from them.

The generator is SplitMix64 (Steele, Lea and Flood 2014): the state increases by a constant, and
each number is a scrambled state. So any state may begin a stream, and streams whose first states
are far apart do not overlap.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from games.kernels.bits import product
from games.kernels.compiler import kernel

__all__ = ["cumulative", "drawn", "next_state", "stream", "uniform"]

_STEP = 0x1E3779B97F4A7C15  # odd, without a pattern in its bits
_MASK = (1 << 62) - 1


@kernel
def next_state(state):
    """Returns the state that follows `state`; states are numbers from 0 to 2**62 - 1."""
    return (state + _STEP) & _MASK


@kernel
def scrambled(state):
    """Returns the 62 random bits of a state."""
    mixed = product(state ^ state >> 30, 0x3F58476D1CE4E5B9) & _MASK
    mixed = product(mixed ^ mixed >> 27, 0x14D049BB133111EB) & _MASK
    return mixed ^ mixed >> 31


@kernel
def uniform(state):
    """Returns the random number of a state, at least 0 and below 1."""
    return (scrambled(state) >> 9) * 2.0**-53


@kernel
def drawn(chance, limits):
    """Returns the roll for a random number.

    chance: the random number, at least 0 and below 1.
    limits: probabilities as `cumulative` returns them.
    """
    roll = 0
    while chance >= limits[roll]:
        roll += 1
    return roll


def cumulative(probabilities: Sequence[float]) -> NDArray[np.float64]:
    """Returns for each roll the probability that it or an earlier one is rolled.

    From the last possible roll on the entries are 2, so that rounding cannot lead beyond it.
    """
    limits = np.cumsum(np.asarray(probabilities, dtype=np.float64))
    limits[np.flatnonzero(probabilities)[-1] :] = 2.0
    return limits


def stream(*seeds: int) -> int:
    """Returns the first state of the stream of some seeds, whole numbers from 0 to 2**32 - 1.

    Other seeds give another stream, but a 0 at the end makes no difference.
    """
    return int(np.random.SeedSequence(seeds).generate_state(1, np.uint64)[0] >> np.uint64(2))

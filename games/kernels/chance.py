"""Chance in native code: a stream of random numbers that a seed decides, and rolls drawn from it.

The generator is SplitMix64 (Steele, Lea and Flood 2014): the state goes up by a constant, and each
number is a scrambled state. So any state may begin a stream, and streams far apart do not meet.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from games.kernels.bits import product
from games.kernels.compiler import kernel

__all__ = ["cumulative", "drawn", "next_state", "stream", "uniform"]

_STEP = 0x1E3779B97F4A7C15  # odd, and its bits are without a pattern
_MASK = (1 << 62) - 1


@kernel
def next_state(state):
    """The state after another; states are numbers from 0 to 2**62 - 1."""
    return (state + _STEP) & _MASK


@kernel
def scrambled(state):
    """62 random bits that belong to a state."""
    mixed = product(state ^ state >> 30, 0x3F58476D1CE4E5B9) & _MASK
    mixed = product(mixed ^ mixed >> 27, 0x14D049BB133111EB) & _MASK
    return mixed ^ mixed >> 31


@kernel
def uniform(state):
    """The number from 0 to below 1 that belongs to a state."""
    return (scrambled(state) >> 9) * 2.0**-53


@kernel
def drawn(chance, limits):
    """The roll that a number from 0 to below 1 stands for, by the `cumulative` probabilities."""
    roll = 0
    while chance >= limits[roll]:
        roll += 1
    return roll


def cumulative(probabilities: Sequence[float]) -> NDArray[np.float64]:
    """For each roll the probability of it or an earlier one; the last that can be is above 1."""
    limits = np.cumsum(np.asarray(probabilities, dtype=np.float64))
    limits[np.flatnonzero(probabilities)[-1] :] = 2.0
    return limits


def stream(*seeds: int) -> int:
    """The first state of a stream for some whole numbers from 0 to 2**32 - 1.

    As many other numbers give another stream; a 0 at the end is as none.
    """
    return int(np.random.SeedSequence(seeds).generate_state(1, np.uint64)[0] >> np.uint64(2))

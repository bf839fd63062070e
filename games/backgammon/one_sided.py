"""The number of rolls that a side needs in a race, by a small network: mean and variance.

It serves sides with a checker beyond their home, which the bear-off tables
(`games.backgammon.bear_off`) do not cover. Like the tables it considers one side alone, which plays
each roll for the least expected number. The weights were learned once (data/README.md).
"""

from __future__ import annotations

import functools
import math
from pathlib import Path

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from games.backgammon.pips import pips_of
from games.backgammon.race_terms import save_pips
from games.kernels import kernel, lowest

__all__ = ["FILE", "HIDDEN", "PLACES", "event", "not_later", "weights"]

FILE = Path(__file__).parents[2] / "data" / "backgammon" / "race.rolls.safetensors"
HIDDEN = 32
#: A place for each number of checkers, 0 to 15, on each of the points 0 (borne off) to 24.
PLACES = 25 * 16
#: Pips of a mean roll, and the variance of the number of rolls for each roll needed.
ROLL = 49 / 6
SPREAD = 0.28
_LEAST = 0.02


@functools.cache
def weights() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Returns the shipped weights: of the inputs [HIDDEN, PLACES + 1], the last a bias, and of the
    outputs [4, HIDDEN + 1].
    """
    arrays = safetensors.numpy.load_file(FILE)
    return arrays["hidden"], arrays["outputs"]


@kernel
def event(hidden, outputs, near, far, which):
    """Returns the mean and the variance of the number of rolls of a side until an event.

    which: 0 for the last checker off, 1 for the first one, of a side with no checker off yet.
    """
    last = len(outputs[0]) - 1
    mean = 0.0 + float(outputs[2 * which, last])  # sums are float64
    variance = 0.0 + float(outputs[2 * which + 1, last])
    for unit in range(last):
        total = 0.0 + float(hidden[unit, PLACES])
        total += float(hidden[unit, near & 15])
        half = near & ~15
        while half:
            shift = lowest(half) & ~3
            total += float(hidden[unit, 4 * shift + (half >> shift & 15)])
            half &= ~(15 << shift)
        half = far
        while half:
            shift = lowest(half) & ~3
            total += float(hidden[unit, 4 * (shift + 52) + (half >> shift & 15)])
            half &= ~(15 << shift)
        if total > 0.0:
            mean += total * float(outputs[2 * which, unit])
            variance += total * float(outputs[2 * which + 1, unit])
    pips = pips_of(near, far) if which == 0 else save_pips(near, far)
    mean = pips / ROLL + max(mean, 0.0)  # a roll moves no more than its pips
    return max(mean, 1.0), max(variance + SPREAD * mean, _LEAST)


@kernel
def not_later(mean, variance, other_mean, other_variance, later):
    """Returns the chance that one number of rolls is at most another, as normal variables.

    later: 1 if the other side rolls first, so that equal numbers are too late.
    """
    ahead = other_mean - mean + (0.5 - later)
    return 0.5 + 0.5 * math.erf(ahead / math.sqrt(2.0 * (variance + other_variance)))

"""Noise added to an evaluator, as a function of the position and a seed.

It makes deterministic players differ: another seed is another player of about the same strength. If
noise were drawn anew at each visit, a position would have two values in one search, and neither the
transposition table nor the principal variation would be meaningful.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from games import kernels
from games.kernels import kernel, product
from games.kernels.memory import native_function, read_position
from search.evaluators.array_evaluator import NativeNumber
from search.evaluators.evaluator import SIGNATURE, Evaluator, Fail
from search.native import call_float

__all__ = ["NoisyEvaluator"]

#: Mean, and 1 / standard deviation, of the sum of four uniform numbers from 0 to 65535.
MEAN = 131070
UNIT = math.sqrt(3.0 / (2**32 - 1))


@kernel
def noise(position: Any, seed: Any) -> Any:
    """Returns a pseudo-random number, nearly normal with mean 0 and standard deviation 1.

    The hash mixes in each integer by a multiplication and a fold, and ends as SplitMix64 does
    (Steele, Lea and Flood 2014). Its four parts of 16 bits are added up as whole numbers, so the
    result is exact, symmetric about 0 and never beyond 3.47 (Irwin-Hall distribution).
    """
    mixed = product(seed, 0x1E3779B97F4A7C15)
    for word in position:
        mixed ^= (mixed >> 31) & 0x1FFFFFFFF
        mixed = product(mixed ^ int(word), 0x3C79AC492BA7B653)
    mixed ^= (mixed >> 30) & 0x3FFFFFFFF
    mixed = product(mixed, -0x40A7B892E31B1A47)
    mixed ^= (mixed >> 27) & 0x1FFFFFFFFF
    mixed = product(mixed, -0x6B2FB644ECCEEE15)
    mixed ^= (mixed >> 31) & 0x1FFFFFFFF
    total = (
        (mixed & 0xFFFF) + (mixed >> 16 & 0xFFFF) + (mixed >> 32 & 0xFFFF) + (mixed >> 48 & 0xFFFF)
    )
    return float(total - MEAN) * UNIT


class NoisyEvaluator(Evaluator):
    """The value of another evaluator plus noise that depends only on the position and the seed.

    evaluator: the evaluator.
    amplitude: standard deviation of the noise, in the evaluator's unit, at least 0; its mean over
        positions is 0.
    seed: 0 to 2**63 - 1.

    Amplitude and seed may be changed while no search runs, which compiles nothing; engines must
    then forget earlier searches (`Engine.clear`). A position and the same board with the other side
    to move have unrelated noise: it is not antisymmetric.

    Raises ValueError if the amplitude is not finite.
    """

    amplitude = NativeNumber()

    def __init__(self, evaluator: Evaluator, *, amplitude: float, seed: int = 0) -> None:
        self.game = evaluator.game
        self.evaluator = evaluator
        self.name = f"{evaluator.name} with noise"
        # read by native code: the bits of the amplitude, and the seed
        self._data = np.zeros(2, dtype=np.int64)
        self.amplitude = amplitude
        self.seed = seed

    def __reduce__(self) -> Any:
        # addresses do not leave the process
        again = partial(NoisyEvaluator, amplitude=self.amplitude, seed=self.seed)
        return again, (self.evaluator,)

    @property
    def unit(self) -> float:
        """The unit of the other evaluator's values."""
        return self.evaluator.unit

    @property
    def seed(self) -> int:
        """The seed of the noise, 0 to 2**63 - 1."""
        return int(self._data[1])

    @seed.setter
    def seed(self, seed: int) -> None:
        self._data[1] = seed

    def plain(self) -> Callable[[Any], float]:
        value, plain_noise = self.evaluator.plain(), kernels.uncompiled(noise)
        return lambda position: value(position) + self.amplitude * plain_noise(position, self.seed)

    def native(self, fail: Fail) -> tuple[int, int, Any]:
        value_at, value_data, kept = self.evaluator.native(fail)
        block = np.array([value_at, value_data, self._data.ctypes.data], dtype=np.int64)
        text = f"""
def value_at(data, source):
    value = call_float(load_int(data, 0), (load_int(data, 1), source))
    own = load_int(data, 2)
    position = {read_position(len(self.game.start()))}
    return value + load_float(own, 0) * noise(position, load_int(own, 1))
"""
        scope = {"call_float": call_float, "noise": noise}
        address = native_function("value_at", text, scope, SIGNATURE)
        return address, block.ctypes.data, (block, self._data, kept)

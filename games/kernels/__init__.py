"""The compile layer: `@kernel`, bits, positions and records in memory, vector sums, chance."""

from __future__ import annotations

from games.kernels import pickling as pickling
from games.kernels.bits import (
    bit,
    bits_float,
    float_bits,
    lowest,
    next_up,
    popcount,
    product,
    reverse,
    shift_left,
    shift_right,
    word,
)
from games.kernels.compiler import compiled, fingerprint, is_kernel, kernel, uncompiled
from games.kernels.family import family
from games.kernels.patience import Meanwhile, hurry, patiently, runs_compiled
from games.kernels.record import NativeRecord, PlainRecord

__all__ = [
    "Meanwhile",
    "NativeRecord",
    "PlainRecord",
    "bit",
    "bits_float",
    "compiled",
    "family",
    "fingerprint",
    "float_bits",
    "hurry",
    "is_kernel",
    "kernel",
    "lowest",
    "next_up",
    "patiently",
    "popcount",
    "product",
    "reverse",
    "runs_compiled",
    "shift_left",
    "shift_right",
    "uncompiled",
    "word",
]

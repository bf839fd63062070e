"""Encodings: sparse inputs of a network, each 0 or 1.

Few of the many inputs are 1 (on a board, one for each piece). A kernel lists the places of these,
and a network's first layer adds up only their rows of weights.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.features.feature_set import _rows
from games.kernels.memory import native_function, read_position

__all__ = ["Encoding"]

#: Fills the rest of a list of places.
_NONE = np.int64(-(1 << 62))
#: Greatest number of active inputs, because they are listed on the stack of a searching thread.
MOST_ACTIVE = 4096


@dataclass(frozen=True)
class Encoding:
    """Inputs that are 0 or 1, read for the side to move.

    name: the name of the encoding.
    size: number of inputs.
    most: greatest number of inputs that are 1.
    active: a kernel active(position, places) that writes the places of the inputs that are 1 (0 to
        size - 1, each once, in any order) into an array of at least `most` integers, and returns
        their number.

    Raises TypeError if `active` is not a kernel, ValueError if `size` or `most` is impossible.
    """

    name: str
    size: int
    most: int
    active: Callable[[Any, Any], int]
    fingerprint: str = field(init=False)
    _lists: dict[int, Callable[[int, int, int], int]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        if not (1 <= self.most <= self.size <= 1 << 24 and self.most <= MOST_ACTIVE):
            raise ValueError(
                f"encoding {self.name}: expected 1 <= most <= size <= {1 << 24} and most <="
                f" {MOST_ACTIVE}, found most {self.most} and size {self.size}"
            )
        if not kernels.is_kernel(self.active):
            raise TypeError(f"encoding {self.name}: expected a function marked with @kernel")
        parts = [str(self.size), str(self.most), kernels.fingerprint(self.active)]
        mark = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        object.__setattr__(self, "fingerprint", mark)

    def __reduce__(self) -> Any:
        # compiled lists stay in the process
        return Encoding, (self.name, self.size, self.most, self.active)

    def __len__(self) -> int:
        return self.size

    def active_rows(self, positions: Any) -> NDArray[np.int64]:
        """Returns the places of the inputs that are 1, [positions, most], padded with `size`.

        torch's EmbeddingBag sums these with `padding_idx=size`. Positions that are tuples of
        integers of one length are listed by native code, others by the Python interpreter. Raises
        ValueError if the kernel lists more than `most` places, or one out of range.
        """
        rows = _rows(positions) if kernels.runs_compiled() else None
        if rows is None:
            lists = [self.places(position) for position in positions]
            longest = max(map(len, lists), default=0)
            listed = np.full((len(lists), max(longest, self.most)), _NONE)
            for row, places in zip(listed, lists, strict=True):
                row[: len(places)] = places
        else:
            listed = np.full((len(rows), self.most), _NONE)
            list_all = self._native_lists(rows.shape[1])
            longest = list_all(len(rows), rows.ctypes.data, listed.ctypes.data)
        wrong = listed[(listed != _NONE) & ((listed < 0) | (listed >= self.size))]
        if longest > self.most or len(wrong):
            raise ValueError(
                f"encoding {self.name}: expected at most {self.most} places from 0 to"
                f" {self.size - 1}, found {longest} places, out of range {wrong[:8].tolist()}"
            )
        listed[listed == _NONE] = self.size
        return listed

    def dense(self, positions: Any) -> NDArray[np.float32]:
        """Returns all inputs as 0 and 1, [positions, size]."""
        rows = self.active_rows(positions)
        inputs = np.zeros((len(rows), self.size + 1), dtype=np.float32)
        np.put_along_axis(inputs, rows, 1.0, axis=1)
        return np.ascontiguousarray(inputs[:, : self.size])

    def places(self, position: Any) -> list[int]:
        """Returns the places of the inputs that are 1, computed by the Python interpreter."""
        listed = np.full(self.most, _NONE)
        count = int(kernels.uncompiled(self.active)(position, listed))
        return [*listed[:count].tolist(), *[int(_NONE)] * (count - self.most)]

    def _native_lists(self, width: int) -> Callable[[int, int, int], int]:
        if width in self._lists:
            return self._lists[width]
        text = f"""
def active_at(rows, source, target):
    longest = 0
    for i in range(rows):
        position = {read_position(width)}
        count = int(active(position, array_at(int64_pointer(target), ({self.most},))))
        for j in range(count, {self.most}):
            store_int(target, j, {_NONE})
        longest = max(longest, count)
        source += {8 * width}
        target += {8 * self.most}
    return longest
"""
        address = native_function(
            "active_at", text, {"active": self.active}, "int64(int64, int64, int64)"
        )
        signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
        self._lists[width] = signature(address)
        return self._lists[width]

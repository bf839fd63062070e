"""Encodings: what a network sees of a position, as sparse inputs that are 0 or 1.

Of the many inputs few are 1 (on a board, one for each piece); so a kernel lists the places of
those, and a network's first layer adds up their columns and touches nothing else.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernel as kernels
from games.features import _rows
from games.native import native_function, read_position

__all__ = ["Encoding"]


@dataclass(frozen=True)
class Encoding:
    """`size` inputs that are 0 or 1, at most `most` of them 1, all read for the side to move.

    The kernel `active(position, places)` writes the places (0 to size - 1, each once, in any
    order) of the inputs that are 1 into an array of at least `most` integers and returns how many.
    Raises TypeError where `active` is no kernel and ValueError for an impossible `size` or `most`.
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
        if not 1 <= self.most <= self.size <= 1 << 24:
            raise ValueError(
                f"encoding {self.name}: expected 1 <= most <= size <= {1 << 24}, found most"
                f" {self.most} and size {self.size}"
            )
        if not kernels.is_kernel(self.active):
            raise TypeError(f"encoding {self.name}: expected a function marked with @kernel")
        parts = [str(self.size), str(self.most), kernels.fingerprint(self.active)]
        mark = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        object.__setattr__(self, "fingerprint", mark)

    def __reduce__(self) -> Any:
        # native code does not leave the process
        return Encoding, (self.name, self.size, self.most, self.active)

    def __len__(self) -> int:
        return self.size

    def active_rows(self, positions: Any) -> NDArray[np.int64]:
        """The places of the inputs that are 1, padded with `size`; [positions, most].

        What torch's EmbeddingBag sums with `padding_idx=size`. Positions that are tuples of
        integers of one length are listed by native code, others by the Python interpreter. Raises
        ValueError where the kernel lists more than `most` places or one out of range.
        """
        rows = _rows(positions) if kernels.compiled else None
        if rows is None:
            count, listed = self._plain_lists(positions)
        else:
            listed = np.full((len(rows) + 1, self.most), self.size, dtype=np.int64)
            list_all = self._native_lists(rows.shape[1])
            count = list_all(len(rows), rows.ctypes.data, listed.ctypes.data)
            listed = listed[:-1]
        inside = not len(listed) or 0 <= listed.min() <= listed.max() <= self.size
        if count > self.most or not inside:
            raise ValueError(
                f"encoding {self.name}: expected at most {self.most} places from 0 to"
                f" {self.size - 1}, found {count} from {listed.min()} to {listed.max()}"
            )
        return listed

    def dense(self, positions: Any) -> NDArray[np.float32]:
        """All inputs as 0 and 1; [positions, size]."""
        rows = self.active_rows(positions)
        inputs = np.zeros((len(rows), self.size + 1), dtype=np.float32)
        np.put_along_axis(inputs, rows, 1.0, axis=1)
        return np.ascontiguousarray(inputs[:, : self.size])

    def places(self, position: Any) -> list[int]:
        """The places of the inputs that are 1, computed by the Python interpreter."""
        found = np.full(self.most, self.size, dtype=np.int64)
        count = int(kernels.uncompiled(self.active)(position, found))
        return [int(place) for place in found[:count]]

    def _plain_lists(self, positions: Any) -> tuple[int, NDArray[np.int64]]:
        found = [self.places(position) for position in positions]
        listed = np.full((len(found), self.most), self.size, dtype=np.int64)
        for row, places in zip(listed, found, strict=True):
            row[: len(places)] = places
        return max(map(len, found), default=0), listed

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
            store_int(target, j, {self.size})
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

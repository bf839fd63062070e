"""Bear-off databases in memory and on disk, built in seconds and kept in the user's cache.

Call `bear_off()` for the tables; `games.backgammon.bear_off` describes their contents.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray
from platformdirs import user_cache_dir

from games.backgammon.bear_off import (
    LONGEST,
    WHOLE,
    fill_one_sided,
    fill_two_sided,
    list_successors,
    positions_of,
)
from games.backgammon.one_sided import weights
from games.backgammon.rules import CHECKERS, MOST_MOVES, PROBABILITIES
from programs.whole_files import write_atomically

__all__ = ["MOST_OF_BOTH", "BearOff", "bear_off", "build"]

#: Increase it when the numbering of positions or the contents of the arrays change.
FORMAT = "plysmith-bear-off-1"
FILE = "backgammon-bear-off.safetensors"
#: Checkers of each side in the two-sided table; each further one makes it about 3.5 times larger.
BOTH = 6
MOST_OF_BOTH = 8


@dataclass(frozen=True, eq=False)
class BearOff:
    """The two-sided and one-sided tables; rows are positions by `rank`, the lowest first."""

    #: float32 [924, 924]: the equity of the side to move (its row) against the other (its column).
    equities: NDArray[np.float32]
    #: float32 [54264, LONGEST]: the probability of each number of rolls until all checkers are off.
    rolls: NDArray[np.float32]
    #: float32 [15504, LONGEST]: the same until the first checker is off, from number `WHOLE` on.
    first: NDArray[np.float32]
    #: float64 [54264]: the mean number of rolls until all checkers are off.
    expected: NDArray[np.float64]
    #: float64 [15504]: the mean number of rolls until the first is off, from number `WHOLE` on.
    expected_first: NDArray[np.float64]

    @property
    def tables(self) -> tuple[NDArray[np.float32], ...]:
        """The arrays that the kernels `probe` and `outcomes` read."""
        return self.equities, self.rolls, self.first, *weights()


def build(*, checkers: int = CHECKERS, both: int = BOTH) -> BearOff:
    """Returns one-sided tables for `checkers` checkers and a two-sided one for `both` a side.

    These are upper limits. Building takes about a second of one core, and four more the first
    time, to compile.
    Raises ValueError unless 1 <= both <= checkers <= 15 and both <= 8.
    """
    if not 1 <= both <= min(checkers, MOST_OF_BOTH) or checkers > CHECKERS:
        raise ValueError(
            f"expected 1 <= both <= checkers <= {CHECKERS} and both <= {MOST_OF_BOTH}, found"
            f" both = {both}, checkers = {checkers}"
        )
    moves, after = np.zeros((2, MOST_MOVES), dtype=np.int64)
    number = positions_of(checkers)
    whole = max(number - WHOLE, 0)
    expected, rolls = np.zeros(number), np.zeros((number, LONGEST))
    expected_first, first = np.zeros(whole), np.zeros((whole, LONGEST))
    fill_one_sided(expected, rolls, expected_first, first, moves, after)

    pairs = positions_of(both)
    begins = np.zeros(pairs * len(PROBABILITIES) + 1, dtype=np.int64)
    count = list_successors(begins, np.zeros(1, dtype=np.int64), moves, after)
    lists = np.zeros(count, dtype=np.int64)
    list_successors(begins, lists, moves, after)
    equities = np.zeros((pairs, pairs))
    fill_two_sided(equities, begins, lists)
    return BearOff(
        equities=equities.astype(np.float32),
        rolls=rolls.astype(np.float32),
        first=first.astype(np.float32),
        expected=expected,
        expected_first=expected_first,
    )


def bear_off(folder: Any = None) -> BearOff:
    """Returns the full tables, read from a file in `folder` (default: the user's cache).

    If the file does not exist, has another format, or is damaged or cut off, the tables are built
    and written again; if they cannot be written, they are built for this process only. Those of
    the cache directory are read once a process and shared: do not change them. Building without
    compilation (NUMBA_DISABLE_JIT=1) takes many minutes; let a compiled process do it first.
    """
    if folder is None:
        return _shared(Path(user_cache_dir("plysmith", appauthor=False)))
    return _found(Path(folder))


def _found(folder: Path) -> BearOff:
    path = folder / FILE
    tables = _read(path)
    if tables is None:
        tables = build()
        _write(path, tables)
    return tables


_shared = functools.cache(_found)


def _checksum(arrays: dict[str, NDArray[Any]]) -> str:
    mark = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        mark.update(f"{name} {array.dtype} {array.shape}\n".encode())
        mark.update(array.tobytes())
    return mark.hexdigest()


def _read(path: Path) -> BearOff | None:
    """Returns the tables in a file; None if it is damaged or of another format."""
    number, pairs = positions_of(CHECKERS), positions_of(BOTH)
    shapes: dict[str, tuple[Any, tuple[int, ...]]] = {
        "equities": (np.float32, (pairs, pairs)),
        "rolls": (np.float32, (number, LONGEST)),
        "first": (np.float32, (number - WHOLE, LONGEST)),
        "expected": (np.float64, (number,)),
        "expected_first": (np.float64, (number - WHOLE,)),
    }
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            facts = file.metadata() or {}
            if set(file.keys()) != set(shapes):
                return None
            arrays = {name: np.array(file.get_tensor(name)) for name in shapes}
    except (OSError, ValueError, OverflowError, MemoryError, safetensors.SafetensorError):
        return None
    for name, (kind, shape) in shapes.items():
        if arrays[name].dtype != kind or arrays[name].shape != shape:
            return None
    if facts != {FORMAT: _checksum(arrays)}:
        return None
    return BearOff(**arrays)


def _write(path: Path, tables: BearOff) -> None:
    """Write the tables to a file atomically; do nothing if that fails."""
    arrays = {field.name: getattr(tables, field.name) for field in fields(tables)}
    # one entry, because safetensors writes several in an order that changes
    content = safetensors.numpy.save(arrays, {FORMAT: _checksum(arrays)})
    with contextlib.suppress(OSError):
        write_atomically(path, content)

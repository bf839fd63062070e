"""Labelled positions in memory, and their file form: one shard of a position store.

A shard is a safetensors file. A column of positions is an array of bytes: the differences to the
column's smallest integer, in as few bytes as the largest needs; labels are arrays under their own
names, and metadata in JSON describes the rest, with a checksum. The same rows make the same bytes,
and reading runs no code.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from games.values import EXACT, UPPER
from programs.whole_files import write_atomically

__all__ = ["UNKNOWN", "Rows", "StoreError", "read_shard", "rows_of_shard", "write_shard"]

FORMAT, _KEY = "plysmith-positions-3", "plysmith"
#: The result of a game that nobody finished.
UNKNOWN = 2
#: The types of labels; `bound` is left out of a shard whose values are all exact.
LABELS = {"value": "<f4", "result": "|i1", "ply": "<u2", "game_number": "<u4", "bound": "|u1"}


class StoreError(ValueError):
    """A shard that cannot be read, or a folder that cannot be used as a store."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Positions, int64 [rows, integers], and their labels, each [rows].

    positions: int64 [rows, integers].
    value: float32, the value that a search backed up, for the side to move.
    result: the result of the game for the side to move, 1, 0 or -1, or 2 if it is unknown: int8
        (float32 if results of several rows were averaged).
    ply: uint16, number of plies played before.
    game_number: uint32.
    count: uint32, number of stored rows that a row stands for.
    bound: uint8, `search.EXACT` if the value is the one that a search backed up, LOWER or UPPER if
        it is only a bound.
    """

    positions: NDArray[np.int64]
    value: NDArray[np.float32]
    result: NDArray[Any]
    ply: NDArray[np.uint16]
    game_number: NDArray[np.uint32]
    count: NDArray[np.uint32]
    bound: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, chosen: Any) -> Rows:
        """Returns some of the rows, by indices, a slice or a mask."""
        return Rows(*(getattr(self, part.name)[chosen] for part in fields(self)))

    @classmethod
    def concatenate(cls, parts: Sequence[Rows], width: int) -> Rows:
        """Returns the rows of all parts in order; with no parts, no rows of `width` integers."""
        if len(parts) == 1:
            return parts[0]
        parts = parts or [cls.of(np.zeros((0, width), dtype=np.int64))]
        return cls(
            *(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls))
        )

    @classmethod
    def of(
        cls,
        positions: Any,
        *,
        value: Any = 0.0,
        result: Any = UNKNOWN,
        ply: Any = 0,
        game_number: Any = 0,
        bound: Any = EXACT,
        width: int | None = None,
    ) -> Rows:
        """Returns rows with copies of the arrays; a label that is one number holds for all rows.

        Raises ValueError for shapes that do not fit, labels out of range and values that are not
        finite.
        """
        rows = np.array(positions)
        if rows.size == 0 and rows.ndim != 2:
            rows = np.zeros((0, width or 0), dtype=np.int64)
        if rows.ndim != 2 or (width is not None and rows.shape[1] != width):
            raise ValueError(
                f"positions: expected [rows, {'integers' if width is None else width}], found an"
                f" array of shape {rows.shape}"
            )
        if rows.size and (
            rows.dtype.kind not in "iu"
            or (rows.dtype == np.uint64 and int(rows.max()) > np.iinfo(np.int64).max)
        ):
            raise ValueError(f"positions: expected integers of 64 bits, found {rows.dtype}")
        n = len(rows)
        numbers = _label("value", value, n)
        with np.errstate(over="ignore"):
            values = numbers.astype(np.float32)
        if not np.isfinite(values).all():
            raise ValueError("value: expected finite numbers, found NaN, infinity or too large")
        return cls(
            np.ascontiguousarray(rows, dtype=np.int64),
            values,
            _whole("result", result, n, -1, UNKNOWN, np.int8),
            _whole("ply", ply, n, 0, (1 << 16) - 1, np.uint16),
            _whole("game_number", game_number, n, 0, (1 << 32) - 1, np.uint32),
            np.ones(n, dtype=np.uint32),
            _whole("bound", bound, n, EXACT, UPPER, np.uint8),
        )


def _label(name: str, label: Any, n: int) -> NDArray[Any]:
    array = np.asarray(label)
    if array.dtype.kind not in "iuf" or array.shape not in ((), (n,)):
        raise ValueError(
            f"{name}: expected a number or {n} of them, found {array.dtype} of shape {array.shape}"
        )
    return array if array.shape else np.full(n, label)


def _whole(name: str, label: Any, n: int, low: int, high: int, kind: Any) -> NDArray[Any]:
    if type(label) is int and low <= label <= high:
        return np.full(n, label, kind)
    array = _label(name, label, n)
    if n and not (array.min() >= low and array.max() <= high and (array == np.rint(array)).all()):
        raise ValueError(
            f"{name}: expected whole numbers of {low} to {high}, found {array.min()} to"
            f" {array.max()}"
        )
    return array.astype(kind)


# --- files -----------------------------------------------------------------------------------


def pack(column: NDArray[np.int64]) -> tuple[int, NDArray[np.uint8]]:
    """Returns a column's smallest integer, and the bytes of the differences, [rows, bytes]."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    size = max(1, ((high - low).bit_length() + 7) // 8)
    rest = column.view(np.uint64) - np.uint64(low % (1 << 64))  # correct modulo 2 ** 64
    return low, np.ascontiguousarray(rest.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :size])


def unpack(low: int, packed: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Returns the column that `pack` packed."""
    whole = np.zeros((len(packed), 8), dtype=np.uint8)
    whole[:, : packed.shape[1]] = packed
    rest = whole.reshape(-1).view("<u8").astype(np.uint64, copy=False)
    return (rest + np.uint64(low % (1 << 64))).view(np.int64)


def write_shard(path: Path, rows: Rows, about: Mapping[str, Any]) -> None:
    """Write a shard atomically and durably; raises OSError if the disk refuses."""
    lows, arrays = [], {}
    for number, column in enumerate(rows.positions.T):
        low, arrays[f"column_{number}"] = pack(np.ascontiguousarray(column))
        lows.append(low)
    arrays |= {name: getattr(rows, name).astype(kind) for name, kind in LABELS.items()}
    if not rows.bound.any():
        del arrays["bound"]
    content = {"format": FORMAT, **about, "lows": lows, "checksum": _checksum(arrays)}
    write_atomically(path, safetensors.numpy.save(arrays, {_KEY: json.dumps(content)}))
    if os.name == "posix":  # so that the new file survives a power cut
        handle = os.open(path.parent, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> int:
    total = 0
    for name in sorted(arrays):
        total = zlib.crc32(np.ascontiguousarray(arrays[name]).data, total)
    return total


@contextmanager
def _opened(path: Path, expected: Mapping[str, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Open a shard for reading; any error becomes a StoreError that names the file."""
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            about = json.loads((file.metadata() or {})[_KEY])
            for name, value in {"format": FORMAT, **expected}.items():
                if about[name] != value:
                    raise StoreError(
                        f"expected positions of {name} {value!r}, found {str(about[name])[:60]!r}"
                    )
            yield file, about
    except FileNotFoundError:
        raise
    except StoreError as error:
        raise StoreError(f"{path}: {error}") from None
    except (safetensors.SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path}: expected a shard, found a damaged one: {error}") from None
    except (OverflowError, RecursionError) as error:
        raise StoreError(f"{path}: expected a shard that can be read, found: {error}") from None


def rows_of_shard(path: Path, expected: Mapping[str, Any]) -> int:
    """Returns the number of rows of a shard.

    Raises StoreError, with the file's name, if it is not a shard or is of another game.
    """
    with _opened(path, expected) as (file, _):
        return int(file.get_slice("value").get_shape()[0])


def read_shard(path: Path, expected: Mapping[str, Any]) -> Rows:
    """Returns the rows of a shard.

    expected: its `about`: the name of the game, the version of its rules, and the `width`, the
        number of integers of a position.

    Raises StoreError, with the file's name, if it is not a shard or is damaged.
    """
    with _opened(path, expected) as (file, about):
        arrays = {name: file.get_tensor(name) for name in file.keys()}
        if (checksum := _checksum(arrays)) != about["checksum"]:
            raise StoreError(
                f"expected arrays with the checksum {about['checksum']}, found {checksum}"
            )
        rows = len(arrays["value"])
        labels = {name: arrays[name] for name in LABELS if name != "bound"}
        labels["bound"] = arrays.get("bound", np.zeros(rows, dtype=np.uint8))
        columns = [arrays[f"column_{number}"] for number in range(about["width"])]
        for name, label in labels.items():
            if label.dtype != LABELS[name] or label.shape != (rows,):
                raise StoreError(
                    f"{name}: expected {rows} numbers of {LABELS[name]}, found {label.dtype} of"
                    f" {label.shape}"
                )
        for column in columns:
            if column.dtype != np.uint8 or column.ndim != 2 or not 1 <= column.shape[1] <= 8:
                raise StoreError(
                    f"expected columns of 1 to 8 bytes, found {column.dtype} of {column.shape}"
                )
        if rows and labels["bound"].max() > UPPER:
            raise StoreError(f"bound: expected at most {UPPER}, found {labels['bound'].max()}")
        positions = np.zeros((rows, about["width"]), dtype=np.int64)
        for number, (low, column) in enumerate(zip(about["lows"], columns, strict=True)):
            positions[:, number] = unpack(int(low), column)
    return Rows(positions, **labels, count=np.ones(rows, dtype=np.uint32))

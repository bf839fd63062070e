"""Labelled positions in memory, and their file form: one shard of a position store.

A shard is an uncompressed `.npz` that `numpy.load` opens without pickle. Positions are stored
column by column in as few bytes as the differences to the column's smallest integer need: a column
of five bytes is an array of four-byte integers (`c0_0`: column 0, from byte 0) and one of single
bytes (`c0_4`). The labels are arrays under their own names, and `about` describes the rest in JSON.
The same rows make the same bytes. Readers check everything against `about`, and zip keeps a
checksum. Shards with bounds are of the second format, which has one more label, `bound`.
"""

from __future__ import annotations

import io
import json
import os
import secrets
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from games.values import EXACT, UPPER
from games.whole_files import naming

__all__ = ["UNKNOWN", "Rows", "StoreError", "read_about", "read_shard", "write_shard"]

#: The format of shards whose values are all exact, and of those with bounds.
FORMATS = ("plysmith-positions-1", "plysmith-positions-2")
#: The result of a game that nobody finished.
UNKNOWN = 2
LABELS = {"value": "<f4", "result": "|i1", "ply": "<u2", "game_number": "<u4"}
BOUND = {"bound": "|u1"}
#: Bytes that one array of a column takes, most first.
PIECES = {8: "<u8", 4: "<u4", 2: "<u2", 1: "|u1"}
MOST_ROWS = 1 << 28


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
        it is only a lower or an upper bound of that.
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
    return np.broadcast_to(array, (n,))


def _whole(name: str, label: Any, n: int, low: int, high: int, kind: Any) -> NDArray[Any]:
    array = _label(name, label, n)
    if n and not (array.min() >= low and array.max() <= high and (array == np.rint(array)).all()):
        raise ValueError(
            f"{name}: expected whole numbers of {low} to {high}, found {array.min()} to"
            f" {array.max()}"
        )
    return array.astype(kind)


# --- packing ---------------------------------------------------------------------------------


def pack(column: NDArray[np.int64]) -> tuple[int, int, dict[int, NDArray[Any]]]:
    """Returns a column's smallest integer, its bytes per entry, and its arrays by first byte."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    size = ((high - low).bit_length() + 7) // 8
    rest = column.view(np.uint64) - np.uint64(low % (1 << 64))  # right modulo 2 ** 64
    arrays = {}
    for first, bytes_ in pieces(size):
        shifted = rest >> np.uint64(8 * first) if first else rest
        arrays[first] = shifted.astype(PIECES[bytes_])
    return low, size, arrays


def pieces(size: int) -> Iterator[tuple[int, int]]:
    """Yields the first byte and the number of bytes of each array that holds a column."""
    first = 0
    for bytes_ in PIECES:
        if size & bytes_:
            yield first, bytes_
            first += bytes_


def unpack(low: int, arrays: dict[int, NDArray[Any]], target: NDArray[np.int64]) -> None:
    """Write the integers that `pack` packed into `target`."""
    total = np.full(len(target), low % (1 << 64), dtype=np.uint64)
    for first, array in arrays.items():
        total += array if first == 0 else array.astype(np.uint64) << np.uint64(8 * first)
    target[:] = total.view(np.int64)


# --- files -----------------------------------------------------------------------------------


def write_shard(path: Path, rows: Rows, about: dict[str, Any], *, replace: bool) -> bool:
    """Write a shard atomically; returns False if it was not written.

    With `replace` the file replaces an existing one. Otherwise nothing is written if the file
    exists or another writer is about to make it. Raises OSError if the disk refuses.
    """
    with naming(path):
        return _written(path, rows, about, replace=replace)


def _written(path: Path, rows: Rows, about: dict[str, Any], *, replace: bool) -> bool:
    part = path.with_name(f".{path.name}.{secrets.token_hex(4) if replace else 'new'}.part")
    try:
        file = open(part, "xb")
    except FileExistsError:
        return False
    try:
        with file:
            if not replace and path.exists():  # made and finished since the folder was listed
                part.unlink()
                return False
            _write(file, rows, about)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _keep_names(path.parent)
    return True


def _keep_names(folder: Path) -> None:
    """Make a new name in a folder survive a loss of power, if the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(file: IO[bytes], rows: Rows, about: dict[str, Any]) -> None:
    columns = []
    arrays: dict[str, NDArray[Any]] = {}
    for number, column in enumerate(rows.positions.T):
        low, size, packed = pack(np.ascontiguousarray(column))
        columns.append([low, size])
        arrays |= {f"c{number}_{first}": array for first, array in packed.items()}
    bounded = bool(rows.bound.any())
    labels = LABELS | BOUND if bounded else LABELS
    arrays |= {name: getattr(rows, name).astype(kind) for name, kind in labels.items()}
    about = {"format": FORMATS[bounded], **about, "rows": len(rows), "columns": columns}
    text = json.dumps(about)
    arrays = {"about": np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            data = io.BytesIO()
            np.lib.format.write_array(data, array, allow_pickle=False)
            # a ZipInfo of no date, so that the same rows make the same file
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), data.getvalue())


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive for reading; any error becomes a StoreError that names the file."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except FileNotFoundError:
        raise
    except StoreError as error:
        raise StoreError(f"{path}: {error}") from None
    except (zipfile.BadZipFile, EOFError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path}: expected a shard, found a damaged one: {error}") from None
    except (NotImplementedError, RuntimeError, OSError, RecursionError) as error:
        raise StoreError(f"{path}: expected a shard that can be read, found: {error}") from None


def _member(
    archive: zipfile.ZipFile, name: str, kind: str, rows: int | None = None
) -> NDArray[Any]:
    """Returns a one-dimensional array after checking that it has the expected size."""
    info = archive.getinfo(f"{name}.npy")
    most = 1 << 20 if rows is None else rows * np.dtype(kind).itemsize + 4096
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > most:
        kind_found = "" if info.compress_type == zipfile.ZIP_STORED else " compressed"
        raise StoreError(
            f"{name}: expected at most {most} bytes as they are, found {info.file_size}{kind_found}"
        )
    data = io.BytesIO(archive.read(info))
    version = np.lib.format.read_magic(data)
    if version != (1, 0):
        raise StoreError(f"{name}: expected an array of NumPy's format (1, 0), found {version}")
    shape, _, dtype = np.lib.format.read_array_header_1_0(data)
    if dtype != np.dtype(kind) or len(shape) != 1 or rows not in (None, shape[0]):
        raise StoreError(f"{name}: expected {rows} numbers of {kind}, found {dtype} of {shape}")
    return np.frombuffer(data.getbuffer(), dtype=kind, offset=data.tell())


def _read_about(archive: zipfile.ZipFile, expected: dict[str, Any]) -> dict[str, Any]:
    about = json.loads(_member(archive, "about", "|u1").tobytes())
    if not isinstance(about, dict):
        raise StoreError("expected a description of the shard, found none")
    for name, values in {"format": FORMATS, **{n: (v,) for n, v in expected.items()}}.items():
        if about.get(name) not in values:
            found = str(about.get(name))[:60]
            wanted = " or ".join(map(repr, values))
            raise StoreError(f"expected positions of {name} {wanted}, found {found!r}")
    rows, columns = about.get("rows"), about.get("columns")
    if type(rows) is not int or not 0 <= rows <= MOST_ROWS:
        raise StoreError(f"expected 0 to {MOST_ROWS} rows, found {str(rows)[:60]}")
    if not isinstance(columns, list) or len(columns) != about["width"]:
        raise StoreError(f"expected {about['width']} columns, found {str(columns)[:60]}")
    for column in columns:
        low, size = column
        if type(low) is not int or type(size) is not int or not 0 <= size <= 8:
            raise StoreError(f"expected an integer and 0 to 8 bytes, found {str(column)[:60]}")
    return about


def read_about(path: Path, expected: dict[str, Any]) -> dict[str, Any]:
    """Returns the description of a shard: format, game, rules, width, rows and columns.

    Raises StoreError, with the file's name, if it is not a shard or is of another game.
    """
    with _opened(path) as archive:
        return _read_about(archive, expected)


def read_shard(path: Path, expected: dict[str, Any]) -> Rows:
    """Returns the rows of a shard.

    Raises StoreError, with the file's name, if it is not a shard or is damaged.
    """
    with _opened(path) as archive:
        about = _read_about(archive, expected)
        rows = about["rows"]
        labels = {name: _member(archive, name, kind, rows) for name, kind in LABELS.items()}
        bound = np.zeros(rows, dtype=np.uint8)
        if about["format"] == FORMATS[1]:
            bound = _member(archive, "bound", BOUND["bound"], rows)
            if rows and bound.max() > UPPER:
                raise StoreError(f"bound: expected at most {UPPER}, found {bound.max()}")
        positions = np.zeros((rows, about["width"]), dtype=np.int64)
        for number, (low, size) in enumerate(about["columns"]):
            arrays = {
                first: _member(archive, f"c{number}_{first}", PIECES[bytes_], rows)
                for first, bytes_ in pieces(size)
            }
            unpack(low, arrays, positions[:, number])
    return Rows(positions, **labels, count=np.ones(rows, dtype=np.uint32), bound=bound)

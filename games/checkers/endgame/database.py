"""Endgame databases in memory and on disk: the form of files, and reading them.

A file for n pieces holds every slice of 2 up to n, in the order of `numbering.slices`, each after
a line of 256 bytes of JSON: the format, its material, the number of positions, and the SHA-256 of
the bytes that follow, one for each position (see `retrograde`). The file for fewer pieces is the
beginning of the one for more. In memory a database is an image of its file, mapped and not read.
"""

from __future__ import annotations

import functools
import hashlib
import json
import mmap
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_dir

from games.checkers.endgame.numbering import (
    MOST_PIECES,
    Material,
    positions_of,
    slices,
    zeros,
)

__all__ = [
    "AT_FIRST_USE",
    "HEADER",
    "Endgame",
    "EndgameError",
    "EndgameMissing",
    "empty",
    "is_whole",
    "layout",
    "map_values",
    "material_text",
    "path_of",
    "read",
    "record",
]

#: Increase it when the numbering of positions or the bytes of values change.
FORMAT = "plysmith-checkers-endgame-1"
#: Bytes before each slice.
HEADER = 256
#: Databases of at most this many pieces are built on first use, which takes
#: seconds.
AT_FIRST_USE = 4
#: Number of positions handled before the next check whether to stop.
CHUNK = 1 << 20


class EndgameError(ValueError):
    """A file is damaged or is not an endgame database."""


class EndgameMissing(EndgameError, FileNotFoundError):
    """The file of a database does not exist."""


@dataclass(frozen=True, eq=False)
class Endgame:
    """A database of at most `pieces` pieces: `starts` and `values` as in `retrograde`."""

    pieces: int
    starts: NDArray[np.int64]
    values: NDArray[np.int8]

    @property
    def tables(self) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """The arrays that the kernel `probe` reads."""
        return self.starts, self.values

    def slice_values(self, material: Material) -> NDArray[np.int8]:
        """Returns the values of one slice, a view."""
        start = int(self.starts[material])
        return self.values[start : start + positions_of(material)]


def path_of(pieces: int, folder: Any = None) -> Path:
    """Returns the file of a database, in `folder` or the user's cache directory.

    Raises ValueError unless 2 <= pieces <= 6.
    """
    if not 2 <= pieces <= MOST_PIECES:
        raise ValueError(f"pieces: expected 2 to {MOST_PIECES}, found {pieces}")
    place = user_cache_dir("plysmith", appauthor=False) if folder is None else folder
    return Path(place) / f"checkers-endgame-{pieces}.bin"


@functools.cache
def layout(pieces: int) -> tuple[NDArray[np.int64], int]:
    """Returns the places of slices, [own men, own kings, his men, his kings], and the file size."""
    starts = zeros(pieces)
    size = 0
    for material in slices(pieces):
        starts[material] = size + HEADER
        size += HEADER + positions_of(material)
    return starts, size


def empty(pieces: int) -> Endgame:
    """Returns a database in memory with zeros in place of headers and values."""
    starts, size = layout(pieces)
    return Endgame(pieces, starts, np.zeros(size, dtype=np.int8))


def material_text(material: Material) -> str:
    """Returns the usual name of a slice, `2K+1 v 1K`: kings before men, the side to move first."""
    sides = []
    for men, kings in (material[:2], material[2:]):
        parts = [f"{kings}K"] * (kings > 0) + [f"{men}"] * (men > 0)
        sides.append("+".join(parts))
    return " v ".join(sides)


def _header(material: Material, checksum: str) -> bytes:
    facts = {
        "format": FORMAT,
        "men and kings to move, men and kings of the other": list(material),
        "positions": positions_of(material),
        "sha256": checksum,
    }
    return json.dumps(facts).ljust(HEADER - 1).encode() + b"\n"


def record(endgame: Endgame, material: Material) -> memoryview:
    """Write the header of a slice before its values; returns both, as the file holds them."""
    start = int(endgame.starts[material])
    values = endgame.slice_values(material)
    header = _header(material, hashlib.sha256(values.data).hexdigest())
    endgame.values[start - HEADER : start] = np.frombuffer(header, dtype=np.int8)
    return endgame.values[start - HEADER : start + len(values)].data


def is_whole(endgame: Endgame, material: Material) -> bool:
    """Whether the header and the values of a slice agree."""
    headers, expected = _headers(endgame, material)
    return headers == expected


def _headers(endgame: Endgame, material: Material) -> tuple[bytes, bytes]:
    start = int(endgame.starts[material])
    header = endgame.values[start - HEADER : start].tobytes()
    checksum = hashlib.sha256(endgame.slice_values(material).data).hexdigest()
    return header, _header(material, checksum)


def read(path: Path, pieces: int) -> Endgame:
    """Returns the database in a file, mapped into memory; checks every slice against its header.

    Raises EndgameMissing if the file does not exist, and EndgameError if it is damaged, cut off or
    not a database.
    """
    starts, size = layout(pieces)
    try:
        with path.open("rb") as file:
            length = os.fstat(file.fileno()).st_size
            if length != size:
                raise EndgameError(
                    f"{path}: expected {size} bytes, a checkers endgame database of {pieces}"
                    f" pieces, found {length}"
                )
    except (FileNotFoundError, NotADirectoryError):
        raise EndgameMissing(
            f"{path}: expected a checkers endgame database of {pieces} pieces, which does"
            " not exist; build it with: python -m games.checkers.endgame build --pieces"
            f" {pieces}"
        ) from None
    endgame = Endgame(pieces, starts, map_values(path))
    for material in slices(pieces):
        header, expected = _headers(endgame, material)
        if header != expected:
            raise EndgameError(
                f"{path}: {material_text(material)}: expected values that go with the header"
                f" {_short(expected)}, found {_short(header)}; the file is damaged; build it again"
            )
    return endgame


def map_values(path: Path) -> NDArray[np.int8]:
    """Returns the bytes of a file, mapped into memory."""
    with path.open("rb") as file:
        # a private copy that is never written to, so that kernels see an ordinary array
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), dtype=np.int8)


def _short(header: bytes) -> str:
    return header.decode("ascii", "replace").strip()[-80:]

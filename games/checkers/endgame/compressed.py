"""Compressed endgame databases on disk, and making them from those of `database`.

A file holds slices one after another, each after a line of 384 bytes of JSON: the format, its
material, the numbers of positions, wins, losses and draws, the bytes of its codes, and the SHA-256
of these facts with the bytes that follow: an entry of four bytes for each block, and the codes (see
`runs`). It need not hold all slices, so that a database which is still being built can be used.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.checkers.endgame.building import alone, check_space
from games.checkers.endgame.database import (
    CHUNK,
    Endgame,
    EndgameError,
    EndgameMissing,
    is_whole,
    layout,
    map_values,
    material_text,
    path_of,
    read,
)
from games.checkers.endgame.numbering import Material, positions_of, slices, zeros
from games.checkers.endgame.runs import (
    BLOCK,
    PLACE,
    RESULT_NAMES,
    differs,
    encoded,
    is_place,
    result_at,
    result_of,
)

__all__ = ["Compressed", "compare", "compress", "compressed_path", "read_compressed"]

#: Increase it when the numbering of positions, the codes or their lengths change.
FORMAT = "plysmith-checkers-wdl-1"
#: Bytes before each slice.
LINE = 384


@dataclass(frozen=True)
class Slice:
    """What a file says of a slice: its counts for the side to move, and the bytes of its codes."""

    material: Material
    wins: int
    losses: int
    draws: int
    coded: int

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return -(-positions_of(self.material) // BLOCK)

    def line(self, content: bytes) -> bytes:
        """Returns the line before the slice, whose blocks and codes are `content`."""
        facts = {
            "format": FORMAT,
            "men and kings to move, men and kings of the other": list(self.material),
            "positions": positions_of(self.material),
            "wins": self.wins,
            "losses": self.losses,
            "draws": self.draws,
            "bytes": self.coded,
        }
        digest = hashlib.sha256(json.dumps(facts).encode() + content).hexdigest()
        return json.dumps({**facts, "sha256": digest}).ljust(LINE - 1).encode() + b"\n"


@dataclass(frozen=True, eq=False)
class Compressed:
    """A compressed database; `starts`, `blocks` and `codes` as in `runs`.

    pieces: the most pieces of both sides together.
    slices: the slices that it holds.
    """

    pieces: int
    slices: tuple[Slice, ...]
    starts: NDArray[np.int64]
    blocks: NDArray[np.int32]
    codes: NDArray[np.int8]

    @property
    def tables(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int8]]:
        """The arrays that the kernel `runs.probe` reads."""
        return self.starts, self.blocks, self.codes


def compressed_path(pieces: int, folder: Any = None) -> Path:
    """Returns the file of a compressed database; parameters and errors are those of `path_of`."""
    return path_of(pieces, folder).with_name(f"checkers-wdl-{pieces}.bin")


def read_compressed(pieces: int, folder: Any = None) -> Compressed:
    """Returns the compressed database in its file, whose codes are mapped into memory.

    Raises EndgameMissing if the file does not exist, EndgameError if it is damaged.
    """
    path = compressed_path(pieces, folder)
    try:
        with path.open("rb") as file:
            held = list(_slices(file, pieces))
            end = file.tell()
            size = os.fstat(file.fileno()).st_size
            if end != size or not held:
                raise EndgameError(
                    f"{path}: expected slices of a compressed checkers endgame database of at most"
                    f" {pieces} pieces, found something else from byte {end} on, of {size}; the"
                    " file is damaged, compress replaces it"
                )
    except (FileNotFoundError, NotADirectoryError):
        raise EndgameMissing(
            f"{path}: expected a compressed checkers endgame database of {pieces} pieces, found"
            f" none; make it with: python -m games.checkers.endgame compress --pieces {pieces}"
        ) from None
    codes = map_values(path)
    starts = zeros(pieces)
    blocks: list[NDArray[np.int64]] = []
    count = place = 0
    for known in held:
        starts[known.material] = count * BLOCK
        place += LINE
        part = codes[place : place + 4 * known.blocks].view(np.uint32).astype(np.int64)
        place += 4 * known.blocks
        blocks.append(np.where(is_place(part), part + place, part))
        count += known.blocks
        place += known.coded
    table = np.concatenate(blocks).astype(np.uint32).view(np.int32)
    return Compressed(pieces, tuple(held), starts, table, codes)


def _slices(file: BufferedIOBase, pieces: int) -> Iterator[Slice]:
    """The undamaged slices of a file, which is then at the end of the last of them."""
    seen: set[Material] = set()
    wanted = set(slices(pieces))
    while True:
        place = file.tell()
        line = file.read(LINE)
        known = _parsed(line)
        if known is not None and known.material in wanted - seen:
            content = file.read(4 * known.blocks + known.coded)
            if known.line(content) == line and place + len(line) + len(content) <= PLACE:
                seen.add(known.material)
                yield known
                continue
        file.seek(place)
        return


def _parsed(line: bytes) -> Slice | None:
    try:
        facts = json.loads(line)
        material = tuple(facts["men and kings to move, men and kings of the other"])
        counts = [facts[name] for name in ("wins", "losses", "draws", "bytes")]
    except (ValueError, TypeError, KeyError):
        return None
    if not all(type(count) is int and 0 <= count <= PLACE << 8 for count in counts):
        return None
    whole = len(material) == 4 and all(type(count) is int for count in material)
    return Slice(material, *counts) if whole else None


def compress(
    pieces: int,
    folder: Any = None,
    *,
    progress: Callable[[int], None] = lambda positions: None,
) -> Path:
    """Compress the slices of a database that its compressed file lacks; returns that file's path.

    pieces: the most pieces of both sides together.
    folder: folder of both files; default: the user's cache.
    progress: called with the number of positions just compressed, or found to be.

    The slices are those of the database's file, or of one of which a build has completed some. An
    interrupted run goes on where it stopped, from a file that ends in `.unfinished`, and a file
    with some of the slices is completed. Raises the errors of `read` and of writing the file.
    """
    path = compressed_path(pieces, folder)
    source = _source(pieces, folder)
    wanted = [material for material in slices(pieces) if source.starts[material] >= 0]
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    with alone(unfinished) as file:
        known = _resume(file, path, pieces)
        check_space(unfinished, sum(map(positions_of, wanted)) // BLOCK)
        for material in wanted:
            if material not in known:
                file.write(_compressed(source, material))
                file.flush()
            progress(positions_of(material))
        os.fsync(file.fileno())
        os.replace(unfinished, path)
    return path


def _source(pieces: int, folder: Any) -> Endgame:
    """Returns the database to be compressed, perhaps without some of its slices."""
    path = path_of(pieces, folder)
    begun = path.with_suffix(".unfinished")
    if path.exists() or not begun.exists():
        return read(path, pieces)
    starts, _ = layout(pieces)
    found = Endgame(pieces, starts.copy(), map_values(begun))
    whole = True
    for material in slices(pieces):
        end = int(starts[material]) + positions_of(material)
        whole = whole and end <= len(found.values) and is_whole(found, material)
        if not whole:
            found.starts[material] = -1
    return found


def _resume(file: Any, path: Path, pieces: int) -> set[Material]:
    """Leave the undamaged slices that are known already in an unfinished file; returns them."""
    file.seek(0)
    known = list(_slices(file, pieces))
    if not known and path.exists():
        with path.open("rb") as before:
            known = list(_slices(before, pieces))
            end = before.tell()
            before.seek(0)
            content = before.read(end)
        file.truncate(0)
        file.write(content)
    file.truncate(file.tell())
    return {one.material for one in known}


def _compressed(source: Endgame, material: Material) -> bytes:
    """Returns the slice as the file holds it, with the line before it."""
    values = source.slice_values(material)
    blocks, codes = encoded(values, material)
    codes += bytes(-len(codes) % 4)
    content = blocks.astype("<u4").tobytes() + codes
    tally = source.tally(material)
    known = Slice(material, tally.wins, tally.losses, tally.draws, len(codes))
    return known.line(content) + content


def compare(
    found: Compressed, source: Endgame, *, progress: Callable[[int], None] = lambda positions: None
) -> None:
    """Compare every quiet position, and the counts, with the database that was compressed.

    progress: called with the number of positions just compared.

    Raises EndgameError, which names a position, if a result differs.
    """
    for known in found.slices:
        values = source.slice_values(known.material)
        tally = source.tally(known.material)
        counts = replace(known, wins=tally.wins, losses=tally.losses, draws=tally.draws)
        if known != counts:
            raise EndgameError(
                f"{material_text(known.material)}: expected the counts {counts}, found {known}"
            )
        start = int(found.starts[known.material])
        for begin in range(0, len(values), CHUNK):
            end = min(begin + CHUNK, len(values))
            wrong = differs(found.blocks, found.codes, start, values, known.material, begin, end)
            if wrong >= 0:
                expected = result_of(values, known.material, wrong)
                result = result_at(found.blocks, found.codes, start + wrong)
                raise EndgameError(
                    f"{material_text(known.material)}, number {wrong}: expected"
                    f" {RESULT_NAMES[expected]}, found {RESULT_NAMES[result]}"
                )
            progress(end - begin)

"""Building endgame databases slice by slice, on threads; an interrupted build is resumed.

Call `endgame` for a database; `build` builds one.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BufferedRandom
from pathlib import Path
from typing import Any

import numpy as np

from games.checkers.endgame import database
from games.checkers.endgame.numbering import Material, pairs, positions_of, slices, turned
from games.checkers.endgame.retrograde import FARTHEST, prepare, settle, spread
from games.checkers.rules import MOST_MOVES
from programs.arguments import THREADS
from programs.ending import result_of
from programs.lock import alone
from programs.whole_files import write_atomically

__all__ = ["build", "check_space", "endgame", "solve"]

#: Called with the slices whose values have just become known.
Progress = Callable[[list[Material]], None]


def endgame(pieces: int = database.AT_FIRST_USE, folder: Any = None) -> database.Endgame:
    """Returns the database of at most `pieces` pieces, from its file in `folder`.

    The default folder is the user's cache. If there is no file, a database of at most four pieces
    is built, and written to its file if possible. A process reads it once and shares it: do not
    change it. Raises ValueError if `pieces` is out of range, and EndgameMissing (a
    FileNotFoundError) and EndgameError as `read` does.
    """
    return _shared(database.path_of(pieces, folder), pieces)


@functools.cache
def _shared(path: Path, pieces: int) -> database.Endgame:
    try:
        return database.read(path, pieces)
    except database.EndgameMissing:
        if pieces > database.AT_FIRST_USE:
            raise
    made = database.empty(pieces)
    for materials in solve(made, 0, threads=1):
        for material in materials:
            database.record(made, material)
    with contextlib.suppress(OSError):
        write_atomically(path, made.values.data)
    return made


def build(
    pieces: int,
    folder: Any = None,
    *,
    threads: int = THREADS,
    progress: Progress = lambda materials: None,
) -> Path:
    """Make the file of a database unless it exists and is undamaged; returns its path.

    pieces: the largest number of pieces of both sides together.
    folder: folder of the file; default: the user's cache.
    threads: number of slices that are solved at a time.
    progress: called with the slices whose values have just become known.

    The build starts from the slices of a file for fewer pieces, if there is one. Complete slices
    are kept next to the file, in one that ends in `.unfinished`, from which an interrupted build is
    resumed; the result is the same to the last bit. A damaged file is replaced. Memory: the size of
    the file, and a byte for each position of the slices in progress.

    Raises ValueError for numbers out of range, OSError if the file cannot be written, such as for
    lack of space (complete slices are then kept), and LockedError if another process is building
    the same file.
    """
    path = database.path_of(pieces, folder)
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, found {threads}")
    unfinished = path.with_suffix(".unfinished")
    with alone(path.with_suffix(".lock"), str(path)):
        try:
            database.read(path, pieces)
        except database.EndgameError:
            _build(pieces, folder, unfinished, threads, progress)
            os.replace(unfinished, path)
        else:
            progress(slices(pieces))
    return path


def _build(pieces: int, folder: Any, unfinished: Path, threads: int, progress: Progress) -> None:
    """Make the unfinished file whole; the parameters are those of `build`."""
    made = database.empty(pieces)
    with unfinished.open("ab+") as file:
        solved = _resume(made, file) or _begin(made, file, folder)
        progress([material for pair in pairs(pieces)[:solved] for material in pair])
        check_space(unfinished, len(made.values) - file.tell())
        try:
            for materials in solve(made, solved, threads=threads):
                for material in materials:
                    file.write(database.record(made, material))
                file.flush()
                progress(materials)
            os.fsync(file.fileno())
        except OSError as error:
            raise OSError(
                f"{unfinished}: expected room for {len(made.values)} bytes, found:"
                f" {error.strerror}; the next build continues from the complete slices"
            ) from error


def _resume(made: database.Endgame, file: BufferedRandom) -> int:
    """Read the complete pairs of an unfinished file and cut off the rest; returns their number."""
    file.seek(0)
    solved = end = 0
    for pair in pairs(made.pieces):
        if not all(_read_slice(made, file, material) for material in pair):
            break
        solved, end = solved + 1, file.tell()
    file.truncate(end)
    file.seek(end)
    return solved


def _read_slice(made: database.Endgame, file: BufferedRandom, material: Material) -> bool:
    start = int(made.starts[material])
    part = made.values[start - database.HEADER : start + positions_of(material)]
    return file.readinto(part.data) == len(part) and database.is_whole(made, material)


def _begin(made: database.Endgame, file: BufferedRandom, folder: Any) -> int:
    """Copy the slices of the largest file for fewer pieces; returns the number of pairs."""
    for fewer in range(made.pieces - 1, 1, -1):
        try:
            smaller = database.read(database.path_of(fewer, folder), fewer)
        except database.EndgameError:
            continue
        made.values[: len(smaller.values)] = smaller.values
        file.write(smaller.values.data)
        return len(pairs(fewer))
    return 0


def check_space(path: Path, needed: int) -> None:
    """Raises OSError if the disk of a file has less than `needed` bytes of free space."""
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise OSError(f"{path}: expected {needed} bytes of free space, found {free}")


def solve(made: database.Endgame, known: int, *, threads: int) -> Iterator[list[Material]]:
    """Fill a database whose first `known` pairs are solved; yields each further pair once solved.

    The order is that of `pairs`, and values do not depend on `threads`. Slices with the same number
    of pieces and the same number of men do not lead to each other, so that threads can solve them
    side by side.
    """
    stop = threading.Event()
    with ThreadPoolExecutor(threads) as pool:
        try:
            by_men = itertools.groupby(
                pairs(made.pieces)[known:], lambda pair: (sum(pair[0]), pair[0][0] + pair[0][2])
            )
            for _, group in by_men:
                wave = list(group)
                largest_first = sorted(wave, key=lambda pair: -positions_of(pair[0]))
                tasks = {pair[0]: pool.submit(_solve, made, pair, stop) for pair in largest_first}
                for pair in wave:
                    result_of(tasks[pair[0]])
                    yield pair
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def _solve(made: database.Endgame, pair: list[Material], stop: threading.Event) -> None:
    """Solve a slice together with the one of the other side, unless told to stop."""
    moves = np.zeros(MOST_MOVES, dtype=np.int64)
    left = {material: np.zeros(positions_of(material), dtype=np.int8) for material in pair}
    farthest = 0
    for material in pair:
        size = positions_of(material)
        for begin in range(0, size, database.CHUNK):
            if stop.is_set():
                return
            end = min(begin + database.CHUNK, size)
            prepared = prepare(*made.tables, material, begin, end, left[material], moves)
            farthest = max(farthest, prepared)
    value = 1
    while value <= farthest:
        if value > FARTHEST:
            raise database.EndgameError(
                f"{database.material_text(pair[0])}: expected wins in at most"
                f" {2 * FARTHEST - 1} plies, because a value is a byte, found a longer one"
            )
        for sign in (-1, 1):
            for material in pair:
                if stop.is_set():
                    return
                before = left[turned(material)]
                if spread(*made.tables, material, left[material], before, sign * value):
                    farthest = max(farthest, value + (sign > 0))
        value += 1
    for material in pair:
        settle(*made.tables, material, left[material])

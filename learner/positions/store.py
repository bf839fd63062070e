"""The position store: tens of millions of labelled positions from games, on disk.

A folder of shards (`learner.positions.shards`), each with a fixed number of rows. A writer only
adds; readers see whole shards, in the order of their numbers. The same rows make the same shards
however often they were flushed, so that a run that is cut back to its last checkpoint (`truncate`)
and continues leaves the same files as one that was never interrupted.
"""

from __future__ import annotations

import functools
import operator
import re
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

from games.contract import Game
from learner.positions.filters import Filter, Games, distinct
from learner.positions.shards import (
    Rows,
    StoreError,
    read_shard,
    rows_of_shard,
    write_shard,
)
from programs.whole_files import UNFINISHED

__all__ = [
    "Filter",
    "Games",
    "PositionStore",
    "Rows",
    "StoreError",
    "distinct",
    "own_folder",
]

SHARD = re.compile(r"positions-(\d{6,})\.safetensors")
ALL = Filter()


def own_folder(owner: object, folder: Any) -> Path:
    """Returns the folder; for None a temporary one, which is removed with its owner."""
    if folder is None:
        folder = tempfile.mkdtemp(prefix="plysmith-positions-")
        weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


class PositionStore:
    """A folder of labelled positions of one game, whose positions are tuples of integers.

    folder: the folder, which is made if it does not exist.
    game: the game.
    shard_rows: rows of a full shard.

    Appended positions wait in memory until `shard_rows` of them make a shard, or until `flush`;
    only rows in shards are read. One writer at a time may use a folder. Damaged shards, and those
    of another game or of other rules, raise StoreError with their names.
    """

    def __init__(self, folder: Any, game: Game, *, shard_rows: int = 500_000) -> None:
        start = game.start()
        if not (isinstance(start, tuple) and all(isinstance(x, int) for x in start)):
            raise TypeError(
                f"expected a game whose positions are tuples of integers, found {game.name} with"
                f" {str(start)[:60]}"
            )
        if not 1 <= shard_rows <= 1 << 26:
            raise ValueError(f"shard_rows: expected 1 to {1 << 26}, found {shard_rows}")
        self.folder = Path(folder)
        self.game = game
        self.shard_rows = shard_rows
        self._width = len(start)
        self._about = {"game": game.name, "rules": game.version, "width": self._width}
        self._waiting: list[Rows] = []  # rows that the next shard begins with
        self._in_memory = 0  # number of these rows
        self._shard: Path | None = None  # the shard that holds the first of them
        self._written = 0  # number of its rows
        self._known: dict[Path, tuple[tuple[int, int], int]] = {}

    def __reduce__(self) -> Any:
        # a copy reads the same folder; rows that were not flushed are not in it
        kind = functools.partial(PositionStore, shard_rows=self.shard_rows)
        return kind, (self.folder, self.game)

    # --- writing ------------------------------------------------------------------------------

    def extend(self, rows: Rows) -> None:
        """Add rows, whose positions are as wide as this store's, in order.

        Raises OSError if a shard cannot be written, which is tried again with the next rows.
        """
        self._waiting.append(rows)
        self._in_memory += len(rows)
        if self._in_memory >= self.shard_rows:
            rows = self._gathered()
            while len(rows) >= self.shard_rows:
                self._write(rows.take(slice(self.shard_rows)), self._shard)
                rows = rows.take(slice(self.shard_rows, None))
                self._begin([rows], None)

    def flush(self) -> None:
        """Write the waiting rows as a smaller shard, which this store continues to fill.

        Rewrites at most one shard, and so is cheap compared with a game or two, but not free.
        """
        if self._in_memory > self._written:
            rows = self._gathered()
            self._shard = self._write(rows, self._shard)
            self._written = len(rows)

    def truncate(self, rows: int) -> None:
        """Cut the store to its first `rows` rows, as `len` counted them at a checkpoint.

        Forgets rows that were not flushed, removes leftovers of killed writers, and continues to
        fill the last shard. If interrupted, it can be repeated. Raises StoreError if the store has
        fewer rows.
        """
        if operator.index(rows) < 0:
            raise ValueError(f"rows: expected at least 0, found {rows}")
        paths = self._paths()
        shards: list[tuple[Path, int]] = []
        missing = rows
        while missing and paths:
            path = paths.pop(0)
            size = self._rows_of(path)
            shards.append((path, min(size, missing)))
            missing -= shards[-1][1]
        if missing:
            raise StoreError(
                f"{self.folder}: expected at least {rows} rows, found {rows - missing}"
            )
        for path in reversed(paths):
            path.unlink()
        for torn in self.folder.glob(f".positions-*{UNFINISHED}"):
            torn.unlink(missing_ok=True)
        self._begin([], None)
        if not shards:
            return
        path, size = shards[-1]
        if size < self._rows_of(path):
            write_shard(path, self._read(path).take(slice(size)), self._about)
        if size < self.shard_rows:
            self._begin([self._read(path)], path)

    @property
    def waiting(self) -> int:
        """The number of rows that are only in memory."""
        return self._in_memory - self._written

    def _begin(self, rows: list[Rows], shard: Path | None) -> None:
        """Begin a shard with these rows; if the shard's file exists, all of them are in it."""
        self._waiting, self._shard = rows, shard
        self._in_memory = sum(map(len, rows))
        self._written = self._in_memory if shard is not None else 0

    def _gathered(self) -> Rows:
        self._waiting = [Rows.concatenate(self._waiting, self._width)]
        return self._waiting[0]

    def _write(self, rows: Rows, path: Path | None) -> Path:
        """Put rows into a shard: this one, or the next."""
        if path is None:
            paths = self._paths()
            number = self._number(paths[-1]) if paths else 0
            path = self.folder / f"positions-{number + 1:06d}.safetensors"
        write_shard(path, rows, self._about)
        return path

    # --- reading ------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Returns the number of rows in shards."""
        return sum(self.shards().values())

    def shards(self) -> dict[str, int]:
        """Returns the names of the shards, in order, and their numbers of rows."""
        return {path.name: self._rows_of(path) for path in self._paths()}

    def load(self, *, keep: Filter = ALL) -> Rows:
        """Returns the rows that pass `keep`, in the order of writing."""
        parts = [keep.apply(self.game, self._read(path)) for path in self._paths()]
        return Rows.concatenate(parts, self._width)

    def _paths(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        paths = [path for path in self.folder.iterdir() if SHARD.fullmatch(path.name)]
        return sorted(paths, key=self._number)

    @staticmethod
    def _number(path: Path) -> int:
        match = SHARD.fullmatch(path.name)
        assert match is not None
        return int(match[1])

    def _rows_of(self, path: Path) -> int:
        facts = path.stat()
        mark = (facts.st_mtime_ns, facts.st_size)
        entry = self._known.get(path)
        if entry is None or entry[0] != mark:
            entry = mark, rows_of_shard(path, self._about)
            self._known[path] = entry
        return entry[1]

    def _read(self, path: Path) -> Rows:
        return read_shard(path, self._about)

"""The position store: tens of millions of labelled positions from games, on disk.

A folder of shards (`learner.positions.shards`), each with a fixed number of rows. Writers only add;
readers see whole shards, in the order of their numbers. With one writer everything is reproducible:
the same rows make the same shards however often they were flushed, so that a run that is cut back
to its last checkpoint (`truncate`) and continues leaves the same files as one that was never
interrupted.
"""

from __future__ import annotations

import operator
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from games.contract import Game
from learner.positions.filters import Filter, Games, distinct, split
from learner.positions.shards import UNKNOWN, Rows, StoreError, read_about, read_shard, write_shard

__all__ = [
    "Filter", "Games", "PositionStore", "Rows", "StoreError", "distinct", "own_folder", "split",
]  # fmt: skip

SHARD = re.compile(r"positions-(\d{6,})\.npz")


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
    skip_damaged: whether reading skips damaged shards, which `skipped` then lists with the reasons.

    Appended positions wait in memory until `shard_rows` of them make a shard, or until `flush`;
    only rows in shards are read. Several writers, in threads that share a store or in processes
    with one each, never overwrite one another's rows. Damaged shards, and those of another game or
    of other rules, raise StoreError with their names unless `skip_damaged`.
    """

    def __init__(
        self,
        folder: Any,
        game: Game,
        *,
        shard_rows: int = 500_000,
        skip_damaged: bool = False,
    ) -> None:
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
        self.skip_damaged = skip_damaged
        self.skipped: dict[str, str] = {}
        self._width = len(start)
        self._about = {"game": game.name, "rules": game.version, "width": self._width}
        self._lock = threading.Lock()
        self._waiting: list[Rows] = []  # rows that the next shard begins with
        self._in_memory = 0  # number of these rows
        self._shard: Path | None = None  # the shard that holds the first of them
        self._written = 0  # number of its rows
        self._known: dict[Path, tuple[tuple[int, int], int]] = {}

    def __reduce__(self) -> Any:
        # a copy reads the same folder; rows that were not flushed are not in it
        return _again, (self.folder, self.game, self.shard_rows, self.skip_damaged)

    def __enter__(self) -> PositionStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Flush: appended rows are kept after any error."""
        self.flush()

    # --- writing ------------------------------------------------------------------------------

    def append(
        self, positions: Any, *, value: Any, result: Any = UNKNOWN, ply: Any = 0, game_number: Any
    ) -> None:
        """Add positions, integers [rows, width], in order; `Rows` explains the labels.

        A label may be one number for all rows. The arrays are copied. Raises ValueError, and adds
        nothing, for labels out of range. Raises OSError if a shard cannot be written, which is
        tried again with the next rows.
        """
        rows = Rows.of(
            positions,
            value=value,
            result=result,
            ply=ply,
            game_number=game_number,
            width=self._width,
        )
        self.extend(rows)

    def extend(self, rows: Rows) -> None:
        """Add existing rows, whose positions are as wide as this store's; see `append`."""
        with self._lock:
            self._waiting.append(rows)
            self._in_memory += len(rows)
            if self._in_memory >= self.shard_rows:
                self._write_full()

    def flush(self) -> None:
        """Write the waiting rows as a smaller shard, which this store goes on filling.

        Rewrites at most one shard, and so is cheap beside a game or two, but not free.
        """
        with self._lock:
            if self._in_memory > self._written:
                rows = self._gathered()
                self._shard = self._write(rows, self._shard)
                self._written = len(rows)

    def truncate(self, rows: int) -> None:
        """Cut the store to its first `rows` rows, as `len` counted them at a checkpoint.

        Forgets rows that were not flushed, removes leftovers of killed writers, and goes on filling
        the last shard. No other writer may be at work. If interrupted, it can be repeated. Raises
        StoreError if the store has fewer rows.
        """
        if operator.index(rows) < 0:
            raise ValueError(f"rows: expected at least 0, found {rows}")
        with self._lock:
            paths = self._paths()
            kept: list[tuple[Path, int]] = []
            missing = rows
            while missing and paths:
                path = paths.pop(0)
                size = self._rows_of(path)
                kept.append((path, min(size, missing)))
                missing -= kept[-1][1]
            if missing:
                raise StoreError(
                    f"{self.folder}: expected at least {rows} rows, found {rows - missing}"
                )
            for path in reversed(paths):
                path.unlink()
            if self.folder.is_dir():
                for torn in self.folder.glob(".positions-*.part"):
                    torn.unlink(missing_ok=True)
            self._begin([], None)
            if not kept:
                return
            path, size = kept[-1]
            if size < self._rows_of(path):
                write_shard(path, self._read(path).take(slice(size)), self._about, replace=True)
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

    def _write_full(self) -> None:
        rows = self._gathered()
        while len(rows) >= self.shard_rows:
            self._write(rows.take(slice(self.shard_rows)), self._shard)
            rows = rows.take(slice(self.shard_rows, None))
            self._begin([rows], None)

    def _write(self, rows: Rows, path: Path | None) -> Path:
        """Put rows into a shard: this one, or the next that no other writer has taken."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if path is not None:
            write_shard(path, rows, self._about, replace=True)
            return path
        paths = self._paths()
        number = self._number(paths[-1]) if paths else 0
        while True:
            number += 1
            path = self.folder / f"positions-{number:06d}.npz"
            if write_shard(path, rows, self._about, replace=False):
                return path

    # --- reading ------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Returns the number of rows in shards that can be read."""
        return sum(self.shards().values())

    def shards(self) -> dict[str, int]:
        """Returns the names of the shards that can be read, in order, and their numbers of rows."""
        sizes = {}
        for path in self._paths():
            with_rows = self._tolerant(self._rows_of, path)
            if with_rows is not None:
                sizes[path.name] = with_rows
        return sizes

    def load(self, limit: int | None = None, *, keep: Filter = ALL) -> Rows:
        """Returns the rows that pass `keep`, in the order of writing; at most the first `limit`."""
        if limit is not None and limit < 0:
            raise ValueError(f"limit: expected at least 0, found {limit}")
        parts = []
        missing = float("inf") if limit is None else limit
        for path in self._paths():
            if missing <= 0:
                break
            rows = self._tolerant(self._read, path)
            if rows is None:
                continue
            rows = keep.apply(self.game, rows)
            if len(rows) > missing:
                rows = rows.take(slice(int(missing)))
            parts.append(rows)
            missing -= len(rows)
        return Rows.concatenate(parts, self._width)

    def sample(
        self,
        batch: int,
        *,
        seed: int,
        epochs: int | None = 1,
        first_epoch: int = 0,
        keep: Filter = ALL,
        open_shards: int = 4,
    ) -> Iterator[Rows]:
        """Yields batches of `batch` rows in random order, each row that passes once per epoch.

        batch: rows of a batch; the last one of an epoch may be smaller.
        seed: seed of the order, which also depends on the number of the epoch, `open_shards` and
            the shards at the beginning of the epoch.
        epochs: number of epochs (None: without end, unless there are no rows).
        first_epoch: number of the first epoch, with which training resumes between two epochs.
        keep: the filter of rows.
        open_shards: number of shards whose rows are shuffled together; they are drawn in random
            order and are in memory (about 100 bytes per row).
        """
        if batch < 1 or open_shards < 1:
            raise ValueError(
                f"batch, open_shards: expected at least 1, found {batch} and {open_shards}"
            )
        return self._batches(batch, seed, epochs, first_epoch, keep, open_shards)

    def _batches(
        self,
        batch: int,
        seed: int,
        epochs: int | None,
        first_epoch: int,
        keep: Filter,
        open_shards: int,
    ) -> Iterator[Rows]:
        epoch = first_epoch
        while epochs is None or epoch < first_epoch + epochs:
            random = np.random.default_rng([seed, epoch])
            rest = Rows.concatenate([], self._width)
            empty = True
            paths = self._paths()
            order = random.permutation(len(paths))
            for first in range(0, len(paths), open_shards):
                read = [
                    self._tolerant(self._read, paths[i]) for i in order[first : first + open_shards]
                ]
                parts = [keep.apply(self.game, rows) for rows in read if rows is not None]
                rows = Rows.concatenate(parts, self._width)
                del read, parts
                places = random.permutation(len(rows))
                used = 0
                while len(rest) + len(rows) - used >= batch:
                    chosen = rows.take(places[used : used + batch - len(rest)])
                    used += len(chosen)
                    if len(rest):
                        chosen = Rows.concatenate([rest, chosen], self._width)
                        rest = rest.take(slice(0))
                    empty = False
                    yield chosen
                rest = Rows.concatenate([rest, rows.take(places[used:])], self._width)
            if len(rest):
                yield rest
            elif empty:
                return
            epoch += 1

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
            entry = mark, int(read_about(path, self._about)["rows"])
            self._known[path] = entry
        return entry[1]

    def _read(self, path: Path) -> Rows:
        return read_shard(path, self._about)

    def _tolerant(self, read: Callable[[Path], Any], path: Path) -> Any:
        """Read from a shard; returns None if it is damaged and damaged shards are skipped."""
        try:
            return read(path)
        except StoreError as error:
            if not self.skip_damaged:
                raise
            self.skipped[path.name] = str(error)
            return None


def _again(folder: Path, game: Game, shard_rows: int, skip_damaged: bool) -> PositionStore:
    return PositionStore(folder, game, shard_rows=shard_rows, skip_damaged=skip_damaged)

"""The evaluators that a player can be: hand-crafted ones, shipped ones, and those of runs.

A browser names an evaluator by an id out of this list and never by a path, so that nothing outside
the folders given can be read. Links that lead out of them are not followed.
"""

from __future__ import annotations

import json
import struct
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import games
from games.contract import Game
from play.web.limits import Limits
from search import Evaluator, EvaluatorError, as_evaluator
from search.header import sample_positions

__all__ = ["Catalogue", "Entry", "Loaded", "inside"]

GAMES = ("checkers", "backgammon")
#: What the files of evaluators are called, in runs and in data; rote memories and tables are none.
SUFFIXES = (".json", ".safetensors")
LONGEST_HEADER = 1 << 20
DEEPEST_FOLDER = 6
MOST_FILES = 2000
FRESH = 2.0  # seconds that a list of files is taken to hold


@dataclass(frozen=True)
class Entry:
    """An evaluator that can be chosen: `source` is "hand-crafted", "shipped" or "run".

    `path` is None for one that is part of the game; `where` is the file's place below its folder.
    `kind` says what it is made of.
    """

    id: str
    game: str
    name: str
    kind: str
    source: str
    where: str = ""
    path: Path | None = None

    def view(self) -> dict[str, Any]:
        """What the browser is told of it."""
        fields = ("id", "game", "name", "kind", "source", "where")
        return {field: getattr(self, field) for field in fields}


@dataclass(frozen=True)
class Loaded:
    """An evaluator with the unit that its values are shown in.

    `unit` is the median of the absolute values on positions of random play: what a side has that
    is ahead as sides usually are. Values of evaluators with different units can be compared so.
    """

    entry: Entry
    evaluator: Evaluator
    unit: float


class Catalogue:
    """What is in `data` and `runs`, and the evaluators that were loaded last.

    May be used by several threads.
    """

    def __init__(self, data: Path, runs: Path, *, limits: Limits) -> None:
        self.folders = {"shipped": data.resolve(), "run": runs.resolve()}
        self.limits = limits
        self._lock = threading.RLock()
        self._games: dict[str, Game] = {}
        self._headers: dict[tuple[Path, int, int], tuple[str, str, str] | None] = {}
        self._loaded: OrderedDict[tuple[str, int], Loaded] = OrderedDict()
        self._list: tuple[float, dict[str, Entry]] = (0.0, {})

    def game(self, name: Any) -> Game:
        """A game by name; ValueError for one that cannot be played here."""
        if name not in GAMES:
            raise ValueError(f"game: expected {' or '.join(GAMES)}, found {str(name)[:40]!r}")
        with self._lock:
            if name not in self._games:
                self._games[name] = games.load(name)
            return self._games[name]

    def entries(self) -> dict[str, Entry]:
        """All evaluators by id: first the hand-crafted ones, then files by folder and name."""
        with self._lock:
            read, entries = self._list
            if time.monotonic() - read > FRESH or not entries:
                entries = {entry.id: entry for entry in self._find()}
                self._list = time.monotonic(), entries
            return entries

    def entry(self, id: Any, game: Game) -> Entry:
        """The entry of that id; ValueError where there is none for the game."""
        found = self.entries().get(id) if isinstance(id, str) else None
        if found is None or found.game != game.name:
            raise ValueError(
                f"evaluator: expected one of {game.name} in the list, found {str(id)[:60]!r}"
            )
        return found

    def load(self, id: Any, game: Game) -> Loaded:
        """The evaluator of that id, which may take seconds at first; ValueError as `entry`.

        Also raises EvaluatorError, a ValueError, for a file that holds none that fits.
        """
        entry = self.entry(id, game)
        with self._lock:
            stamp = 0
            if entry.path is not None:
                path = self._checked(entry)
                status = path.stat()
                stamp = status.st_mtime_ns
                if status.st_size > self.limits.evaluator_bytes:
                    raise EvaluatorError(
                        f"{entry.name}: expected at most {self.limits.evaluator_bytes} bytes,"
                        f" found {status.st_size}"
                    )
            key = (entry.id, stamp)
            if key not in self._loaded:
                try:
                    evaluator = as_evaluator(game, entry.name if entry.path is None else entry.path)
                except (OSError, ValueError) as error:
                    # Messages name the file, whose folder is nobody's business.
                    text = str(error).replace(str(entry.path), entry.id)
                    raise EvaluatorError(text) from None
                values = np.abs(evaluator.values(_sample(game)))
                unit = float(np.median(values[np.isfinite(values)])) or 1.0
                self._loaded[key] = Loaded(entry, evaluator, unit)
            self._loaded.move_to_end(key)
            while len(self._loaded) > self.limits.evaluators:
                self._loaded.popitem(last=False)
            return self._loaded[key]

    def _checked(self, entry: Entry) -> Path:
        assert entry.path is not None
        path = inside(self.folders[entry.source], entry.path)
        if path is None or not path.is_file():
            raise EvaluatorError(f"{entry.name}: expected a file, found it gone")
        return path

    def _find(self) -> Iterator[Entry]:
        for name in GAMES:
            for evaluator in self.game(name).evaluators:
                kind = "weights written by hand"
                yield Entry(f"{name}:{evaluator}", name, evaluator, kind, "hand-crafted")
        for source, folder in self.folders.items():
            for path in _files(folder):
                found = self._header(path)
                if found is not None and found[0] in GAMES:
                    game, name, kind = found
                    relative = path.relative_to(folder)
                    where = relative.with_suffix("").as_posix()
                    id = f"{source}:{relative.as_posix()}"
                    yield Entry(id, game, name, kind, source, where, path)

    def _header(self, path: Path) -> tuple[str, str, str] | None:
        """Game, name and kind of the evaluator in a file; None where it holds none."""
        try:
            status = path.stat()
            key = (path, status.st_mtime_ns, status.st_size)
            if key not in self._headers:
                if len(self._headers) > 2 * MOST_FILES:
                    self._headers.clear()
                self._headers[key] = _described(path, status.st_size)
            return self._headers[key]
        except OSError:
            return None


def inside(folder: Path, path: Path) -> Path | None:
    """The real path of a file in a folder; None where it lies outside or cannot be found."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    return real if real.is_relative_to(folder) else None


def _files(folder: Path) -> Iterator[Path]:
    """Files that may hold an evaluator, in a fixed order."""
    count = 0
    waiting = [(folder, 0)]
    while waiting:
        here, depth = waiting.pop()
        try:
            children = sorted(here.iterdir())
        except OSError:
            continue
        folders = []
        for child in children:
            if child.name.startswith(".") or inside(folder, child) is None:
                continue
            if child.is_dir():
                if depth < DEEPEST_FOLDER and not child.is_symlink():
                    folders.append((child, depth + 1))
            elif child.suffix in SUFFIXES:
                count += 1
                if count > MOST_FILES:
                    return
                yield child
        waiting += reversed(folders)


def _described(path: Path, size: int) -> tuple[str, str, str] | None:
    """What the first part of a file says, read without its arrays."""
    try:
        if path.suffix == ".json":
            if size > LONGEST_HEADER:
                return None
            content = json.loads(path.read_bytes())
        else:
            with path.open("rb") as file:
                (length,) = struct.unpack("<Q", file.read(8))
                if length > LONGEST_HEADER:
                    return None
                content = json.loads(json.loads(file.read(length))["__metadata__"]["plysmith"])
        form, game, name = content["format"], content["game"], content["name"]
    except (OSError, ValueError, KeyError, TypeError, struct.error, RecursionError):
        return None
    kinds = {
        "plysmith-linear-1": "weights over terms",
        "plysmith-network-1": "network",
        "plysmith-outcome-network-1": "network of outcomes",
        "plysmith-signature-1": "signature tables",
    }
    if not isinstance(game, str) or not isinstance(name, str) or form not in kinds:
        return None
    return game, name[:60], kinds[form]


_samples: dict[str, list[Any]] = {}


def _sample(game: Game) -> list[Any]:
    if game.name not in _samples:
        positions = sample_positions(game)[:100]
        _samples[game.name] = [p for p in positions if game.outcome(p) is None]
    return _samples[game.name]

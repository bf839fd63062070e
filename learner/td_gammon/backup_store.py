"""The positions that a learner of backups keeps: the last ones in memory, all of them on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from learner.positions.kinds import RareKinds
from search.evaluators.files.arrays import load_arrays, save_arrays

__all__ = ["BackupStore"]

#: Probabilities are kept as integers of 16 bits: 0 is the least, 1 the greatest of them.
_LEAST, _STEPS = -(1 << 15), (1 << 16) - 1
_FORMAT = "plysmith-backups-2"
#: A drawn position's age, as a share of the positions in memory, is a random number from 0 to 1 to
#: this power.
_NEWER = 1.3


class BackupStore:
    """Positions with targets, of the last rounds; each round is a file of a folder.

    folder: the folder, which is made if it does not exist.
    game: the game, one with outcomes.
    most: number of positions in memory, of which `draw` draws; older ones stay on disk alone.

    A position takes 52 bytes in backgammon, a probability an error of at most 1e-5.
    """

    def __init__(self, folder: Any, game: Game, most: int) -> None:
        assert game.outcomes is not None
        self.folder = Path(folder)
        self.game = game
        self.most = most
        self._about = {"format": _FORMAT, "game": game.name, "rules": game.version}
        self._clear()

    def _clear(self) -> None:
        width, count = len(self.game.start()), len(self.game.outcomes or ())
        #: number of positions of all rounds, and of each
        self.added, self.sizes = 0, []  # type: int, list[int]
        # the system gives memory for zeros where they are written to
        self._positions = np.zeros((self.most, width), dtype=np.int64)
        self._targets = np.zeros((self.most, count), dtype=np.int16)
        self._kinds = np.zeros(self.most, dtype=np.int16)

    def __len__(self) -> int:
        """Returns the number of positions in memory."""
        return min(self.added, self.most)

    def add(self, positions: NDArray[np.int64], targets: NDArray[np.float64]) -> None:
        """Add a round: its positions [positions, integers], and their probabilities [.., outcomes].

        Raises OSError if its file cannot be written.
        """
        labels = (np.rint(targets * _STEPS) + _LEAST).astype(np.int16)
        arrays = {"positions": positions, "targets": labels}
        save_arrays(self._path(len(self.sizes)), self._about, arrays)
        self._remember(positions, labels)

    def load(self, sizes: list[int]) -> None:
        """Continue as after the given positions of each round; files of later rounds are removed.

        Raises ValueError if a file does not exist, is damaged or has another number of positions.
        """
        self._clear()
        rest = sum(sizes)
        for number, size in enumerate(sizes):
            path = self._path(number)
            if rest - size >= self.most:  # nothing of it is drawn from any more
                self.added += size
                self.sizes.append(size)
            else:
                self._remember(*self._read(path, size))
            rest -= size
        for path in self._files():
            if path.name >= self._path(len(sizes)).name:
                path.unlink()

    def found(self) -> int:
        """Returns the number of rounds in the folder."""
        return len(self._files())

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("round-*.safetensors"))

    def draw(
        self, count: int, random: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Returns random positions in memory, newer ones more often, and their targets."""
        age = (random.random(count) ** _NEWER * len(self)).astype(np.int64)
        chosen = (self.added - 1 - age) % self.most
        labels = self._targets[chosen].astype(np.float64)
        return self._positions[chosen], (labels - _LEAST) / _STEPS

    def of_all_kinds(self, count: int, random: np.random.Generator) -> NDArray[np.int64]:
        """Returns random positions in memory, as many of each kind that the game distinguishes.

        Before the first round there are no positions.
        """
        kinds = self._kinds[: len(self)]
        places = [np.flatnonzero(kinds == kind) for kind in np.unique(kinds)]
        if not places:
            return self._positions[:0]
        drawn = random.integers(len(places), size=count)
        return self._positions[[int(random.choice(places[kind])) for kind in drawn]]

    def _remember(self, positions: NDArray[np.int64], labels: NDArray[np.int16]) -> None:
        at = (self.added + np.arange(len(positions))) % self.most
        self._positions[at], self._targets[at] = positions, labels
        kinds = RareKinds.of(self.game).kinds
        self._kinds[at] = 0 if kinds is None else kinds.of(positions)
        self.added += len(positions)
        self.sizes.append(len(positions))

    def _path(self, number: int) -> Path:
        return self.folder / f"round-{number + 1:06d}.safetensors"

    def _read(self, path: Path, size: int) -> tuple[NDArray[np.int64], NDArray[np.int16]]:
        if not path.is_file():
            raise ValueError(f"{path}: expected the positions of a round, found no file")
        about, arrays = load_arrays(path)
        expected = {
            "positions": ((size, self._positions.shape[1]), np.int64),
            "targets": ((size, self._targets.shape[1]), np.int16),
        }
        shapes = {name: (array.shape, array.dtype.type) for name, array in arrays.items()}
        if about != self._about or shapes != expected:
            sizes = {name: list(shape) for name, (shape, _) in shapes.items()}
            raise ValueError(
                f"{path}: expected {size} positions of {json.dumps(self._about)}, found"
                f" {json.dumps(sizes)} of {json.dumps(about)}"
            )
        return arrays["positions"], arrays["targets"]

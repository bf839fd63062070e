"""Rote memory: positions met in play with the values that search backed up for them.

If a search finds a remembered value at a leaf, its result is deeper by the depth of that value, so
that the depth of the memory grows as it is used (Samuel 1959). In memory it is a hash table that
native searches probe at full speed; on disk it is a file of arrays, as those of evaluators.
"""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.kernels import kernel
from games.values import PROVEN, WIN
from search.evaluators.files.arrays import load_arrays, save_arrays, take_array
from search.evaluators.files.header import EvaluatorError, check_fields, reading, short
from search.lookups.lookup import Lookup

__all__ = ["FORMAT", "RoteMemory"]

FORMAT = "plysmith-rote-2"
#: The header of a file without its format.
FIELDS: dict[str, Any] = {
    "game": str, "rules": int, "identity": str, "evaluator": str,
    "capacity": int, "oldest": int, "direction": float,
}  # fmt: skip
#: The arrays of a file, an entry for each record.
COLUMNS = {"keys": np.int64, "values": np.float64, "depths": np.int64, "ages": np.int64}
#: Greatest share of the hash table's slots that are used.
FULLEST = 0.5
#: Share of the records that must be too old before they are forgotten, all together: that
#: takes as long as entering the whole memory.
FORGOTTEN = 0.02
#: Greatest capacity of a memory, in records of 80 bytes each, and in a file of 32.
MOST_RECORDS = 1 << 23


# --- the table: open addressing; keys are odd, 0 is an empty slot, the slots a power of two ------


@kernel
def find(keys, mask, key):
    """Returns the slot of a key, or the empty slot where it belongs."""
    slot = (key ^ (key >> 31)) & mask
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def place_all(keys, mask, new_keys, slots):
    """Write the slot of every key to `slots`; new keys are entered into the table."""
    for i in range(len(new_keys)):
        slot = find(keys, mask, new_keys[i])
        keys[slot] = new_keys[i]
        slots[i] = slot


@kernel
def _itself(position):
    return position


def probe_kernel(game: Game) -> Any:
    """Returns the kernels `standard_key(position)` and `probe(tables, position)` for a game.

    Positions are looked up in their standard form. Raises ValueError if the rules have no key.
    """
    rules = game.rules
    if rules is None or rules.key is None:
        raise ValueError(f"rote memory: expected a game whose rules have a key, found {game.name}")
    key_of, standard = rules.key, rules.standard or _itself

    @kernel
    def standard_key(position):
        return key_of(standard(position)) | 1

    @kernel
    def probe(tables, position):
        keys, values, depths, uses = tables
        slot = find(keys, len(keys) - 1, standard_key(position))
        if keys[slot] == 0:
            return (False, 0.0, 0)
        uses[slot] += 1
        return (True, values[slot], depths[slot])

    return standard_key, probe


class RoteMemory(Lookup):
    """Positions with backed-up values and depths, for one game.

    Positions are stored in their standard form (the rules' `standard`: in checkers seen by
    Black, boards with only kings also reflected), so that mirror images share a record.

    game: the game.
    capacity: greatest number of records.
    oldest: greatest age of a record; older ones are forgotten. Age grows by 1 at each `merge` and
        is halved for each use since the last.
    direction: fraction by which the magnitude of a value shrinks for each ply that it was backed
        up, so that the nearer of two equal values is preferred.

    Raises ValueError if an option is out of range.
    """

    def __init__(
        self,
        game: Game,
        *,
        capacity: int = 1_000_000,
        oldest: int = 200,
        direction: float = 0.002,
    ) -> None:
        if not 1 <= capacity <= MOST_RECORDS:
            raise ValueError(f"capacity: expected 1 to {MOST_RECORDS}, found {capacity}")
        if oldest < 1:
            raise ValueError(f"oldest: expected at least 1, found {oldest}")
        if not 0 <= direction < 0.1:
            raise ValueError(f"direction: expected 0 to 0.1, found {direction}")
        self.game = game
        self.capacity = capacity
        self.oldest = oldest
        self.direction = direction
        self._standard_key, probe = probe_kernel(game)
        slots = 1024
        while slots * FULLEST < capacity:
            slots *= 2
        self._keys = np.zeros(slots, dtype=np.int64)
        self._values = np.zeros(slots, dtype=np.float64)
        self._depths = np.zeros(slots, dtype=np.int64)
        self._uses = np.zeros(slots, dtype=np.int64)
        self._ages = np.zeros(slots, dtype=np.int64)
        self._new: dict[int, tuple[float, int]] = {}
        self._count = 0
        super().__init__(probe, (self._keys, self._values, self._depths, self._uses))

    def __reduce__(self) -> tuple[Any, ...]:
        # The table is mostly empty, and a copy in another process compiles its own native code.
        slots = np.flatnonzero(self._keys)
        columns = (self._keys, self._values, self._depths, self._ages)
        options = (self.capacity, self.oldest, self.direction)
        return _copy, (self.game, options, tuple(c[slots] for c in columns), dict(self._new))

    def __len__(self) -> int:
        """Number of positions in memory, including those not merged yet."""
        return self._count + len(self._new)

    def store(
        self, position: Any, value: float, depth: int, *, backed_up: int | None = None
    ) -> None:
        """Store a value that search backed up; searches see it after `merge`.

        depth: the plies that the value stands for. A deeper record of the position stays unchanged.
        backed_up: the plies over which this search backed it up (default: `depth`). They are fewer
        if
            the value was itself remembered, because it has then shrunk for the others before.

        Raises ValueError if the value or the depth is out of range.
        """
        if not abs(value) <= WIN or depth < 0:
            raise ValueError(
                f"expected a value of -{WIN:g} to {WIN:g} and a depth of at least 0, found"
                f" {value} and {depth}"
            )
        key = int(self._standard_key(position))
        stored = self._new.get(key)
        if stored is None or stored[1] <= depth:
            if abs(value) < PROVEN:
                value *= 1.0 - self.direction * (depth if backed_up is None else backed_up)
            self._new[key] = (value, depth)

    def depth_of(self, position: Any) -> int | None:
        """Returns the depth of a merged record, or None without one. It counts as no use."""
        slot = find(self._keys, len(self._keys) - 1, int(self._standard_key(position)))
        return int(self._depths[slot]) if self._keys[slot] else None

    def merge(self) -> None:
        """Merge stored positions into the table; age all records, and forget those too old.

        Used records become younger; the too old ones go once they are 2 % of all. If there are more
        records than `capacity`, those of the smallest depth are forgotten first, and among these
        the oldest. No record ages if none was stored or used since the last merge.
        """
        if not self._new and not self._uses.any():
            return
        slots = np.flatnonzero(self._keys)
        self._ages[slots] = (self._ages[slots] + 1) >> np.minimum(self._uses[slots], 62)
        self._uses[:] = 0
        keys = np.array(list(self._new), dtype=np.int64)
        values = np.array([value for value, _ in self._new.values()], dtype=np.float64)
        depths = np.array([depth for _, depth in self._new.values()], dtype=np.int64)
        self._new.clear()
        crowded = self._count + len(keys) > self.capacity
        too_old = int(np.count_nonzero(self._ages[slots] > self.oldest))
        if crowded or too_old > FORGOTTEN * len(slots):
            self._choose(keys, values, depths)
        else:
            self._enter(keys, values, depths, np.zeros_like(keys))

    def _enter(
        self,
        keys: NDArray[np.int64],
        values: NDArray[np.float64],
        depths: NDArray[np.int64],
        ages: NDArray[np.int64],
    ) -> None:
        """Put records into the table, which must have room; a deeper record of a position stays."""
        slots = np.zeros(len(keys), dtype=np.int64)
        place_all(self._keys, len(self._keys) - 1, keys, slots)
        better = depths >= self._depths[slots]
        chosen = slots[better]
        self._values[chosen] = values[better]
        self._depths[chosen] = depths[better]
        self._ages[chosen] = ages[better]
        self._count = int(np.count_nonzero(self._keys))

    def _choose(
        self, keys: NDArray[np.int64], values: NDArray[np.float64], depths: NDArray[np.int64]
    ) -> None:
        """Keep the deepest and youngest of old and new records, up to `capacity`, none too old."""
        slots = np.flatnonzero((self._keys != 0) & (self._ages <= self.oldest))
        ages = np.concatenate([self._ages[slots], np.zeros_like(keys)])
        keys = np.concatenate([self._keys[slots], keys])
        values = np.concatenate([self._values[slots], values])
        depths = np.concatenate([self._depths[slots], depths])
        # the last record of a position is the deepest one, or the newest of equally deep ones
        order = np.lexsort((np.arange(len(keys)), depths, keys))
        order = order[np.append(keys[order[1:]] != keys[order[:-1]], len(order) > 0)[: len(order)]]
        rank = np.lexsort((keys[order], ages[order], -depths[order]))
        order = order[np.sort(rank[: self.capacity])]
        for table in (self._keys, self._values, self._depths, self._uses, self._ages):
            table[:] = 0
        self._enter(keys[order], values[order], depths[order], ages[order])

    def records(self) -> list[tuple[int, float, int, int]]:
        """Returns (key, value, depth, age) of every merged record, in order of the keys."""
        slots = np.flatnonzero(self._keys)
        slots = slots[np.argsort(self._keys[slots])]
        columns = (self._keys, self._values, self._depths, self._ages)
        return list(zip(*(column[slots].tolist() for column in columns), strict=True))

    def identity(self) -> str:
        """Returns a text that identifies how the game numbers positions, to be checked in files."""
        position = self.game.start()
        keys = [int(self._standard_key(position))]
        for _ in range(8):
            moves = self.game.legal_moves(position)
            if not moves:
                break
            position = self.game.play(position, moves[0])
            keys.append(int(self._standard_key(position)))
        return hashlib.sha256(struct.pack(f"<{len(keys)}q", *keys)).hexdigest()[:16]

    def save(self, path: Any, *, evaluator: str = "") -> None:
        """Write all merged records to a file, replacing it atomically.

        path: the file.
        evaluator: name of the evaluator that the values come from.

        Raises OSError if the file cannot be written.
        """
        slots = np.flatnonzero(self._keys)
        slots = slots[np.argsort(self._keys[slots])]
        columns = (self._keys, self._values, self._depths, self._ages)
        header = {
            "format": FORMAT,
            "game": self.game.name,
            "rules": self.game.version,
            "identity": self.identity(),
            "evaluator": evaluator,
            "capacity": self.capacity,
            "oldest": self.oldest,
            "direction": float(self.direction),
        }
        arrays = {name: column[slots] for name, column in zip(COLUMNS, columns, strict=True)}
        save_arrays(path, header, arrays)

    @classmethod
    def load(cls, game: Game, path: Any) -> RoteMemory:
        """Returns the memory in a file.

        Raises FileNotFoundError if the file does not exist, EvaluatorError if it holds no rote
        memory, or one that does not fit the game.
        """
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"{path}: expected a rote memory, found no file")
        header, arrays = load_arrays(path, most=WIN)
        with reading(path):
            return cls._of(game, header, arrays)

    @classmethod
    def _of(cls, game: Game, header: dict[str, Any], arrays: dict[str, Any]) -> RoteMemory:
        if header.get("format") != FORMAT:
            raise EvaluatorError(
                f"expected a rote memory ({FORMAT}), found {short(header.get('format'))}"
            )
        check_fields(header, FIELDS)
        options = {name: header[name] for name in ("capacity", "oldest", "direction")}
        memory = cls(game, **options)
        for name, own in (
            ("game", game.name), ("rules", game.version), ("identity", memory.identity())
        ):  # fmt: skip
            if header[name] != own:
                raise EvaluatorError(
                    f"expected a rote memory of {name} {own}, found {short(header[name])}"
                )
        shape = arrays["keys"].shape if "keys" in arrays else (0,)
        columns = [take_array(arrays, name, kind, shape) for name, kind in COLUMNS.items()]
        keys, _, depths, ages = columns
        good = len(shape) == 1 and (keys % 2 == 1).all() and (np.diff(keys) > 0).all()
        if not (good and (depths >= 0).all() and (ages >= 0).all()):
            raise EvaluatorError("expected odd keys in order, with depths and ages of at least 0")
        if len(keys) > memory.capacity:
            raise EvaluatorError(f"expected at most {memory.capacity} records, found {len(keys)}")
        memory._enter(*columns)
        return memory


def _copy(
    game: Game,
    options: tuple[int, int, float],
    columns: tuple[Any, Any, Any, Any],
    new: dict[int, tuple[float, int]],
) -> RoteMemory:
    """Returns a memory with the same records, for another process; it counts its own uses."""
    capacity, oldest, direction = options
    memory = RoteMemory(game, capacity=capacity, oldest=oldest, direction=direction)
    memory._enter(*columns)
    memory._new.update(new)
    return memory

"""A memory of positions as a heuristic: bounds that searches have proved, by position.

As in rote memory (Samuel 1959) what a search found is remembered for later ones. Only a hash of a
position is kept, 63 bits of it, so that two of a million positions share one with a chance of about
1 in 10 million.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.kernels import kernel, product
from games.problem import KernelProblem, Known
from search.evaluators.array_files import take_array
from search.evaluators.header import EvaluatorError
from search.evaluators.heuristic import RoundedHeuristic
from search.slots import find, place_all

__all__ = ["RememberedHeuristic"]


@kernel
def hashed(position):
    """Returns a hash of the integers of a position."""
    mixed = len(position)
    for part in position:
        mixed = product(mixed ^ part, 0x1E3779B97F4A7C15)
        mixed ^= (mixed >> 31) & 0x1FFFFFFFF
    mixed = product(mixed ^ (mixed >> 29) & 0x7FFFFFFFF, 0x3C79AC492BA7B653)
    return mixed ^ (mixed >> 32) & 0xFFFFFFFF


class RememberedHeuristic(RoundedHeuristic):
    """The estimate is what is remembered for a position, and 0 for others.

    keys: different odd numbers that stand for positions, as `key` returns them, int64 [positions].
    values: what is remembered for each, in the unit of costs, [positions].

    Raises ValueError if keys are even or twice the same, or if values are NaN or infinite.
    """

    form = "plysmith-remembered-heuristic-1"
    fields: ClassVar = {"count": int, **RoundedHeuristic.fields}
    proof: ClassVar = Known.BY_PROOF

    def __init__(self, problem: KernelProblem, keys: Any, values: Any, **options: Any) -> None:
        self.keys: NDArray[np.int64] = np.array(keys, dtype=np.int64)
        self.remembered: NDArray[np.float64] = np.array(values, dtype=np.float64)
        count = len(self.keys)
        odd = (self.keys & 1 == 1).all() and len(np.unique(self.keys)) == count
        if self.remembered.shape != (count,) or not np.isfinite(self.remembered).all() or not odd:
            raise ValueError(
                "expected different odd keys and as many finite values, found shapes"
                f" {np.shape(keys)} and {np.shape(values)}"
            )
        super().__init__(problem, **options)

    def _prepare(self) -> None:
        slots = 1 << (2 * len(self.keys) + 1).bit_length()
        table, values = np.zeros(slots, dtype=np.int64), np.zeros(slots)
        places = np.zeros(len(self.keys), dtype=np.int64)
        place_all(table, slots - 1, self.keys, places)
        values[places] = self.remembered
        self._table, self._values = table, values
        self._lay_out([table, values], before=[0], after=1)
        self._data[-1] = slots

    def _key_of(self) -> Any:
        key = self.problem.problem.key
        return hashed if key is None else key

    def key(self, position: Any) -> int:
        """Returns the odd number that stands for a position."""
        return int(self._key_of()(position)) | 1

    def recall(self, position: Any) -> float | None:
        """Returns what is remembered for a position; None if nothing is."""
        slot = int(find(self._table, len(self._table) - 1, self.key(position)))
        return float(self._values[slot]) if self._table[slot] else None

    def _plain_estimate(self) -> Callable[[Any], float]:
        key_of = kernels.uncompiled(self._key_of())
        known = dict(zip(self.keys.tolist(), self.remembered.tolist(), strict=True))
        return lambda position: self.offset + known.get(int(key_of(position)) | 1, 0.0)

    def _estimate_text(self) -> list[str]:
        return [
            "slots = load_int(data, 3)",
            "keys = array_at(int64_pointer(load_int(data, 1)), (slots,))",
            "values = array_at(float64_pointer(load_int(data, 2)), (slots,))",
            "slot = find(keys, slots - 1, int(key_of(position)) | 1)",
            "if keys[slot] != 0:",
            "    total += values[slot]",
        ]

    def _estimate_scope(self) -> dict[str, Any]:
        return {"find": find, "key_of": self._key_of()}

    def _estimate_parts(self) -> tuple[Any, ...]:
        return self.keys, self.remembered

    def _saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        order = np.argsort(self.keys)
        fields = {"count": len(self.keys), **self._options(), "base": list(self.base)}
        return fields, {"keys": self.keys[order], "values": self.remembered[order]}

    @classmethod
    def _parts_in(
        cls, path: Path, content: Any, arrays: dict[str, NDArray[Any]], game: Any, inputs: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        cls._problem_of(path, game)
        if content["count"] < 0:
            raise EvaluatorError(f"{path}: expected a count from 0 on, found {content['count']}")
        shape = (content["count"],)
        keys = take_array(path, arrays, "keys", np.int64, shape)
        values = take_array(path, arrays, "values", np.float64, shape)
        return (keys, values), {name: content[name] for name in RoundedHeuristic.fields}

"""Lookups: known values of positions, used instead of searching them.

Rote memory, endgame databases and bear-off databases are all the same to the search:
a kernel `probe(tables, position)` that returns (known, value, depth), and the arrays that it
reads. `value` is for the side to move, `depth` the number of plies of search that it is equal to,
or `RESULT_ONLY` for a win or loss, 1 or -1, whose length is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from games.contract import Game
from games.kernels import is_kernel, uncompiled
from games.kernels.memory import native_function, read_arrays, read_position

__all__ = ["CombinedLookup", "Lookup"]


class Lookup:
    """A probe with the arrays that it reads.

    probe: the kernel (for plain games any function) described in `search.lookups.lookup`.
    tables: an array or a tuple of arrays; they may be filled further while searches run, but not
        replaced.
    outcomes: a kernel outcomes(tables, position, target) that writes the exact probabilities of the
        game's outcomes to an array and returns whether it knows the position; if not, it leaves
        the array unchanged. None if the lookup knows only values.

    Raises TypeError if `outcomes` is not a kernel.
    """

    def __init__(
        self,
        probe: Callable[..., Any],
        tables: Any = (),
        *,
        outcomes: Callable[..., Any] | None = None,
    ) -> None:
        if outcomes is not None and not is_kernel(outcomes):
            raise TypeError(f"outcomes: expected a function marked with @kernel, found {outcomes}")
        self.probe = probe
        self.tables = tables
        self.outcomes = outcomes

    def plain(self) -> Callable[[Any], tuple[bool, float, int]]:
        """Returns the probe as a Python function of a position."""
        probe = uncompiled(self.probe) if is_kernel(self.probe) else self.probe
        return lambda position: probe(self.tables, position)

    def clear(self) -> None:
        """Forget what probes have found out: the next answers are those of a new lookup."""

    def native(self, game: Game) -> tuple[int, int, Any]:
        """Returns the addresses of the native probe and of its data, and owners of the data."""
        return _bind((self,), game)


class CombinedLookup(Lookup):
    """Several lookups as one, probed in order: the first that knows a position answers.

    It is for games without dice, and gives no probabilities of outcomes. Raises ValueError if no
    lookup is given.
    """

    def __init__(self, *parts: Lookup) -> None:
        if not parts:
            raise ValueError("expected at least one lookup to combine, found none")
        self.parts = parts
        super().__init__(None)  # type: ignore[arg-type]  # its parts are probed instead

    def __reduce__(self) -> tuple[Any, ...]:
        return CombinedLookup, self.parts

    def plain(self) -> Callable[[Any], tuple[bool, float, int]]:
        """Returns the probes as one Python function of a position."""
        probes = [part.plain() for part in self.parts]

        def probe(position: Any) -> tuple[bool, float, int]:
            answers = (ask(position) for ask in probes)
            return next((answer for answer in answers if answer[0]), (False, 0.0, 0))

        return probe

    def clear(self) -> None:
        """As `Lookup.clear`, for all parts."""
        for part in self.parts:
            part.clear()

    def native(self, game: Game) -> tuple[int, int, Any]:
        """As `Lookup.native`, for one native function that probes all parts."""
        return _bind(self.parts, game)


def _bind(lookups: Sequence[Lookup], game: Game) -> tuple[int, int, Any]:
    """As `Lookup.native`, for a function that probes `lookups` in order."""
    blocks: list[Any] = []
    lines = [
        "def probe_at(data, source, target):",
        f"    position = {read_position(len(game.start()))}",
    ]
    place = 0
    for i, lookup in enumerate(lookups):
        if not is_kernel(lookup.probe):
            raise TypeError("expected a probe marked with @kernel for a game written as kernels")
        block, tables = read_arrays(lookup.tables, f"(data + {8 * place})")
        lines += [
            f"    known_{i}, value_{i}, depth_{i} = probe_{i}({tables}, position)",
            f"    if known_{i}:",
            f"        store_float(target, 0, float(value_{i}))",
            f"        store_int(target, 1, int(depth_{i}))",
            "        return 1",
        ]
        blocks.append(block)
        place += len(block)
    text = "\n".join([*lines, "    return 0\n"])
    scope = {f"probe_{i}": lookup.probe for i, lookup in enumerate(lookups)}
    address = native_function("probe_at", text, scope, "int64(int64, int64, int64)")
    block = np.concatenate(blocks)
    return address, block.ctypes.data, (block, [lookup.tables for lookup in lookups])

"""Lookups: what is known of a position already, instead of searching it.

Rote memory, endgame tables, bear-off tables and an opening book are all the same to the search:
a kernel `probe(tables, position)` that returns (found, value, depth, bound), and the arrays that
it reads. `value` is seen from the side to move, `depth` is how many plies of search it stands for,
and `bound` is one of `EXACT`, `LOWER` and `UPPER`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from games.contract import Game
from games.kernel import is_kernel, uncompiled
from games.native import native_function, read_arrays, read_position
from search.native import EXACT, LOWER, UPPER

__all__ = ["EXACT", "LOWER", "UPPER", "Lookup"]


class Lookup:
    """A probe kernel (or a plain function, for plain games) with the arrays that it reads.

    `tables` is an array or a tuple of arrays; they may be filled further while searches run, but
    not replaced. `outcomes`: a kernel outcomes(tables, position, target) that writes the exact
    probabilities of the game's outcomes to an array and returns whether it knows the position;
    where it does not, the array stays as it is. None where a lookup knows values alone.
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

    def plain(self) -> Callable[[Any], tuple[bool, float, int, int]]:
        """The probe as a Python function of a position."""
        probe = uncompiled(self.probe) if is_kernel(self.probe) else self.probe
        return lambda position: probe(self.tables, position)

    def native(self, game: Game) -> tuple[int, int, Any]:
        """Addresses of the native probe and of what it reads, and what keeps that alive."""
        if not is_kernel(self.probe):
            raise TypeError("expected a probe marked with @kernel for a game written as kernels")
        block, tables = read_arrays(self.tables)
        text = f"""
def probe_at(data, source, target):
    found, value, depth, bound = probe({tables}, {read_position(len(game.start()))})
    if not found:
        return 0
    store_float(target, 0, float(value))
    store_int(target, 1, int(depth))
    store_int(target, 2, int(bound))
    return 1
"""
        signature = "int64(int64, int64, int64)"
        address = native_function("probe_at", text, {"probe": self.probe}, signature)
        return address, block.ctypes.data, (block, self.tables)

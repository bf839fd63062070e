"""`Database`: positions of a game whose values are known, such as endgames and bear-offs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Database"]


def _always() -> bool:
    return True


@dataclass(frozen=True)
class Database:
    """Known values that a game names; `search.lookups.database` makes a lookup of one.

    title: its name for people.
    probe: a kernel `probe(tables, position)` that returns (found, value, depth, bound), as
        `search.lookups.lookup` describes them.
    tables: a function that returns the array or tuple of arrays that `probe` reads, from a file or
        freshly built; it is called only when a lookup is made.
    outcomes: a kernel `outcomes(tables, position, target)` for games with outcomes, or None.
    at_hand: whether `tables` returns within seconds, so that a picker may offer the database.
    """

    title: str
    probe: Callable[..., Any]
    tables: Callable[[], Any]
    outcomes: Callable[..., Any] | None = None
    at_hand: Callable[[], bool] = _always

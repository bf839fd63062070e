"""`Limits`: what ends a search."""

from __future__ import annotations

import operator
from dataclasses import dataclass

from search.time_control import Allowance

__all__ = ["UNLIMITED", "Limits"]

#: Stands for "no limit" of nodes.
UNLIMITED = 1 << 62


@dataclass(frozen=True)
class Limits:
    """The limits of a search: any combination of plies, positions and seconds.

    depth: greatest depth in plies. Default: no limit, as for the others.
    nodes: greatest number of positions.
    seconds: greatest time, or an `Allowance`.

    Raises ValueError if no limit is given or one is out of range. The range of the depth depends on
    the kind of search: `check_depth`.
    """

    depth: int | None = None
    nodes: int | None = None
    seconds: float | Allowance | None = None

    def __post_init__(self) -> None:
        if all(limit is None for limit in vars(self).values()):  # those of a subclass, too
            raise ValueError("expected a limit: depth, nodes or seconds; found none")
        for name, number in (("depth", self.depth), ("nodes", self.nodes)):
            try:
                operator.index(0 if number is None else number)
            except TypeError:
                raise ValueError(f"{name}: expected a whole number, found {number!r}") from None
        if self.nodes is not None and self.nodes < 1:
            raise ValueError(f"nodes: expected at least 1, found {self.nodes}")
        if isinstance(self.seconds, (int, float)) and not self.seconds > 0:
            raise ValueError(f"seconds: expected more than 0, found {self.seconds}")

    def check_depth(self, least: int, deepest: int) -> None:
        """Raises ValueError unless the depth, if it is limited, is from `least` to `deepest`."""
        if self.depth is not None and not least <= self.depth <= deepest:
            raise ValueError(f"depth: expected {least} to {deepest} plies, found {self.depth}")

"""Move filters: which moves a search with dice does not look at more closely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["FILTERS", "MoveFilters", "as_filters"]

Filter = tuple[int, float]


@dataclass(frozen=True)
class MoveFilters:
    """What a search keeps of the moves, each filter as (how many, how far from the best in value).

    `moves[d]` is for the moves at the root: of those still there after depth d, it says which are
    searched deeper; None keeps all. `replies` is for each later position whose replies are to be
    searched deeper than depth 0, by their values at depth 0; GNU Backgammon keeps one. `candidates`
    is how many moves with a roll are valued at all, chosen by the evaluator that orders moves
    (`Engine(order=...)`); 0 for all. Filters lose little and save much, but they are not exact.
    Raises ValueError for a number below 1, or a distance below 0.
    """

    moves: tuple[Filter | None, ...] = ()
    replies: Filter | None = None
    candidates: int = 0

    def __post_init__(self) -> None:
        for one in (*self.moves, self.replies):
            if one is not None and not (one[0] >= 1 and one[1] >= 0):
                raise ValueError(f"filters: expected at least 1 move within 0 or more, found {one}")
        if self.candidates < 0:
            raise ValueError(f"candidates: expected 0 or more moves, found {self.candidates}")


_ONE = (1, 0.0)

#: By name. tiny, narrow, normal, large and huge are GNU Backgammon's for points a game, which also
#: searches only one reply to each roll deeper; best4 and best8 keep so many moves at every step.
FILTERS: Mapping[str, MoveFilters] = {
    "tiny": MoveFilters(((5, 0.08), None, (2, 0.02)), _ONE),
    "narrow": MoveFilters(((8, 0.12), None, (2, 0.03)), _ONE),
    "normal": MoveFilters(((8, 0.16), None, (2, 0.04)), _ONE),
    "large": MoveFilters(((16, 0.32), None, (4, 0.08)), _ONE),
    "huge": MoveFilters(((20, 0.44), None, (6, 0.11)), _ONE),
    "best8": MoveFilters(((8, 1e9),), (8, 1e9), 8),
    "best4": MoveFilters(((4, 1e9),), (4, 1e9), 4),
}


def as_filters(filters: MoveFilters | str | None) -> MoveFilters:
    """The filters that a name of `FILTERS` stands for; None for none."""
    if filters is None:
        return MoveFilters()
    if isinstance(filters, MoveFilters):
        return filters
    if filters not in FILTERS:
        raise ValueError(f"filters: expected one of {', '.join(FILTERS)}, found {filters!r}")
    return FILTERS[filters]

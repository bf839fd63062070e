"""Move filters: which moves a search with dice searches deeper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["FILTERS", "MoveFilters", "as_filters"]

Filter = tuple[int, float]


@dataclass(frozen=True)
class MoveFilters:
    """Move filters; each one is (greatest number of moves, greatest distance from the best value).

    Distances are in the evaluator's unit, points if it gives chances of outcomes.

    moves: moves[d] chooses the root moves that are searched deeper after depth d; None keeps all.
    replies: chooses the replies in later positions that are searched deeper than depth 0, by their
        values at depth 0; GNU Backgammon keeps one. None keeps all.
    inner: chooses the replies in later positions that the evaluator values, by the values of its
        prefilter, if it gives chances of outcomes. None keeps those that the prefilter keeps.
    only_decide: whether the choice alone matters: the prefilter then chooses root moves, as it does
        for a decision at depth 0, and the only move that is left is searched no deeper.

    Filters lose little and save much, but values with them are not exact. Raises ValueError if a
    number of moves is below 1 or a distance below 0.
    """

    moves: tuple[Filter | None, ...] = ()
    replies: Filter | None = None
    inner: Filter | None = (4, 0.10)
    only_decide: bool = False

    def __post_init__(self) -> None:
        for entry in (*self.moves, self.replies, self.inner):
            if entry is not None and not (entry[0] >= 1 and entry[1] >= 0):
                raise ValueError(
                    f"filters: expected at least 1 move within 0 or more, found {entry}"
                )


_ONE = (1, 0.0)

#: Move filters by name. tiny, narrow, normal, large and huge are those of GNU Backgammon for points
#: a game, which also searches only one reply to each roll deeper; near searches 2 plies only
#: what is near after 1 ply. look is for 1 ply, which it searches only to choose between two moves
#: whose static values are nearly equal.
FILTERS: Mapping[str, MoveFilters] = {
    "tiny": MoveFilters(((5, 0.08), None, (2, 0.02)), _ONE),
    "narrow": MoveFilters(((8, 0.12), None, (2, 0.03)), _ONE),
    "normal": MoveFilters(((8, 0.16), None, (2, 0.04)), _ONE),
    "large": MoveFilters(((16, 0.32), None, (4, 0.08)), _ONE),
    "huge": MoveFilters(((20, 0.44), None, (6, 0.11)), _ONE),
    "look": MoveFilters(((2, 0.01),), inner=_ONE, only_decide=True),
    "near": MoveFilters(((8, 0.16), (4, 0.04)), _ONE),
}


def as_filters(filters: MoveFilters | str | None) -> MoveFilters:
    """Returns the filters with a name in `FILTERS`; no filters for None.

    Raises ValueError if the name is unknown.
    """
    if filters is None:
        return MoveFilters()
    if isinstance(filters, MoveFilters):
        return filters
    if filters not in FILTERS:
        raise ValueError(f"filters: expected one of {', '.join(FILTERS)}, found {filters!r}")
    return FILTERS[filters]

"""The player of a side, and the limits of searches, as JSON describes them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from search.multiplayer.search import METHODS

__all__ = [
    "DEEPEST",
    "EVALUATOR",
    "HUMAN",
    "MOST_SECONDS",
    "PROGRAM",
    "RANDOM",
    "WebSeat",
    "search_limits",
    "seat_of",
]

HUMAN, RANDOM, EVALUATOR, PROGRAM = "human", "random", "evaluator", "program"
#: The usual seconds and depth of a move; depth is counted as the search counts it.
SECONDS = 1.0
#: The longest time in seconds and the greatest depth of one search.
MOST_SECONDS, DEEPEST = 30.0, 60


@dataclass(frozen=True)
class WebSeat:
    """The player of a side.

    kind: "human", "random", "evaluator", or "program" for an external engine.
    evaluator: the id of the evaluator or of the engine; "" for the others.
    seconds: time for a move, for an evaluator.
    depth: greatest depth of a move, for an evaluator. Default: no limit.
    method: how an evaluator searches a game for more than two players; "" for the usual method.
    """

    kind: str = HUMAN
    evaluator: str = ""
    seconds: float = SECONDS
    depth: int | None = None
    method: str = ""

    def view(self) -> dict[str, Any]:
        """Returns the seat as JSON, in the form that the browser sends."""
        return asdict(self)


def seat_of(content: Any) -> WebSeat:
    """Returns the seat that JSON describes. Raises ValueError for others and for bad limits."""
    if not isinstance(content, dict):
        raise ValueError(f"seat: expected an object, found {str(content)[:40]!r}")
    kind = content.get("kind")
    if kind not in (HUMAN, RANDOM, EVALUATOR, PROGRAM):
        raise ValueError(
            f"seat: expected human, random, evaluator or program, found {str(kind)[:40]!r}"
        )
    if kind in (HUMAN, RANDOM):
        return WebSeat(kind)
    evaluator = content.get("evaluator")
    if not isinstance(evaluator, str):
        raise ValueError(f"seat: expected the id of the {kind}, found none")
    method = content.get("method", "")
    if method not in ("", *METHODS):
        raise ValueError(
            f"method: expected one of {', '.join(METHODS)}, found {str(method)[:40]!r}"
        )
    return WebSeat(kind, evaluator, *search_limits(content), method)


def search_limits(content: dict[str, Any]) -> tuple[float, int | None]:
    """Seconds and depth from JSON. Raises ValueError if they are out of range."""
    seconds, depth = content.get("seconds", SECONDS), content.get("depth")
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not number or not 0.01 <= seconds <= MOST_SECONDS:
        raise ValueError(f"seconds: expected 0.01 to {MOST_SECONDS:g}, found {str(seconds)[:40]!r}")
    if depth is not None and (type(depth) is not int or not 0 <= depth <= DEEPEST):
        raise ValueError(f"depth: expected 0 to {DEEPEST} plies, found {str(depth)[:40]!r}")
    return float(seconds), depth

"""The checkers of a backgammon position point by point, in words, for explanations."""

from __future__ import annotations

from collections.abc import Iterator

from games.backgammon.encoding import POINTS
from games.backgammon.rules import BAR, CHECKERS, OFF, Position
from games.backgammon.situation import COLOURS, checker_counts, position_of

__all__ = ["input_text", "removals"]


def input_text(place: int, position: Position) -> tuple[str, float]:
    """Returns words for the input `place` of the encoding `points`, and its checkers' number."""
    theirs, unit = divmod(place, POINTS.size // 2)
    colour = COLOURS[position[4] ^ theirs]
    point = unit // 6 + 1 if unit < 144 else BAR if unit < 148 else OFF
    where = "borne off" if point == OFF else f"on {_place(colour, point)}"
    counts = checker_counts(*position[2 * theirs : 2 * theirs + 2])
    return f"{colour} {where}", float(counts[point])


def removals(position: Position) -> Iterator[tuple[str, float, Position]]:
    """Yields for each point of a side, and its bar: words, the number of checkers, and the position
    with all of them borne off, unless that ends the game.
    """
    near, far, their_near, their_far, side = position
    boards = checker_counts(near, far), checker_counts(their_near, their_far)
    for theirs, counts in enumerate(boards):
        colour = COLOURS[side ^ theirs]
        for point in range(1, BAR + 1):
            count = counts[point]
            if not count or counts[OFF] + count == CHECKERS:
                continue
            fewer = [0 if p == point else n for p, n in enumerate(counts)]
            own, other = (boards[0], fewer) if theirs else (fewer, boards[1])
            without = position_of(own, other, side)
            yield f"{colour} on {_place(colour, point)}", float(count), without


def _place(colour: str, point: int) -> str:
    return "the bar" if point == BAR else f"{colour}'s {point} point"

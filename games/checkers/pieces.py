"""The pieces of a checkers position one by one, in words, for explanations and boards."""

from __future__ import annotations

from collections.abc import Iterator

from games.checkers.notation import square_bit, squares_of
from games.checkers.rules import Position

__all__ = ["SIDES", "input_text", "removals"]

SIDES = ("Black", "White")
KINDS = ("man", "king")


def input_text(place: int, side: int) -> str:
    """Returns words for the input `place` of the encoding `piece_squares`, with `side` to move."""
    kind, square = divmod(place, 32)
    number = 32 - square if side else square + 1
    return f"{SIDES[side ^ (kind >> 1)]} {KINDS[kind & 1]} on {number}"


def removals(position: Position) -> Iterator[tuple[str, float, Position]]:
    """Yields for each piece: words for it, 1.0, and the position without it."""
    own, opponent, kings, side = position
    for pieces, colour in ((own, side), (opponent, 1 - side)):
        for square in squares_of(pieces):
            bit = 1 << square_bit(square)
            name = f"{SIDES[colour]} {KINDS[bool(kings & bit)]} on {square}"
            yield name, 1.0, (own & ~bit, opponent & ~bit, kings & ~bit, side)

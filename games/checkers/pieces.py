"""The pieces of a checkers position one by one, in words, for explanations and boards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from games.board import Board
from games.checkers.notation import move_path, square_bit, squares_of
from games.checkers.rules import Position

__all__ = ["BOARD", "PLACES", "SIDES", "input_text", "removals"]

SIDES = ("Black", "White")
KINDS = ("man", "king")
#: The place of each square, 1 to 32, on a board of 64, row by row from Black's top left.
PLACES = {
    square: 63 - 8 * row - 2 * place - (row + 1) % 2
    for square in range(1, 33)
    for row, place in [divmod(square - 1, 4)]
}


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


def _shown(position: Position) -> dict[int, tuple[int, str]]:
    """Returns the pieces for `games.board`: kings have the text K."""
    own, opponent, kings, side = position
    return {
        PLACES[square]: (colour, "K" if kings >> square_bit(square) & 1 else "")
        for pieces, colour in ((own, side), (opponent, 1 - side))
        for square in squares_of(pieces)
    }


def _clicks(position: Position, move: int) -> list[int]:
    """Returns a click for every square that the piece visits."""
    return [PLACES[square] for square in move_path(move)]


def _must(moves: Sequence[int]) -> str:
    return "a capture is mandatory" if any(move >> 12 for move in moves) else ""


BOARD = Board(
    8,
    8,
    _shown,
    _clicks,
    shape="man",
    path=_clicks,
    names={place: str(square) for square, place in PLACES.items()},
    turns=True,
    jumps=True,
    words={"": "man", "K": "king"},
    must=_must,
)

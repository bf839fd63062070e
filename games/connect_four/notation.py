"""Text forms of Connect Four: positions row by row from the top, and columns 1 to 7."""

from __future__ import annotations

from games.connect_four.rules import BOTTOM, COLUMNS, ROWS, Position, has_four
from games.errors import PositionError, stripped


def position_text(position: Position) -> str:
    """Returns six rows of `X`, `O` and `.` from the top, divided by `/`, and the side to move."""
    own, opponent, side = position
    x, o = (own, opponent) if side == 0 else (opponent, own)
    rows = [
        "".join(
            "X" if x >> 7 * column + row & 1 else "O" if o >> 7 * column + row & 1 else "."
            for column in range(7)
        )
        for row in reversed(range(6))
    ]
    return f"{'/'.join(rows)} {'XO'[side]}"


def parse_position(text: str) -> Position:
    """Returns the position that such a text describes.

    Raises PositionError if the text or the position is not possible.
    """
    board, _, mover = stripped(text).upper().partition(" ")
    rows = board.split("/")[::-1]
    if [len(row) for row in rows] != [7] * 6 or set(board) - set("XO./") or mover not in ("X", "O"):
        raise PositionError(
            "expected six rows of seven X, O and '.' with / between them, and X or O to move,"
            f" found {text[:80]!r}"
        )
    x, o = (
        sum(
            1 << 7 * column + row
            for row, squares in enumerate(rows)
            for column, square in enumerate(squares)
            if square == letter
        )
        for letter in "XO"
    )
    if x.bit_count() - o.bit_count() != (mover == "O"):
        raise PositionError(
            "expected as many X as O, or one more with O to move; found"
            f" {x.bit_count()} X, {o.bit_count()} O and {mover} to move"
        )
    stones = x | o
    if stones & ~BOTTOM & ~(stones << 1):
        raise PositionError(f"expected every stone to stand on another, found {board}")
    position = (x, o, 0) if mover == "X" else (o, x, 1)
    if has_four(position[0]):
        raise PositionError(f"expected no four of {mover}, who is to move, found {board}")
    return position


def show(position: Position) -> str:
    """Returns the board in rows, with the numbers of the columns below."""
    board, _, mover = position_text(position).partition(" ")
    rows = [" ".join(row) for row in board.split("/")]
    return "\n".join([*rows, "1 2 3 4 5 6 7", f"{mover} to move"])


def pieces(position: Position) -> dict[int, tuple[int, str]]:
    """Returns the stones for `games.board`: squares from the top left, row by row."""
    own, opponent, side = position
    stones = {}
    for column in range(COLUMNS):
        for row in range(ROWS):
            bit = 1 << 7 * column + row
            if (own | opponent) & bit:
                stones[COLUMNS * (ROWS - 1 - row) + column] = (
                    side if own & bit else 1 - side,
                    "",
                )
    return stones


def squares_of(position: Position, move: int) -> list[int]:
    """Returns the squares of a column for `games.board`; first the one where the stone lands."""
    height = ((position[0] | position[1]) >> 7 * move & 0x3F).bit_length()
    rows = [height, *(row for row in range(ROWS) if row != height)]
    return [COLUMNS * (ROWS - 1 - row) + move for row in rows]

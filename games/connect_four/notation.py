"""The board of Connect Four and its texts: positions row by row from the top, columns 1 to 7."""

from __future__ import annotations

import re

from games.connect_four.rules import BOTTOM, COLUMNS, ROWS, START, Position, has_four, play
from games.errors import PositionError, embedded
from games.grid import Grid

GRID = Grid(
    ROWS,
    COLUMNS,
    bits={
        COLUMNS * (ROWS - 1 - row) + column: 7 * column + row
        for column in range(COLUMNS)
        for row in range(ROWS)
    },
    column_names="1234567",
    symmetry="mirror",
)
#: Longer texts are no drawn board.
LONGEST = 5000
_BOARD = re.compile(
    r"(?<![\w./])([XO.]{7}(?:\s*[/\n]\s*[XO.]{7}){5})(?![\w/.])(?:\s+([XO]\b|[A-Z]$))?", re.I
)
#: Moves, and behind them the score of their position, as in sets of tests for solvers.
_MOVES = re.compile(
    r"(0-based\b)?[^\w{}]*([0-9](?:[, ]+[0-9])+|[0-9]{1,42})(?:\s+-?[0-9]{1,2})?[^\w{}]*",
    re.I | re.A,
)
#: A row of a drawn board, whose cells are between bars.
_DRAWN = re.compile(r"[|│]((?:\s?[XO0._ -]?\s?[|│]){7})\s*$", re.I | re.M)
#: 42 cells: letters column by column from the bottom, numbers row by row from the top.
_CELLS = re.compile(r"\W*([xob](?:\W+[xob]){41})(?:\W+(?:win|loss|draw))?\W*", re.I)
_NUMBERS = re.compile(r"\W*([012](?:\W+[012]){41})\W*", re.A)
_CELL_SIGNS = str.maketrans("B012", "..XO")


def parse_position(text: str) -> Position:
    """Returns the position that a text describes.

    It is six rows from the top and the side to move, which may be left out, with words around it
    or drawn with bars between the cells; or the columns of the moves from the start, such as 4453,
    `4,4,5,3` or `0-based 3342`. It may also be 42 cells of x, o and b, column by column from the
    bottom, or 42 of 0, 1 and 2, row by row from the top.

    Raises PositionError if the text or the position is not possible.
    """
    word = embedded(_undrawn(text), _BOARD)
    moves = None if _NUMBERS.fullmatch(word) else _MOVES.fullmatch(word)
    if moves is not None:
        return _played(re.sub(r"\D", "", moves[2]), 0 if moves[1] else 1)
    rows, mover = _read_board(word.upper())
    if rows is None:
        raise PositionError(
            "expected six rows of seven X, O and '.' with / between them, and X or O to move,"
            f" or the columns of moves such as 4453, found {word[:80]!r}"
        )
    board = "/".join(reversed(rows))
    x, o = board.count("X"), board.count("O")
    mover = mover or "XO"[x > o]
    if mover not in "XO":
        raise PositionError(f"expected X or O to move, found {mover}")
    if x - o != (mover == "O"):
        raise PositionError(
            f"expected as many X as O, or one more with O to move; found {x} X, {o} O and {mover}"
            " to move"
        )
    position = GRID.parse(f"{board} {mover}")
    stones = position[0] | position[1]
    if stones & ~BOTTOM & ~(stones << 1):
        raise PositionError(f"expected every stone to stand on another, found {board}")
    if has_four(position[0]):
        raise PositionError(f"expected no four of {mover}, who is to move, found {board}")
    return position


def _undrawn(text: object) -> object:
    """Returns a drawn board as six rows; any other text as it is."""
    rows = _DRAWN.findall(text) if isinstance(text, str) and len(text) <= LONGEST else []
    if len(rows) != ROWS:
        return text
    return "\n".join(re.sub(r"\s?([XO0._ -]?)\s?[|│]", _sign, row, flags=re.I) for row in rows)


def _sign(cell: re.Match[str]) -> str:
    return {"0": "O", "X": "X", "x": "X", "O": "O", "o": "O"}.get(cell[1], ".")


def _read_board(text: str) -> tuple[list[str] | None, str]:
    """Returns the rows of a board from the bottom, or None, and the side to move if it is given."""
    if (board := _BOARD.fullmatch(text)) is not None:
        return re.split(r"\s*[/\n]\s*", board[1])[::-1], board[2] or ""
    letters, numbers = _CELLS.fullmatch(text), _NUMBERS.fullmatch(text)
    match = letters or numbers
    if match is None:
        return None, ""
    cells = "".join(re.findall(r"\w", match[1])).translate(_CELL_SIGNS)
    if letters:
        return [cells[row::ROWS] for row in range(ROWS)], ""
    return [cells[COLUMNS * row :][:COLUMNS] for row in reversed(range(ROWS))], ""


def _played(columns: str, first: int) -> Position:
    """Returns the position after these moves from the start.

    columns: a digit a move.
    first: the number of the first column.
    """
    position = START
    for ply, digit in enumerate(columns, 1):
        column = int(digit) - first
        if not 0 <= column < COLUMNS:
            other = "" if first == 0 else ", or 0-based before them"
            expected = f"columns {first} to {first + COLUMNS - 1}{other}"
            raise PositionError(f"expected {expected}, found {digit} as move {ply}")
        if has_four(position[1]) or (position[0] | position[1]) >> 7 * column & 32:
            raise PositionError(f"expected a legal move, found {digit} as move {ply} of {columns}")
        own, opponent, side = play(position, column)
        position = (int(own), int(opponent), int(side))
    return position


def squares_of(position: Position, move: int) -> list[int]:
    """Returns the squares of a column for `games.board`; first the one where the stone lands."""
    height = ((position[0] | position[1]) >> 7 * move & 0x3F).bit_length()
    rows = [height, *(row for row in range(ROWS) if row != height)]
    return [COLUMNS * (ROWS - 1 - row) + move for row in rows]

"""Connect Four."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from games.board import Pieces
from games.connect_four import notation, rules
from games.connect_four.encoding import STONES, THREATS
from games.connect_four.evaluators import EVALUATORS
from games.connect_four.features import CELLS, LINES
from games.connect_four.rules import COLUMNS, ROWS, START, Position
from games.contract import Rules
from games.grid import GridGame

__all__ = ["ConnectFour"]


def _clicks(position: Position, move: int) -> list[list[int]]:
    """Returns one click: any square of the column."""
    return [notation.squares_of(position, move)]


def _stone_text(side: int, column: int, row: int) -> str:
    return f"{'XO'[side]} in column {column + 1}, row {row + 1}"


def _input_text(encoding: str, place: int, position: Any) -> tuple[str, float]:
    if encoding != STONES.name:
        return f"{encoding} {place}", 1.0
    theirs, square = divmod(place, COLUMNS * ROWS)
    column, row = divmod(square, ROWS)
    return _stone_text(position[2] ^ theirs, column, row), 1.0


def _removals(position: Any) -> Iterator[tuple[str, float, Any]]:
    own, opponent, side = position
    for theirs, stones in enumerate((own, opponent)):
        for column in range(COLUMNS):
            for row in range(ROWS):
                bit = 1 << 7 * column + row
                if stones & bit:
                    name = _stone_text(side ^ theirs, column, row)
                    yield name, 1.0, (own & ~bit, opponent & ~bit, side)


class ConnectFour(GridGame):
    """Connect Four; texts are six rows of `X`, `O` and `.` from the top, and the side to move."""

    name = "connect_four"
    grid = notation.GRID
    rules = Rules(legal_moves=rules.legal_moves, play=rules.play, outcome=rules.outcome)
    start_position = START
    most_moves = COLUMNS
    features = {"lines": LINES}
    encodings = {"stones": STONES, "threats": THREATS}
    evaluators = EVALUATORS
    title = "Connect Four"
    sides = ("X", "O")
    unit = "threats"
    extras = (
        notation.GRID.board(_clicks, row_names="654321"),
        CELLS, Pieces(_removals, _input_text),
    )  # fmt: skip

    parse_position = staticmethod(notation.parse_position)

    def move_text(self, position: Any, move: int) -> str:
        return str(move + 1)

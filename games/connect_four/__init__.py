"""Connect Four."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from games.board import Board
from games.connect_four import notation, rules
from games.connect_four.bitbully import BitBully
from games.connect_four.encoding import LINES_AND_COLUMNS, STONES, THREATS
from games.connect_four.evaluators import CALIBRATIONS, EVALUATORS
from games.connect_four.features import CELLS, LINES
from games.connect_four.recipes import RECIPES
from games.connect_four.rules import COLUMNS, ROWS, START, Position
from games.connect_four.solver import Solver
from games.contract import Rules
from games.kernel_game import KernelGame

__all__ = ["ConnectFour"]


def _clicks(position: Position, move: int) -> list[list[int]]:
    """Returns one click: any square of the column."""
    return [notation.squares_of(position, move)]


class ConnectFour(KernelGame):
    """Connect Four; texts are six rows of `X`, `O` and `.` from the top, and the side to move."""

    name = "connect_four"
    rules = Rules(legal_moves=rules.legal_moves, play=rules.play, outcome=rules.outcome)
    start_position = START
    most_moves = COLUMNS
    features = {"lines": LINES}
    encodings = {"stones": STONES, "threats": THREATS}
    tuples = {"lines": LINES_AND_COLUMNS}
    evaluators = EVALUATORS
    calibrations = CALIBRATIONS
    title = "Connect Four"
    sides = ("X", "O")
    unit = "threats"
    board = Board(ROWS, COLUMNS, notation.pieces, _clicks)
    cells = CELLS
    opponents = ("random", "centre", "hand")
    selective = "late_moves=1.2"  # singular extensions lose here
    shipped = "solved"
    pacemakers = ("centre", "hand")
    recipes = RECIPES
    referees = {"truth": lambda _: Solver(table_mib=64), "bitbully": lambda _: BitBully()}

    def to_move(self, position: Any) -> int:
        return int(position[2])

    def position_text(self, position: Any) -> str:
        return notation.position_text(position)

    def parse_position(self, text: str) -> Any:
        return notation.parse_position(text)

    def move_text(self, position: Any, move: int) -> str:
        return str(move + 1)

    def parse_move(self, position: Any, text: str) -> int:
        return notation.parse_move(self.legal_moves(position), text)

    def show(self, position: Any) -> str:
        return notation.show(position)

    def input_text(self, encoding: str, place: int, position: Any) -> tuple[str, float]:
        if encoding != STONES.name:
            return super().input_text(encoding, place, position)
        theirs, square = divmod(place, COLUMNS * ROWS)
        column, row = divmod(square, ROWS)
        return _stone_text(position[2] ^ theirs, column, row), 1.0

    def removals(self, position: Any) -> Iterator[tuple[str, float, Any]]:
        own, opponent, side = position
        for theirs, stones in enumerate((own, opponent)):
            for column in range(COLUMNS):
                for row in range(ROWS):
                    bit = 1 << 7 * column + row
                    if stones & bit:
                        name = _stone_text(side ^ theirs, column, row)
                        yield name, 1.0, (own & ~bit, opponent & ~bit, side)


def _stone_text(side: int, column: int, row: int) -> str:
    return f"{'XO'[side]} in column {column + 1}, row {row + 1}"

"""Hexapawn as kernels: an example of a game of your own, played everywhere that checkers is.

Three pawns a side on a board of three by three. A pawn goes one square straight on, or captures
one square diagonally; who reaches the far row or leaves the other side without a move wins. Source:
M. Gardner, Mathematical Games, Scientific American 206 (1962).

A position is (own pawns, the opponent's pawns, side to move); bit 3 * row + column, both from the
side to move, which goes up. After a move the board is turned round.
"""

from __future__ import annotations

from typing import Any

from games import KernelGame, PositionError, Rules
from games.board import Board
from games.features import Cells, FeatureSet, Kind
from games.kernels import kernel, popcount

__all__ = ["Hexapawn"]

LEFT, RIGHT = 0b001001001, 0b100100100
NEAR, FAR = 0b000000111, 0b111000000
_NAN = float("nan")


@kernel
def turned(pawns):
    """The pawns as the other side sees them."""
    after = 0
    for square in range(9):
        after |= (pawns >> square & 1) << 8 - square
    return after


@kernel
def legal_moves(position, moves):
    """Write 16 * from + to for every pawn that can go on or capture; none once a side is home."""
    own, opponent, _ = position
    if opponent & NEAR:
        return 0
    count = 0
    for square in range(6):
        pawn = own & 1 << square
        targets = pawn << 3 & ~(own | opponent)
        targets |= ((pawn & ~LEFT) << 2 | (pawn & ~RIGHT) << 4) & opponent
        for target in range(square + 2, square + 5):
            if targets >> target & 1:
                moves[count] = 16 * square + target
                count += 1
    return count


@kernel
def outcome(position):
    """-1.0 where the other side is home or the side to move cannot go on, else NaN."""
    own, opponent, _ = position
    if opponent & NEAR:
        return -1.0
    steps = own << 3 & ~(own | opponent)
    captures = ((own & ~LEFT) << 2 | (own & ~RIGHT) << 4) & opponent
    return _NAN if steps | captures else -1.0


@kernel
def play(position, move):
    """The position after a move, seen by the other side."""
    own, opponent, side = position
    square, target = move >> 4, move & 15
    return (turned(opponent & ~(1 << target)), turned(own ^ 1 << square | 1 << target), 1 - side)


@kernel
def swap_sides(position):
    """The same board with the other side to move."""
    own, opponent, side = position
    return (turned(opponent), turned(own), 1 - side)


@kernel
def pawns(position):
    """Pawns left."""
    return popcount(position[0])


@kernel
def advance(position):
    """Rows that the pawns have gone."""
    own = position[0]
    return popcount(own & FAR >> 3) + 2 * popcount(own & FAR)


@kernel
def blocked(position):
    """Pawns with a pawn right before them."""
    return popcount(position[0] << 3 & (position[0] | position[1]))


@kernel
def _own(position):
    return position[0]


@kernel
def _their(position):
    return position[1]


def _pieces(position: Any) -> dict[int, tuple[int, str]]:
    """What stands where, seen by White: squares 0 to 8 from the top left."""
    own, opponent, side = position
    white, black = (own, opponent) if side == 0 else (turned(opponent), turned(own))
    found = {}
    for square in range(9):
        shown = 3 * (2 - square // 3) + square % 3
        if white >> square & 1:
            found[shown] = (0, "")
        elif black >> square & 1:
            found[shown] = (1, "")
    return found


def _shown(position: Any, square: int) -> int:
    """The square of the board that is drawn."""
    square = square if position[2] == 0 else 8 - square
    return 3 * (2 - square // 3) + square % 3


def _clicks(position: Any, move: int) -> list[int]:
    """The pawn, then the square that it goes to."""
    return [_shown(position, move >> 4), _shown(position, move & 15)]


#: Which bits hold the pawns, for terms that the program invents.
CELLS = Cells(
    3,
    3,
    {3 * (2 - bit // 3) + bit % 3: bit for bit in range(9)},
    {"pawn": Kind(_own, _their, "")},
    swap_sides,
    turned=True,  # as are the words of a position already
)


class Hexapawn(KernelGame):
    """Hexapawn; texts are three rows of `w`, `b` and `.` from the top, and the side to move."""

    name = "hexapawn"
    rules = Rules(legal_moves=legal_moves, play=play, outcome=outcome)
    start_position = (NEAR, FAR, 0)
    most_moves = 9
    features = {
        "pawns": FeatureSet(
            "pawns", {"pawns": pawns, "advance": advance, "blocked": blocked}, swap_sides
        )
    }
    evaluators = {"hand": ("pawns", {"pawns": 1.0, "advance": 0.5})}
    sides = ("White", "Black")
    unit = "pawns"
    extras = (
        Board(3, 3, _pieces, _clicks, light_first=True, row_names="321", column_names="abc"),
        CELLS,
    )

    def to_move(self, position: Any) -> int:
        return int(position[2])

    def position_text(self, position: Any) -> str:
        pieces = _pieces(position)
        letters = ["wb"[pieces[square][0]] if square in pieces else "." for square in range(9)]
        rows = ["".join(letters[i : i + 3]) for i in (0, 3, 6)]
        return f"{'/'.join(rows)} {'wb'[position[2]]}"

    def parse_position(self, text: str) -> Any:
        board, _, mover = text.strip().partition(" ")
        rows = board.split("/")
        if (
            [len(row) for row in rows] != [3] * 3
            or set(board) - set("wb./")
            or mover not in ("w", "b")
        ):
            raise PositionError(
                "expected three rows of w, b and '.' with / between them, and w or b to move, such"
                f" as {self.position_text(self.start_position)!r}, found {text[:40]!r}"
            )
        letters = "".join(reversed(rows))
        white, black = (
            sum(1 << square for square in range(9) if letters[square] == letter) for letter in "wb"
        )
        if mover == "w":
            return (white, black, 0)
        return (turned(black), turned(white), 1)

    def move_text(self, position: Any, move: int) -> str:
        return "-".join(
            f"{'abc'[square % 3]}{3 - square // 3}" for square in _clicks(position, move)
        )

    def show(self, position: Any) -> str:
        rows = self.position_text(position)[:11].split("/")
        lines = [f"{3 - n}  {' '.join(row)}" for n, row in enumerate(rows)]
        return "\n".join([*lines, "   a b c"])

"""Connect Four as kernels: an example of a game of your own that runs at native speed.

Seven columns, six rows; a move drops a stone into a column, and four in a row, column or diagonal
win. A position is (own stones, the opponent's stones, side to move). A column takes seven bits:

    row 6   5 12 19 26 33 40 47        bit 7 * column + row, both counted from 0;
    ...            ...                 bits 6, 13, ... above the columns stay empty, so
    row 1   0  7 14 21 28 35 42        that no line of four wraps into the next column

A move is the number of a column, 0 to 6; texts count from 1. X (0) begins.
"""

from __future__ import annotations

from typing import Any

from games import KernelGame, MoveError, PositionError, Rules
from games.features import FeatureSet
from games.kernels import kernel, popcount

__all__ = ["ConnectFour"]

BOTTOM = sum(1 << 7 * column for column in range(7))
TOP = BOTTOM << 5
ALL = BOTTOM * 0b111111
CENTRE = 0b111111 << 21
DIRECTIONS = (1, 6, 7, 8)  # from a square to the next: up, falling, across and rising
_NAN = float("nan")


@kernel
def has_four(stones):
    """Whether four of these stones stand in line."""
    for step in DIRECTIONS:
        pairs = stones & stones >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


@kernel
def outcome(position):
    """-1.0 where the side that just moved has four, 0.0 on a full board, else NaN."""
    own, opponent, _ = position
    if has_four(opponent):
        return -1.0
    return 0.0 if own | opponent == ALL else _NAN


@kernel
def legal_moves(position, moves):
    """Write the columns that are not full, from the centre outwards; none once there is a four."""
    own, opponent, _ = position
    if has_four(opponent):
        return 0
    stones = own | opponent
    count = 0
    for column in (3, 2, 4, 1, 5, 0, 6):
        if stones & 32 << 7 * column == 0:
            moves[count] = column
            count += 1
    return count


@kernel
def play(position, move):
    """The position after a stone is dropped, seen by the other side."""
    own, opponent, side = position
    stones = own | opponent
    # Adding 1 at the foot of a column carries up to its first empty square.
    return (opponent, own | ((stones + (1 << 7 * move)) & ~stones), 1 - side)


@kernel
def swap_sides(position):
    """The same board with the other side to move."""
    own, opponent, side = position
    return (opponent, own, 1 - side)


@kernel
def completing(position):
    """The empty squares that would make a four of the side to move."""
    own, opponent, _ = position
    found = 0
    for step in DIRECTIONS:
        # X marks the square: XSSS, SXSS, SSXS and SSSX.
        pairs = own & own >> step
        threes = pairs & own >> 2 * step
        found |= threes >> step | threes << 3 * step
        found |= (own & pairs >> 2 * step) << step | (pairs & own >> 3 * step) << 2 * step
    return found & ALL & ~(own | opponent)


@kernel
def centre(position):
    """Stones in the middle column."""
    return popcount(position[0] & CENTRE)


@kernel
def near_centre(position):
    """Stones in the two columns beside it."""
    return popcount(position[0] & (CENTRE << 7 | CENTRE >> 7))


@kernel
def threats(position):
    """Empty squares that complete a four."""
    return popcount(completing(position))


@kernel
def ready(position):
    """Threats on squares that a stone can reach now."""
    stones = position[0] | position[1]
    return popcount(completing(position) & (stones + BOTTOM))


@kernel
def pairs(position):
    """Neighbouring stones, counted once for each of the four directions."""
    count = 0
    for step in DIRECTIONS:
        count += popcount(position[0] & position[0] >> step)
    return count


@kernel
def threes(position):
    """Three in line without a gap, blocked or not."""
    count = 0
    for step in DIRECTIONS:
        count += popcount(position[0] & position[0] >> step & position[0] >> 2 * step)
    return count


LINES = FeatureSet(
    "lines",
    {
        "centre": centre,
        "near_centre": near_centre,
        "threats": threats,
        "ready": ready,
        "pairs": pairs,
        "threes": threes,
    },
    swap_sides,
)


class ConnectFour(KernelGame):
    """Connect Four; texts are six rows of `X`, `O` and `.` from the top, and the side to move."""

    name = "connect_four"
    rules = Rules(legal_moves=legal_moves, play=play, outcome=outcome)
    start_position = (0, 0, 0)
    most_moves = 7
    features = {"lines": LINES}
    evaluators = {
        "hand": ("lines", {"centre": 0.2, "near_centre": 0.1, "threats": 1.0, "ready": 2.0})
    }

    def to_move(self, position: Any) -> int:
        return int(position[2])

    def position_text(self, position: Any) -> str:
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

    def parse_position(self, text: str) -> Any:
        board, _, mover = text.strip().upper().partition(" ")
        rows = board.split("/")[::-1]
        if (
            [len(row) for row in rows] != [7] * 6
            or set(board) - set("XO./")
            or mover not in ("X", "O")
        ):
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

    def move_text(self, position: Any, move: int) -> str:
        return str(move + 1)

    def parse_move(self, position: Any, text: str) -> int:
        columns = sorted(move + 1 for move in self.legal_moves(position))
        if text.strip() not in map(str, columns):
            raise MoveError(
                f"expected a column that is not full, of {columns}, found {text.strip()[:20]!r}"
            )
        return int(text) - 1

    def show(self, position: Any) -> str:
        board, _, mover = self.position_text(position).partition(" ")
        rows = [" ".join(row) for row in board.split("/")]
        return "\n".join([*rows, "1 2 3 4 5 6 7", f"{mover} to move"])

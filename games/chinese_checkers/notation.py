"""Text forms of Chinese Checkers: the star row by row, and moves by the numbers of cells."""

from __future__ import annotations

from typing import Any

from games.chinese_checkers import star
from games.chinese_checkers.rules import PASS
from games.errors import PositionError, stripped

Position = tuple[int, ...]


def owners(position: Position) -> list[int | None]:
    """Returns the side of the piece on each cell, None for an empty cell."""
    players = len(position) // 2 - 1
    side = position[-2]
    cells: list[int | None] = [None] * star.CELLS
    for player in range(players):
        low, high = position[2 * player : 2 * player + 2]
        for cell in range(star.CELLS):
            if (low >> cell if cell < star.LOW else high >> cell - star.LOW) & 1:
                cells[cell] = (side + player) % players
    return cells


def _rows(position: Position) -> list[str]:
    signs = "".join("." if side is None else str(side + 1) for side in owners(position))
    ends = [sum(star.LENGTHS[: row + 1]) for row in range(len(star.LENGTHS))]
    return [signs[end - length : end] for end, length in zip(ends, star.LENGTHS, strict=True)]


def position_text(position: Position) -> str:
    """Returns the rows divided by `/`, the number of the side to move and of moves played."""
    return f"{'/'.join(_rows(position))} {position[-2] + 1} {position[-1]}"


def parse_position(text: str, players: int, last_move: int) -> Position:
    """Returns the position that such a text describes; raises PositionError if it describes none.

    players: the number of players.
    last_move: the greatest number of moves played.
    """
    board, _, rest = stripped(text).partition(" ")
    rows = board.split("/")
    signs = "".join(rows)
    digits = "123456"[:players]
    if tuple(map(len, rows)) != star.LENGTHS or set(signs) - set(digits + "."):
        raise PositionError(
            f"expected rows of {', '.join(map(str, star.LENGTHS))} cells with / between them, each"
            f" a player of {digits} or '.', found {text[:80]!r}"
        )
    if any(signs.count(player) != 10 for player in digits):
        counts = ", ".join(str(signs.count(player)) for player in digits)
        raise PositionError(f"expected ten pieces of each player, found {counts}")
    numbers = rest.split()
    if not (
        len(numbers) == 2
        and numbers[0] in digits
        and numbers[1].isascii()
        and numbers[1].isdecimal()
        and len(numbers[1]) < 8
        and int(numbers[1]) <= last_move
    ):
        raise PositionError(
            f"expected the player to move, of {digits}, and the moves played, at most {last_move},"
            f" found {rest[:40]!r}"
        )
    side = int(numbers[0]) - 1
    words: list[int] = []
    for player in range(players):
        sign = digits[(side + player) % players]
        words += star.both_words([cell for cell in range(star.CELLS) if signs[cell] == sign])
    return (*words, side, int(numbers[1]))


def move_text(move: int) -> str:
    """Returns a move as the numbers of two cells, `6-14`, or `pass`."""
    return "pass" if move == PASS else f"{move >> 7}-{move & 127}"


def show(position: Position) -> str:
    """Returns the star, each row with the numbers of its cells, and whose move it is."""
    lines, cell = [], 0
    for row in _rows(position):
        line = [" "] * 25
        numbers = f"{cell}-{cell + len(row) - 1}" if len(row) > 1 else str(cell)
        for sign in row:
            line[star.COLUMNS[cell]] = sign
            cell += 1
        lines.append(f"{''.join(line)}   {numbers}")
    return "\n".join([*lines, f"player {position[-2] + 1} to move"])


def pieces(position: Position) -> dict[int, tuple[int | None, str]]:
    """Returns the pieces for `games.board`: the star on a grid of 17 rows and 25 columns."""
    return {square(c): (side, "") for c, side in enumerate(owners(position)) if side is not None}


def square(cell: int) -> int:
    """Returns the square of a grid of 17 rows and 25 columns on which a cell lies.

    The first player, who begins at the top of the star, sits at the bottom of the grid.
    """
    return 25 * (16 - star.ROWS[cell]) + 24 - star.COLUMNS[cell]


def clicks(position: Any, move: int) -> list[int]:
    """Returns the clicks that make a move: the piece and where it goes, or any own piece twice."""
    if move == PASS:
        mine = next(c for c, side in enumerate(owners(position)) if side == position[-2])
        return [square(mine), square(mine)]
    return [square(move >> 7), square(move & 127)]


def path(position: Any, move: int) -> list[int]:
    """Returns the squares on the shortest way of a piece, its first and its last among them."""
    if move == PASS:
        return []
    origin, target = move >> 7, move & 127
    if target in star.NEIGHBOURS[origin]:
        return [square(origin), square(target)]
    side = owners(position)
    side[origin] = None
    before = {origin: origin}
    reached = [origin]
    for here in reached:
        for over, landing in zip(star.NEIGHBOURS[here], star.HOPS[here], strict=True):
            if landing >= 0 and side[over] is not None and side[landing] is None:
                if landing not in before:
                    before[int(landing)] = here
                    reached.append(int(landing))
    way = [target]
    while way[-1] != origin:
        way.append(before[way[-1]])
    return [square(cell) for cell in reversed(way)]

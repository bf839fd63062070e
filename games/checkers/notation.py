"""Checkers positions, moves and boards as text, in the numbering and the forms of PDN.

A position is written as a PDN FEN: the side to move, then the squares of each side, men before
kings, as in `B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29`. A move is written `11-15`, a capture
`22x15`; a longer capture names every square landed on, `22x15x8`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from games.checkers import rules
from games.checkers.rules import BLACK, FIRST_ROW, LAST_ROW, MOST_MOVES, SQUARES, WHITE, Position
from games.errors import MoveError, PositionError, embedded, stripped
from programs.phrases import listed, shortened

__all__ = [
    "captured_squares",
    "move_path",
    "move_text",
    "moves_named",
    "parse_move",
    "parse_position",
    "position_text",
    "show",
    "square_bit",
    "square_number",
    "squares_in",
    "squares_of",
]

#: Longer texts are refused unread; legitimate ones are far shorter, even with spaces.
LONGEST_MOVE = 200
MOST_PIECES = 12  # of one side

_LETTERS = {BLACK: "B", WHITE: "W"}
_NAMES = {BLACK: "Black", WHITE: "White"}
_SIDES = {"b": BLACK, "w": WHITE}
#: A position in a text: its sections, followed by move counters or anything but more squares.
_SECTION = (
    r"\s*:\s*[BW]\s*"
    r"(?:(?:K\s*)?[0-9]{1,2}(?:\s*-\s*[0-9]{1,2})?(?:\s*,\s*(?=[K0-9])|(?![\w-])))*+"
)
_FEN = re.compile(
    rf"(?<![\w:])([BW](?:{_SECTION}){{2,3}})(?:\s*:[HF]?[0-9]+|\s+[0-9]+\s+[0-9]+)*"
    r"(?![\w-]|\s*:|[\s,;]*[A-Z]?\s*[0-9]|\s*[,;]\s*[,;])",
    re.I | re.A,
)
_JUMPS = (8, 10, -8, -10)  # bits from start to end of a jump, by the direction in a move
_ITEM = re.compile(r"(k?)\s*([0-9]{1,2})(?:\s*-\s*([0-9]{1,2}))?")
_MOVE = re.compile(r"[0-9]{1,2}(?:(?:\s*[-x:*×]\s*|\s+)[0-9]{1,2})+")
_NUMBER = re.compile(r"[0-9]+")

_legal_moves: Callable[[Position, Any], int] = rules.legal_moves


def square_bit(square: int) -> int:
    """Returns the bit number of a square 1..32."""
    return square - 1 + (square - 1) // 8


def square_number(bit: int) -> int:
    """Returns the square 1..32 of a bit number that is not in the gutter."""
    return bit + 1 - bit // 9


def squares_of(bits: int) -> list[int]:
    """Returns the squares of a board in rising order."""
    return [square for square in range(1, 33) if bits >> square_bit(square) & 1]


def position_text(position: Position) -> str:
    """Returns the canonical PDN FEN of a position, with both sections even if one is empty."""
    own, opponent, kings, side = position
    white, black = (own, opponent) if side == WHITE else (opponent, own)
    return f"{_LETTERS[side]}:W{_pieces_text(white, kings)}:B{_pieces_text(black, kings)}"


def _pieces_text(pieces: int, kings: int) -> str:
    men = [str(square) for square in squares_of(pieces & ~kings)]
    return ",".join(men + [f"K{square}" for square in squares_of(pieces & kings)])


def parse_position(text: str) -> Position:
    """Returns the position that a PDN FEN describes.

    Either section may come first; case and spaces do not matter, nor do words around the text or
    move counters after it, and `1-12` or `K1-4` stand for all the squares of a range.

    Raises PositionError for any other text and for impossible pieces: two on a square, a man on the
    row where it is crowned, more than twelve of a side.
    """
    letter, *sections = embedded(text, _FEN).strip("\"'. ").lower().split(":")
    letter = letter.strip()
    if letter not in _SIDES:
        raise _position_error(
            "the side to move at the beginning, B or W as in B:W32:B1", letter or text
        )
    men, kings = {BLACK: 0, WHITE: 0}, {BLACK: 0, WHITE: 0}
    seen: list[int] = []
    sections = [section.strip() for section in sections]
    for place, section in enumerate(sections):
        if section[:1] not in _SIDES:
            raise _position_error("a section of squares that begins with W or B", section)
        colour = _SIDES[section[0]]
        if section in _SIDES and any(other[:1] == section for other in sections[place + 1 :]):
            continue  # the side to move, stated twice
        if colour in seen:
            raise _position_error(
                "one section for each side", f"a second one for {_NAMES[colour]}", quote=False
            )
        seen.append(colour)
        for is_king, bit in _parse_section(section[1:], colour):
            taken = men[BLACK] | men[WHITE] | kings[BLACK] | kings[WHITE]
            if taken >> bit & 1:
                raise _position_error(
                    "one piece on a square", f"two on {square_number(bit)}", quote=False
                )
            (kings if is_king else men)[colour] |= 1 << bit
    for colour in (WHITE, BLACK):
        if colour not in seen:
            raise _position_error(f"a section for {_NAMES[colour]}, which may be empty", text)
        count = (men[colour] | kings[colour]).bit_count()
        if count > MOST_PIECES:
            raise _position_error(
                f"at most {MOST_PIECES} {_NAMES[colour].lower()} pieces", str(count), quote=False
            )
    side = _SIDES[letter]
    return (
        men[side] | kings[side],
        men[1 - side] | kings[1 - side],
        kings[BLACK] | kings[WHITE],
        side,
    )


def _parse_section(text: str, colour: int) -> Iterator[tuple[bool, int]]:
    """Yields for every piece of a section whether it is a king, and its bit number."""
    crowning = FIRST_ROW if colour == WHITE else LAST_ROW
    for item in text.split(",") if text.strip() else []:
        match = _ITEM.fullmatch(item.strip())
        if match is None:
            raise _position_error("a square such as 18, K18 or 1-12", item.strip())
        is_king, first, last = match[1] == "k", int(match[2]), int(match[3] or match[2])
        for square in (first, last):
            if not 1 <= square <= 32:
                raise _position_error("squares 1 to 32", str(square), quote=False)
        if last < first:
            raise _position_error("a range that rises", item.strip())
        for square in range(first, last + 1):
            bit = square_bit(square)
            if not is_king and crowning >> bit & 1:
                raise _position_error(
                    f"a king on {square}, where men of {_NAMES[colour]} are crowned",
                    "a man",
                    quote=False,
                )
            yield is_king, bit


def move_path(move: int) -> list[int]:
    """Returns the squares that a move visits, including start and end."""
    start, end = move & 63, move >> 6 & 63
    jumps = (move >> 12 & SQUARES).bit_count()
    if jumps == 0:
        return [square_number(start), square_number(end)]
    bits = [start]
    # The last square is written in the move itself, which has no room for a ninth direction.
    for jump in range(jumps - 1):
        bits.append(bits[-1] + _JUMPS[move >> 47 + 2 * jump & 3])
    return [square_number(bit) for bit in [*bits, end]]


def captured_squares(move: int) -> list[int]:
    """Returns the squares of the pieces that a move captures, in rising order."""
    return squares_of(move >> 12 & SQUARES)


def move_text(position: Position, move: int) -> str:
    """Returns a legal move as PDN writes it; no two moves of a position have the same text.

    Raises MoveError if the move is not legal.
    """
    legal = _legal(position)
    if move not in legal:
        raise MoveError(f"expected {_choice(legal)}, found number {move!r}")
    return _text(move)


def _text(move: int) -> str:
    return ("x" if move >> 12 else "-").join(map(str, move_path(move)))


def parse_move(position: Position, text: str) -> int:
    """Returns the legal move that a text names by start, end and any squares between.

    `-`, `x`, `:`, `*`, `×` or a space may separate squares, in captures and other moves.
    Squares landed on may be omitted as long as only one legal move fits.

    Raises MoveError if the text is not a move, or names no legal move or several; the message lists
    the possible moves.
    """
    word = stripped(text, MoveError).lower()
    if len(text) > LONGEST_MOVE or _MOVE.fullmatch(word) is None:
        raise MoveError(f"expected a move such as 11-15 or 22x15x8, found {shortened(word)!r}")
    squares = squares_in(word)
    for square in squares:
        if not 1 <= square <= 32:
            raise MoveError(f"expected squares 1 to 32, found {square} in {shortened(word)!r}")
    word = shortened(word)
    matching = moves_named(position, squares)
    if len(matching) == 1:
        return matching[0]
    if matching:
        paths = listed("x".join(map(str, move_path(move))) for move in matching)
        raise MoveError(f"expected one of {paths}, found {word!r}, which names them all")
    raise MoveError(f"expected {_choice(_legal(position))}, found {word!r}")


def squares_in(text: str) -> list[int]:
    """Returns the numbers in the text of a move."""
    return [int(number) for number in _NUMBER.findall(text)]


def moves_named(position: Position, squares: list[int]) -> list[int]:
    """Returns the legal moves that these squares can name: start, end, and some between."""
    matching = [move for move in _legal(position) if _passes(move_path(move), squares)]
    return [move for move in matching if move_path(move) == squares] or matching


def _passes(path: list[int], squares: list[int]) -> bool:
    """Whether a path has the same start and end and the given squares, in order."""
    if (path[0], path[-1]) != (squares[0], squares[-1]):
        return False
    rest = iter(path)
    return all(square in rest for square in squares)


def show(position: Position) -> str:
    """Returns the board in eight rows with White at the bottom, and a line with the side to move.

    Men are `b` and `w`, kings `B` and `W`, empty playing squares `.`; each row has the number of
    its first playing square before it and that of its last after it.
    """
    own, opponent, kings, side = position
    black = own if side == BLACK else opponent
    lines = []
    for row in range(8):
        signs = []
        for square in range(4 * row + 1, 4 * row + 5):
            bit = 1 << square_bit(square)
            sign = "." if not (own | opponent) & bit else "b" if black & bit else "w"
            signs.append(sign.upper() if kings & bit else sign)
        cells = "   ".join(signs)
        # The right-hand square of even rows, such as the top one, is a playing square.
        board = f"  {cells}" if row % 2 == 0 else f"{cells}  "
        lines.append(f"{4 * row + 1:2}  {board}  {4 * row + 4:2}")
    return "\n".join([*lines, f"{_NAMES[side]} to move"])


def _legal(position: Position) -> list[int]:
    moves = np.zeros(MOST_MOVES, dtype=np.int64)
    count = _legal_moves(position, moves)
    return [int(move) for move in moves[:count]]


def _choice(legal: list[int]) -> str:
    """Returns the legal moves that an error message lists."""
    if not legal:
        return "no move, because the side to move has none"
    must = " (captures are mandatory)" if legal[0] >> 12 else ""
    return f"one of {listed(map(_text, legal))}{must}"


def _position_error(expected: str, found: str, *, quote: bool = True) -> PositionError:
    return PositionError(f"expected {expected}, found {repr(shortened(found)) if quote else found}")

"""The words of Hub, the protocol of draughts engines (version 2, of Scan 3.1), in English checkers.

Positions are the side to move, B or W, and a letter for each square: b, w, B, W (kings), e. Moves
are `11-15`, captures `22x15x18`: from, to, and the captured squares.
"""

from __future__ import annotations

import re
from typing import Any

from games.checkers.notation import captured_squares, move_path, parse_position, position_text

__all__ = ["arguments", "hub_move", "hub_position", "move_word", "position_word"]

_PAIR = re.compile(r'\s*([^\s="]+)(?:\s*=\s*(?:"([^"]*)"|([^\s"]*)))?')
_PIECES = re.compile(r"[BW][bwBWe]{32}")
_MOVE = re.compile(r"([0-9]{1,2})(?:-([0-9]{1,2})|((?:x[0-9]{1,2})+))")


def arguments(text: str) -> dict[str, str]:
    """Returns the `name=value` and `name="several words"` of a line; ValueError for others."""
    given: dict[str, str] = {}
    place = 0
    text = text.rstrip()
    while place < len(text):
        match = _PAIR.match(text, place)
        if match is None:
            raise ValueError(f"expected name=value, found {text[place : place + 40]!r}")
        place = match.end()
        if match[1] in given:
            raise ValueError(f"expected {match[1][:40]!r} only once")
        given[match[1]] = match[2] if match[2] is not None else match[3] or ""
    return given


def hub_position(text: str, *, turned: bool = False) -> Any:
    """Returns the position that a Hub text describes; raises ValueError for any other text.

    turned: whether the text lists the squares from 32 to 1 with the colours swapped.
    """
    if _PIECES.fullmatch(text) is None:
        raise ValueError(f"pos: expected B or W and 32 of bwBWe, found {text[:40]!r}")
    if turned:
        text = (text[0] + text[:0:-1]).translate(str.maketrans("bwBW", "wbWB"))
    pieces: dict[str, list[str]] = {"w": [], "b": []}
    for square, letter in enumerate(text[1:], 1):
        if letter != "e":
            pieces[letter.lower()].append(f"K{square}" if letter.isupper() else str(square))
    return parse_position(f"{text[0]}:W{','.join(pieces['w'])}:B{','.join(pieces['b'])}")


def position_word(position: Any) -> str:
    """Returns a position of checkers as Hub writes it."""
    squares = ["e"] * 32
    side, *sections = position_text(position).split(":")
    for section in sections:
        for piece in filter(None, section[1:].split(",")):
            letter = section[0] if piece.startswith("K") else section[0].lower()
            squares[int(piece.removeprefix("K")) - 1] = letter
    return side + "".join(squares)


def move_word(move: int) -> str:
    """Returns a move as Hub writes it: from, to, and the captured squares."""
    path = move_path(move)
    captured = captured_squares(move)
    if not captured:
        return f"{path[0]}-{path[-1]}"
    return "x".join(map(str, [path[0], path[-1], *captured]))


def hub_move(game: Any, position: Any, text: str) -> int:
    """Returns the legal move that a Hub word names; raises ValueError for any other word.

    Captured squares may come in any order. Of several ways to capture the same pieces the first is
    returned, because all lead to the same position.
    """
    match = _MOVE.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a move such as 11-15 or 22x15x18, found {text[:40]!r}")
    if match[2]:
        start, end, captured = int(match[1]), int(match[2]), list[int]()
    else:
        start, end, *captured = (int(match[1]), *map(int, match[3][1:].split("x")))
    legal = game.legal_moves(position)
    for move in legal:
        path = move_path(move)
        if (path[0], path[-1], captured_squares(move)) == (start, end, sorted(captured)):
            return int(move)
    texts = ", ".join(map(move_word, legal[:12]))
    raise ValueError(f"expected one of {texts or 'no moves'}, found {text[:40]!r}")

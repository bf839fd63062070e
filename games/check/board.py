"""Whether a game's board shows its positions and tells its moves apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from games.board import Board
from games.contract import Game
from games.extras import extra

__all__ = ["check_board"]


def check_board(game: Game, position: Any, moves: list[Any], fail: Callable[..., Any]) -> None:
    """Check the pieces, cells and clicks of a game's board in a position, if it declares a board.

    fail: called with the broken rule, the position, and what was expected and found; it raises.
    """
    from games.features import Cells  # imports Numba, which help texts do not need

    board: Any = extra(game, Board)
    cells = extra(game, Cells)
    if board is None:
        if cells is not None and cells.of_a_board:
            fail("cells are those of a board", position, "a board", None)
        return
    if cells is not None and not cells.alone:
        held, shown = cells.held(position), cells.shown(board, position, game.to_move(position))
        if held != shown:
            fail("cells hold the pieces that the board shows", position, shown, held)
    for square, piece in board.pieces(position).items():
        if not isinstance(square, int) or not 0 <= square < board.squares:
            fail("pieces stand on squares", position, f"0 to {board.squares - 1}", square)
        if (
            len(piece) != 2
            or piece[0] not in (None, *range(max(game.players, 2)))  # a puzzle may have two kinds
            or not isinstance(piece[1], str)
        ):
            fail("a piece has a side and a text", position, "(its side or None, text)", piece)
    ways: dict[Any, Any] = {}
    for move in moves:
        clicks = board.clicks(position, move)
        way = tuple((c,) if isinstance(c, int) else tuple(c) for c in clicks)
        for square in (square for click in way for square in click):
            if not isinstance(square, int) or not 0 <= square < board.squares:
                rule = f"{move!r} is made by clicks on squares"
                fail(rule, position, f"0 to {board.squares - 1}", square)
        if not all(way):
            fail(f"every click of {move!r} has a square", position, "a square", clicks)
        path = list(board.path(position, move)) if board.path is not None else []
        if path and not (path[0] in way[0] and path[-1] in way[-1]):
            fail(f"the way of {move!r} leads from click to click", position, clicks, path)
        if board.holes is not None and not set(path).issubset(board.holes):
            fail(f"the way of {move!r} leads over holes", position, "holes", path)
        if ways.setdefault(way, move) != move:
            rule = f"different moves have different clicks ({list(clicks)})"
            fail(rule, position, "one move", [ways[way], move])

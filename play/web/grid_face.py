"""The faces of games: their own, a grid as the game declares it, or a list of moves."""

from __future__ import annotations

from typing import Any

from games.board import Board
from games.contract import Game, given
from games.errors import MoveError
from games.extras import extra
from play.web.faces import Face, FaceOf, Step

__all__ = ["GridFace", "PlainFace", "face_of"]

#: Most moves whose squares the page receives for hints.
MOST_WAYS = 500
#: Moves, each with the squares that are accepted for each of its clicks.
Ways = list[tuple[list[tuple[int, ...]], Any]]


class PlainFace:
    """See `play.web.faces.Face`. The board is text, and moves are chosen from a list."""

    kind = "plain"
    light_first = False

    def __init__(self, game: Game) -> None:
        self.game = game

    def board(self, position: Any) -> dict[str, Any]:
        """Returns the text that the game shows in a terminal."""
        return {"text": self.game.show(position), "side": self.game.to_move(position)}

    def steps(self, position: Any, roll: int | None) -> ClickSteps:
        """No steps: a move is chosen by its text."""
        return ClickSteps(self.board(position), [])

    def trace(self, position: Any, move: Any) -> list[list[int]]:
        """No paths: there is no board to draw them on."""
        return []


class GridFace(PlainFace):
    """See `play.web.faces.Face`. Squares and pieces are those of `games.board`."""

    kind = "grid"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        board = extra(game, Board)
        assert board is not None
        self.grid = board
        self.light_first = board.light_first

    def board(self, position: Any) -> dict[str, Any]:
        """Returns the size of the board, and pieces as [square, side, text]."""
        pieces = [
            [square, side, text] for square, (side, text) in self.grid.pieces(position).items()
        ]
        return {
            **super().board(position),
            "rows": self.grid.rows,
            "columns": self.grid.columns,
            "shape": self.grid.shape,
            "holes": self.grid.holes,
            "tints": list(self.grid.tints.items()),
            "row_names": list(self.grid.row_names),
            "column_names": list(self.grid.column_names),
            "pieces": sorted(pieces, key=lambda piece: piece[0]),
        }

    def steps(self, position: Any, roll: int | None) -> ClickSteps:
        """Returns the clicks of a move, which is played with the last one."""
        game = self.game
        legal = game.legal_moves(position, *given(roll))
        ways = [(self.ways(position, move), move) for move in legal]
        texts = {
            game.move_text(position, move): self.path(position, move) or [c[0] for c in way]
            for way, move in ways[:MOST_WAYS]
        }
        return ClickSteps({**self.board(position), "ways": texts}, ways)

    def ways(self, position: Any, move: Any) -> list[tuple[int, ...]]:
        """For each click of a move the squares that are accepted."""
        clicks = self.grid.clicks(position, move)
        return [(click,) if isinstance(click, int) else tuple(click) for click in clicks]

    def path(self, position: Any, move: Any) -> list[int]:
        """Returns the squares on the way of a move; empty if it is not known."""
        return list(self.grid.path(position, move)) if self.grid.path is not None else []

    def trace(self, position: Any, move: Any) -> list[list[int]]:
        """Returns the way of the piece that moves, or else the squares whose contents change."""
        path = self.path(position, move)
        if path:
            return [path]
        before = self.grid.pieces(position)
        after = self.grid.pieces(self.game.play(position, move))
        gone = sorted(square for square in before if before[square] != after.get(square))
        come = sorted(square for square in after if before.get(square) != after[square])
        return [[square] for square in dict.fromkeys([*gone, *come])]


def face_of(game: Game) -> Face:
    """Returns the face of a game: its own, a grid, or a list of moves if it has no board."""
    own = extra(game, FaceOf)
    if own is not None:
        return own.make(game)
    return PlainFace(game) if extra(game, Board) is None else GridFace(game)


class ClickSteps:
    """See `play.web.faces.Steps`. A step begins at the square clicked before, -1 for none."""

    def __init__(self, board: dict[str, Any], ways: Ways) -> None:
        self._board = board
        self._ways = ways
        self._clicked: list[int] = []

    @property
    def at_once(self) -> bool:
        """Whether the move is played at once, because no longer move begins with its clicks."""
        return bool(self._clicked) and not self.next()

    @property
    def taken(self) -> list[tuple[int, int]]:
        """The clicks so far."""
        return list(zip([-1, *self._clicked], self._clicked, strict=False))

    def board(self) -> dict[str, Any]:
        """Returns the board with the squares clicked so far."""
        return {**self._board, "clicked": list(self._clicked)}

    def _open(self) -> Ways:
        """Returns the moves that begin with the clicks so far."""
        return [
            (way, move)
            for way, move in self._ways
            if len(way) >= len(self._clicked)
            and all(square in any_of for square, any_of in zip(self._clicked, way, strict=False))
        ]

    def next(self) -> list[Step]:
        """Returns a step for each square that can be clicked next."""
        done = len(self._clicked)
        here = self._clicked[-1] if done else -1
        ends: dict[int, bool] = {}
        for way, _ in self._open():
            for square in way[done] if len(way) > done else ():
                ends[square] = ends.get(square, True) and len(way) == done + 1
        return [
            {"from": here, "to": square, "far": False, "final": final}
            for square, final in ends.items()
        ]

    def step(self, source: int, target: int) -> None:
        """Click a square. Raises MoveError if no move continues there."""
        if not any((s["from"], s["to"]) == (source, target) for s in self.next()):
            raise MoveError(f"expected one of the marked squares, found {target} after {source}")
        self._clicked.append(target)

    def back(self) -> None:
        """Take back the last click. Raises MoveError if there is none."""
        if not self._clicked:
            raise MoveError("expected a click to take back, found none")
        self._clicked.pop()

    @property
    def move(self) -> Any:
        """The move whose clicks are complete; None if clicks are still to come."""
        done = len(self._clicked)
        return next((move for way, move in self._open() if len(way) == done), None)

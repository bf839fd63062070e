"""Any game in the browser: a plain grid by the game's own declaration, or a list of moves."""

from __future__ import annotations

from typing import Any

from games.board import Board
from games.contract import DiceGame, Game
from games.errors import MoveError
from play.web.faces import Step

__all__ = ["GridFace", "PlainFace"]

#: Moves whose squares the page is told of, for hints.
MOST_WAYS = 500
#: Moves with the squares that will do for each of their clicks.
Ways = list[tuple[list[tuple[int, ...]], Any]]


class PlainFace:
    """See `play.web.faces.Face`: the board is text, and a move is chosen from the list of moves."""

    kind = "plain"
    light_first = False

    def __init__(self, game: Game) -> None:
        self.game = game

    def board(self, position: Any) -> dict[str, Any]:
        """What the game shows of a position in a terminal."""
        return {"text": self.game.show(position), "side": self.game.to_move(position)}

    def steps(self, position: Any, roll: int | None) -> ClickSteps:
        """No step leads to a move: it is named."""
        return ClickSteps(self.board(position), [])

    def trace(self, position: Any, move: Any) -> list[list[int]]:
        """Nothing that could be drawn."""
        return []


class GridFace(PlainFace):
    """See `play.web.faces.Face`: squares and what stands there, as `games.board` has them."""

    kind = "grid"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        assert game.board is not None
        self.grid: Board = game.board
        self.light_first = game.board.light_first

    def board(self, position: Any) -> dict[str, Any]:
        """The size of the board, and pieces as [square, side, text]."""
        pieces = [
            [square, side, text] for square, (side, text) in self.grid.pieces(position).items()
        ]
        return {
            **super().board(position),
            "rows": self.grid.rows,
            "columns": self.grid.columns,
            "pieces": sorted(pieces, key=lambda piece: piece[0]),
        }

    def steps(self, position: Any, roll: int | None) -> ClickSteps:
        """The clicks of a move; it is played with the last one."""
        game = self.game
        legal = (
            game.legal_moves(position, roll)
            if isinstance(game, DiceGame)
            else game.legal_moves(position)
        )
        ways = [(self.ways(position, move), move) for move in legal]
        texts = {
            game.move_text(position, move): [click[0] for click in way]
            for way, move in ways[:MOST_WAYS]
        }
        return ClickSteps({**self.board(position), "ways": texts}, ways)

    def ways(self, position: Any, move: Any) -> list[tuple[int, ...]]:
        """For each click of a move the squares that will do."""
        clicks = self.grid.clicks(position, move)
        return [(click,) if isinstance(click, int) else tuple(click) for click in clicks]

    def trace(self, position: Any, move: Any) -> list[list[int]]:
        """The squares where a piece came or went: those that differ after the move."""
        before = self.grid.pieces(position)
        after = self.grid.pieces(self.game.play(position, move))
        gone = sorted(square for square in before if before[square] != after.get(square))
        come = sorted(square for square in after if before.get(square) != after[square])
        return [[square] for square in dict.fromkeys([*gone, *come])]


class ClickSteps:
    """See `play.web.faces.Steps`: a step goes from the square clicked before, -1 for none."""

    def __init__(self, board: dict[str, Any], ways: Ways) -> None:
        self._board = board
        self._ways = ways
        self._clicked: list[int] = []

    @property
    def at_once(self) -> bool:
        """Whether the move is played at once: no longer move begins with the same clicks."""
        return bool(self._clicked) and not self.next()

    @property
    def taken(self) -> list[tuple[int, int]]:
        """The clicks so far."""
        return list(zip([-1, *self._clicked], self._clicked, strict=False))

    def board(self) -> dict[str, Any]:
        """The board as it is, with the squares that were clicked."""
        return {**self._board, "clicked": list(self._clicked)}

    def _open(self) -> Ways:
        """The moves that begin with the clicks so far."""
        return [
            (way, move)
            for way, move in self._ways
            if len(way) >= len(self._clicked)
            and all(square in any_of for square, any_of in zip(self._clicked, way, strict=False))
        ]

    def next(self) -> list[Step]:
        """A step for each square that can be clicked next."""
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
        """Click a square; MoveError if no move goes on there."""
        if not any((s["from"], s["to"]) == (source, target) for s in self.next()):
            raise MoveError("expected one of the marked squares, found another")
        self._clicked.append(target)

    def back(self) -> None:
        """Take back a click; MoveError if there is none."""
        if not self._clicked:
            raise MoveError("expected a click to take back, found none")
        self._clicked.pop()

    @property
    def move(self) -> Any:
        """The move whose clicks are complete; None if there is none."""
        done = len(self._clicked)
        return next((move for way, move in self._open() if len(way) == done), None)

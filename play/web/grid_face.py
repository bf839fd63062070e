"""The faces of games: their own, a grid as the game declares it, or a list of moves."""

from __future__ import annotations

from typing import Any

from games.board import Board
from games.contract import Game, given
from games.errors import MoveError
from games.extras import extra
from play.web.faces import Face, FaceOf, Step

__all__ = ["GridFace", "PlainFace", "face_of"]

#: Maximum number of moves whose squares the page receives for hints.
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
        return ClickSteps(self.board(position))

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
            "names": list(self.grid.names.items()),
            "words": dict(self.grid.words),
            "turns": self.grid.turns,
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
        return ClickSteps(
            {**self.board(position), "ways": texts}, ways, self.grid, self.grid.must(legal)
        )

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
    """See `play.web.faces.Steps`. A step begins at the square clicked before, or at -1.

    board: the board as JSON.
    ways: the legal moves and their clicks.
    grid: the board as the game declares it, or None without squares.
    must: the duty that the rules impose on all legal moves, in words; often empty.
    """

    def __init__(
        self,
        board: dict[str, Any],
        ways: Ways | None = None,
        grid: Board | None = None,
        must: str = "",
    ) -> None:
        self._board = board
        self._ways = ways or []
        self._grid = grid
        self._must = f"{must}: " if must else ""
        self._clicked: list[int] = []

    @property
    def at_once(self) -> bool:
        """Whether the move is played at once, because no longer move begins with its clicks."""
        done = len(self._clicked)
        return done > 0 and all(len(way) == done for way, _ in self._open())

    @property
    def taken(self) -> list[tuple[int, int]]:
        """The clicks so far."""
        return list(zip([-1, *self._clicked], self._clicked, strict=False))

    def board(self) -> dict[str, Any]:
        """Returns the board with the squares clicked so far, and the jumps that they make.

        Captured pieces are only marked, because the rules remove them when the move is complete.
        """
        board, clicked = {**self._board, "clicked": list(self._clicked)}, self._clicked
        if self._grid is not None and self._grid.jumps and len(clicked) > 1:
            pieces = [[*piece] for piece in board["pieces"]]
            for piece in pieces:
                if piece[0] == clicked[0]:
                    piece[0] = clicked[-1]
            passed = {(a + b) // 2 for a, b in zip(clicked, clicked[1:], strict=False)}
            board["captured"] = sorted(passed & {piece[0] for piece in pieces})
            board["pieces"] = sorted(pieces, key=lambda piece: piece[0])
        return board

    def _open(self) -> Ways:
        """Returns the moves that begin with the clicks so far."""
        return [
            (way, move)
            for way, move in self._ways
            if len(way) >= len(self._clicked)
            and all(square in any_of for square, any_of in zip(self._clicked, way, strict=False))
        ]

    def _further(self) -> dict[int, list[int]]:
        """Returns the clicks to each square that can be clicked next, or that one way leads to."""
        done = len(self._clicked)
        ways: dict[int, set[tuple[int, ...]]] = {}
        for way, _ in self._open():
            for end in range(done, len(way) if done else min(len(way), 1)):
                first = [any_of[0] for any_of in way[done:end]]
                for square in way[end]:
                    ways.setdefault(square, set()).add((*first, square))
        shortest = {square: min(several, key=len) for square, several in ways.items()}
        return {
            square: list(way)
            for square, way in shortest.items()
            if len(way) == 1 or len(ways[square]) == 1
        }

    def next(self) -> list[Step]:
        """Returns a step for each square that can be clicked next.

        While only one square is clicked, another first square of a move can be clicked instead.
        """
        here = self._clicked[-1] if self._clicked else -1
        further = self._further()
        steps = [{"from": here, "to": to, "far": len(way) > 1} for to, way in further.items()]
        if len(self._clicked) == 1:
            starts = {square for way, _ in self._ways for square in way[0]}
            steps += [
                {"from": -1, "to": square, "far": False}
                for square in sorted(starts - {here, *further})
            ]
        return steps

    def step(self, source: int, target: int) -> None:
        """Click a square, or two if none is clicked yet. Raises MoveError if no move does so."""
        clicked = self._clicked
        try:
            if source == -1 and len(clicked) == 1 and target not in self._further():
                self._clicked = []
            elif source != -1 and not clicked:
                self._click(source)
            elif source != (clicked[-1] if clicked else -1):
                raise MoveError(
                    f"expected the move to continue from {self._name(clicked[-1])}, found"
                    f" {self._name(source)}"
                )
            self._click(target)
        except MoveError:
            self._clicked = clicked
            raise

    def _click(self, square: int) -> None:
        further, clicked = self._further(), self._clicked
        if square not in further:
            names = sorted((self._name(one) for one in further), key=lambda name: (len(name), name))
            ends = " or ".join(names) if len(names) < 9 else "one of the marked squares"
            what = f"{self._name(clicked[-1])} to go to {ends}" if clicked else ends
            must = self._must if len(clicked) < 2 else ""
            raise MoveError(f"{must}expected {what}, found {self._name(square)}")
        self._clicked = [*clicked, *further[square]]

    def _name(self, square: int) -> str:
        names = {} if self._grid is None else self._grid.names
        return names.get(square, f"square {square}")

    def back(self) -> None:
        """Take back the last click. Raises MoveError without one."""
        if not self._clicked:
            raise MoveError("expected a click to take back, found none")
        self._clicked = self._clicked[:-1]

    @property
    def move(self) -> Any:
        """The move whose clicks are complete; None if clicks are missing."""
        done = len(self._clicked)
        return next((move for way, move in self._open() if len(way) == done), None)

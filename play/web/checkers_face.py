"""Checkers in the browser: pieces on squares 1 to 32, and captures jump by jump."""

from __future__ import annotations

from typing import Any

from games.checkers.notation import captured_squares, move_path, square_bit, squares_of
from games.contract import Game
from games.errors import MoveError
from play.web.faces import Step

__all__ = ["CheckersFace"]


class CheckersFace:
    """See `play.web.faces.Face`; squares are those of PDN."""

    kind = "checkers"
    light_first = False

    def __init__(self, game: Game) -> None:
        self.game = game

    def board(self, position: Any) -> dict[str, Any]:
        """Returns pieces as [square, letter] (b, w are men, B, W kings) and the side to move."""
        own, opponent, kings, side = position
        pieces = []
        for bits, letter in ((own, "bw"[side]), (opponent, "wb"[side])):
            for square in squares_of(bits):
                king = kings >> square_bit(square) & 1
                pieces.append([square, letter.upper() if king else letter])
        return {"pieces": sorted(pieces), "side": side}

    def steps(self, position: Any, roll: int | None) -> CheckersSteps:
        """Returns the steps of a move; a capture is played as soon as its last jump is made."""
        return CheckersSteps(self, position)

    def trace(self, position: Any, move: Any) -> list[list[int]]:
        """Returns the path of the piece that moves."""
        return [move_path(move)]


class CheckersSteps:
    """See `play.web.faces.Steps`."""

    at_once = True

    def __init__(self, face: CheckersFace, position: Any) -> None:
        self.face = face
        self.position = position
        legal = face.game.legal_moves(position)
        self.paths = [(move_path(move), move) for move in legal]
        self.path: list[int] = []

    @property
    def taken(self) -> list[tuple[int, int]]:
        """The jumps so far."""
        return list(zip(self.path, self.path[1:], strict=False))

    def board(self) -> dict[str, Any]:
        """Returns the board with the steps taken.

        Captured pieces are only marked, because the rules remove them when the move is complete.
        """
        board = self.face.board(self.position)
        if self.path:
            for piece in board["pieces"]:
                if piece[0] == self.path[0]:
                    piece[0] = self.path[-1]
            captured = [set(captured_squares(move)) for path, move in self._open()]
            # The squares that all of them capture include those jumped over so far.
            jumped = set.intersection(*captured)
            between = {_between(a, b) for a, b in self.taken}
            board["captured"] = sorted(jumped & between)
        return board

    def _open(self) -> list[tuple[list[int], Any]]:
        count = len(self.path)
        return [(path, move) for path, move in self.paths if path[:count] == self.path]

    def next(self) -> list[Step]:
        """Returns the next landing squares, and all later ones that only one path leads to."""
        done = max(len(self.path) - 1, 0)
        found: dict[tuple[int, int], set[tuple[int, ...]]] = {}
        ends = set()
        for path, _ in self._open():
            for end in range(done + 1, len(path)):
                key = (path[done], path[end])
                found.setdefault(key, set()).add(tuple(path[done + 1 : end + 1]))
                if end == len(path) - 1:
                    ends.add(key)
        steps = []
        for (source, target), ways in found.items():
            way = min(ways, key=len)
            if len(ways) == 1 or len(way) == 1:
                final = (source, target) in ends
                steps.append({"from": source, "to": target, "far": len(way) > 1, "final": final})
        return steps

    def step(self, source: int, target: int) -> None:
        """Make one jump, or all jumps on the only path to a more distant square."""
        if not any(step["from"] == source and step["to"] == target for step in self.next()):
            raise MoveError(self._why_not(source, target))
        done = max(len(self.path) - 1, 0)
        ways = []
        for path, _ in self._open():
            if path[done] == source and target in path[done + 1 :]:
                ways.append(path[: path.index(target, done + 1) + 1])
        self.path = min(ways, key=len)

    def _why_not(self, source: int, target: int) -> str:
        """Returns the error message for an illegal step."""
        captures = bool(self.paths) and bool(self.paths[0][1] >> 12)
        starts = sorted({path[0] for path, _ in self.paths})
        if self.path and source != self.path[-1]:
            return f"expected the capture to go on from {self.path[-1]}, found {source}"
        if not self.path and source not in starts:
            own = self.position[0] >> square_bit(source) & 1 if 1 <= source <= 32 else 0
            if not own:
                return f"expected a piece of the side to move, found none on {source}"
            if captures:
                must = " or ".join(map(str, starts))
                return f"a capture is mandatory: expected the piece on {must}, found {source}"
            return f"expected a piece that can move, found the one on {source}, which cannot"
        ends = sorted({s["to"] for s in self.next() if s["from"] == source})
        what = "a capture is mandatory: " if captures and not self.path else ""
        return f"{what}expected {source} to go to {' or '.join(map(str, ends))}, found {target}"

    def back(self) -> None:
        """Take back a jump."""
        if not self.path:
            raise MoveError("expected a step to take back, found none")
        self.path = self.path[:-1] if len(self.path) > 2 else []

    @property
    def move(self) -> Any:
        """The move whose path is complete; None if steps are still to come."""
        return next((move for path, move in self.paths if path == self.path), None)


def _between(source: int, target: int) -> int:
    """Returns the square that a jump passes over."""
    (row, column), (end_row, end_column) = _place(source), _place(target)
    row, column = (row + end_row) // 2, (column + end_column) // 2
    return 4 * row + column // 2 + 1


def _place(square: int) -> tuple[int, int]:
    """Row from the top and column from the left of a square, with 1 to 4 at the top."""
    row, place = divmod(square - 1, 4)
    return row, 2 * place + (row + 1) % 2

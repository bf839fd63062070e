"""Checkers in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from games.checkers.notation import move_path, square_bit
from play.terminal.session import Session

__all__ = ["CheckersSession"]

#: Pieces where characters beyond ASCII may be used: black ones are filled, white ones are outlines.
SYMBOLS = {"b": "●", "w": "○", "B": "♚", "W": "♔"}


class CheckersSession(Session):
    """Checkers: each square shows its number, because moves are written with these."""

    turns = True

    def move_help(self) -> str:
        return (
            "A move from square to square, such as 11-15 or 22x15x8; Tab completes. Captures are"
            " mandatory.\nOr one of:"
        )

    def board(self) -> str:
        """Returns the board with the numbers of its squares; White is at the bottom unless flipped.

        Men are b and w, kings B and W, or `SYMBOLS`. The squares on the path of the last move are
        marked `*`.
        """
        own, opponent, kings, side = self.record.position
        black = opponent if side else own
        last = set(move_path(self.record.moves[-1])) if self.record.moves else set()
        lines = []
        places = range(8)[:: -1 if self.flipped else 1]
        for row in places:
            cells = []
            for column in places:
                if (row + column) % 2 == 0:
                    cells.append(self.paint("light", "    "))
                    continue
                square = 4 * row + column // 2 + 1
                bit = 1 << square_bit(square)
                mark = "*" if square in last else " "
                number = self.paint(
                    "dark move" if square in last else "dark number", f"{square:>2}"
                )
                cells.append(number + self._piece(own | opponent, black, kings, bit, mark))
            lines.append("  " + "".join(cells))
        return "\n".join(lines)

    def _piece(self, pieces: int, black: int, kings: int, bit: int, mark: str) -> str:
        tail = self.paint("dark move", mark) if self.paint.colour else mark
        if not pieces & bit:
            return self.paint("dark", " " if self.paint.colour else ".") + tail
        letter = "b" if black & bit else "w"
        if kings & bit:
            letter = letter.upper()
        if self.paint.symbols:
            letter = SYMBOLS[letter]
        return self.paint("dark first" if black & bit else "dark second", letter) + tail

    def turn_text(self) -> Iterator[str]:
        if self.record.over:
            return
        captures = any(move >> 12 for move in self.legal_moves())
        yield f"{self.sides[self.side]} to move" + (", and must capture" if captures else "")

"""Extras of checkers for play: its opponents, board, words and programs."""

from __future__ import annotations

from typing import Any

from games.checkers import Checkers
from games.checkers.notation import move_path, parse_position, square_bit
from games.checkers.rules import Position
from games.extras import extend
from games.record import GameRecord
from play.players.external import ExternalEngines
from play.players.levels import Levels
from play.players.opponents import Opponents
from play.protocols.openspiel import OpenSpielGame
from play.terminal.board import BoardText
from play.terminal.colour import Paint
from play.words import Words

#: Pieces where characters beyond ASCII may be used: black ones are filled, white ones are outlines.
SYMBOLS = {"b": "●", "w": "○", "B": "♚", "W": "♔"}
MOVES = "A move from square to square, such as 11-15 or 22x15x8; captures are mandatory."


def _board(record: GameRecord, bottom: int, paint: Paint) -> str:
    """The board in a terminal, with the numbers of its squares.

    Men are b and w, kings B and W, or `SYMBOLS`. The squares on the path of the last move are
    marked `*`.
    """
    own, opponent, kings, side = record.position
    black = opponent if side else own
    last = move_path(record.moves[-1]) if record.moves else []
    lines = []
    places = range(8)[:: 1 if bottom else -1]
    for row in places:
        cells = []
        for column in places:
            if (row + column) % 2 == 0:
                cells.append(paint("light", "    "))
                continue
            square = 4 * row + column // 2 + 1
            bit = 1 << square_bit(square)
            moved, sign, style = square in last, " " if paint.colour else ".", "dark"
            if (own | opponent) & bit:
                letter = "b" if black & bit else "w"
                letter = letter.upper() if kings & bit else letter
                sign = SYMBOLS[letter] if paint.symbols else letter
                style = "dark first" if black & bit else "dark second"
            number = paint("dark move" if moved else "dark number", f"{square:>2}")
            mark = "*" if moved else " "
            tail = paint("dark move", mark) if paint.colour else mark
            cells.append(number + paint(style, sign) + tail)
        lines.append("  " + "".join(cells))
    return "\n".join(lines)


def _stuck(position: Position) -> str:
    return "cannot move" if position[0] else "has no piece left"


def openspiel_position(state: Any, player: int) -> Any:
    """Our position of a state of OpenSpiel's checkers, with a player (0 is Black) to move.

    OpenSpiel's first player sits at rank 1 and ours at the top, so the board is turned by 180°.
    """
    lines = str(state).splitlines()[:8]
    pieces: dict[str, list[str]] = {"B": [], "W": []}
    kinds = {"o": ("B", ""), "8": ("B", "K"), "+": ("W", ""), "*": ("W", "K")}
    for rank in range(8):
        for file in range(8):
            sign = lines[7 - rank][1 + file]
            if sign in kinds:
                colour, king = kinds[sign]
                pieces[colour].append(f"{king}{4 * rank + (7 - file) // 2 + 1}")
    text = f"{'BW'[player]}:W{','.join(pieces['W'])}:B{','.join(pieces['B'])}"
    return parse_position(text)


extend(
    Checkers,
    Opponents(("material", "rote", "classic"), ("rote", "classic"), "quantised", openings="even"),
    Levels(
        (
            "material@1,noise=3",
            "material@1",
            "classic@2",
            "classic@nodes=180",
            "classic@nodes=450",
            "quantised+none@nodes=220",
            "quantised+none@nodes=500",
            "quantised+none@nodes=1300",
            "quantised+none@nodes=4000",
        )
    ),
    ExternalEngines(protocols=("hub",)),
    BoardText(_board, MOVES),
    Words(stuck=_stuck),
    OpenSpielGame(openspiel_position),
)

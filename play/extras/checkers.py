"""What play wants to know of checkers: its opponents, board, session, words and programs."""

from __future__ import annotations

from typing import Any

from games.checkers import Checkers
from games.checkers.notation import parse_position
from games.checkers.rules import Position
from games.extras import extend
from play.players.external import ExternalEngines
from play.players.opponents import Opponents
from play.protocols.openspiel import OpenSpielGame
from play.terminal.checkers import CheckersSession
from play.terminal.session import SessionOf
from play.web.checkers_face import CheckersFace
from play.web.faces import FaceOf
from play.words import Words


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
    ExternalEngines(protocols=("hub",)),
    FaceOf(CheckersFace),
    SessionOf(CheckersSession),
    Words(stuck=_stuck),
    OpenSpielGame(openspiel_position),
)

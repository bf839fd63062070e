"""What play wants to know of checkers: its opponents, board, session, words and programs."""

from __future__ import annotations

from games.checkers import Checkers
from games.checkers.rules import Position
from games.extras import extend
from play.players.external import Programs
from play.players.opponents import Opponents
from play.terminal.checkers import CheckersSession
from play.terminal.session import SessionOf
from play.web.checkers_face import CheckersFace
from play.web.faces import FaceOf
from play.words import Words


def _stuck(position: Position) -> str:
    return "cannot move" if position[0] else "has no piece left"


extend(
    Checkers,
    Opponents(("material", "rote", "classic"), ("rote", "classic"), "quantised", openings="even"),
    Programs(protocols=("hub",)),
    FaceOf(CheckersFace),
    SessionOf(CheckersSession),
    Words(stuck=_stuck),
)

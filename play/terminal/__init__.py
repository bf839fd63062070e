"""Games in a terminal: boards, moves typed in, hints, and files to keep them."""

from __future__ import annotations

from games.backgammon import Backgammon
from games.checkers import Checkers
from games.contract import DiceGame, Game
from play.terminal.backgammon import BackgammonSession
from play.terminal.checkers import CheckersSession
from play.terminal.colour import Paint, wants_colour
from play.terminal.dice import DiceSession
from play.terminal.loop import run_session
from play.terminal.session import Session

__all__ = [
    "BackgammonSession",
    "CheckersSession",
    "DiceSession",
    "Paint",
    "Session",
    "run_session",
    "session_of",
    "wants_colour",
]

#: Games with a session of their own; a subclass of such a game uses the same session.
SESSIONS: dict[type[Game], type[Session]] = {
    Checkers: CheckersSession,
    Backgammon: BackgammonSession,
}


def session_of(game: Game) -> type[Session]:
    """Returns the session of a game: its own, or the general one with or without dice."""
    for kind in type(game).__mro__:
        if kind in SESSIONS:
            return SESSIONS[kind]
    return DiceSession if isinstance(game, DiceGame) else Session

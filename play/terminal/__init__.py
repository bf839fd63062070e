"""Games in a terminal: boards, moves typed in, hints, and files to keep them."""

from __future__ import annotations

from games.contract import DiceGame, Game
from games.extras import extra
from play.terminal.colour import Paint, wants_colour
from play.terminal.dice import DiceSession
from play.terminal.loop import run_session
from play.terminal.session import Session, SessionOf

__all__ = [
    "DiceSession",
    "Paint",
    "Session",
    "SessionOf",
    "run_session",
    "session_of",
    "wants_colour",
]


def session_of(game: Game) -> type[Session]:
    """Returns the session of a game: its own, or the general one with or without dice."""
    own = extra(game, SessionOf)
    if own is not None:
        return own.kind
    return DiceSession if isinstance(game, DiceGame) else Session

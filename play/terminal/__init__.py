"""Games in a terminal: boards, moves typed in, hints, and files to keep them."""

from __future__ import annotations

from play.terminal.board import BoardText
from play.terminal.colour import Paint, wants_colour
from play.terminal.loop import run_session
from play.terminal.session import Session

__all__ = ["BoardText", "Paint", "Session", "run_session", "wants_colour"]

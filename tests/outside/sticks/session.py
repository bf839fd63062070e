"""For the terminal: a session of its own."""

from __future__ import annotations

from games import extend
from play.terminal.session import Session, SessionOf
from sticks.game import Sticks


class SticksSession(Session):
    """Sticks as strokes."""

    def board(self) -> str:
        return "sticks: " + "|" * int(self.record.position[0])


extend(Sticks, SessionOf(SticksSession))

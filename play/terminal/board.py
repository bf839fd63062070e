"""`BoardText`: a game's board and moves as text for a terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from games.extras import Extra
from games.record import GameRecord
from play.terminal.colour import Paint

__all__ = ["BoardText"]


def _show(record: GameRecord, bottom: int, paint: Paint) -> str:
    return str(record.game.show(record.position))


@dataclass(frozen=True)
class BoardText(Extra):
    """A game's own board in a terminal, an extra.

    show: `show(record, bottom, paint)` returns the board of the last position as text, with a side
        at the bottom. Default: as the game shows it, from one side.
    moves: a sentence for `help` about the notation of moves.
    """

    show: Callable[[GameRecord, int, Paint], str] = _show
    moves: str = "A move in the notation of the game."

    @property
    def turns(self) -> bool:
        """Whether the board can be turned round."""
        return self.show is not _show

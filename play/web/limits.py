"""Limits of the web server."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ServerLimits"]


@dataclass(frozen=True)
class ServerLimits:
    """Limits of the web server that can be set.

    tables: maximum number of tables at a time. A new table replaces the one that was unused for
        longest, if for at least `spare` seconds; otherwise it is refused.
    spare: seconds after which a table that nobody looks at may be replaced.
    idle: seconds after which a table that nobody looks at ends.
    moves: maximum number of moves of one game.
    """

    tables: int = 64
    spare: float = 60.0
    idle: float = 900.0
    moves: int = 2000

"""Endgame databases of checkers: outcome and length of every position with few pieces.

`endgame(pieces)` returns a database and `build` builds one; `python -m games.checkers.endgame` does
the same on the command line. `search.lookups.database` makes a lookup of it.
"""

from __future__ import annotations

from games.checkers.endgame.building import build, endgame
from games.checkers.endgame.database import Endgame, EndgameError, EndgameMissing
from games.checkers.endgame.retrograde import probe

__all__ = [
    "Endgame",
    "EndgameError",
    "EndgameMissing",
    "build",
    "endgame",
    "probe",
]

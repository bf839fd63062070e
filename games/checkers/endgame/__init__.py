"""Endgame databases of checkers: every position of few pieces, won, lost or drawn, and how far.

`endgame(pieces)` gives a database, `build` makes one; `python -m games.checkers.endgame` does the
same for people. `search.lookups.endgame` makes a lookup of it.
"""

from __future__ import annotations

from games.checkers.endgame.building import build, endgame
from games.checkers.endgame.database import Endgame, EndgameError, EndgameMissing, Tally, check
from games.checkers.endgame.retrograde import probe

__all__ = [
    "Endgame",
    "EndgameError",
    "EndgameMissing",
    "Tally",
    "build",
    "check",
    "endgame",
    "probe",
]

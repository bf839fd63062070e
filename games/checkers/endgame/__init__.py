"""Endgame databases of checkers: outcome and length of every position with few pieces.

`endgame(pieces)` returns a database, `build` builds one, and `compress` makes one of outcomes alone
that is read by `read_compressed`; `python -m games.checkers.endgame` does
the same on the command line. `search.lookups.database` makes a lookup of it.
"""

from __future__ import annotations

from games.checkers.endgame.building import build, endgame
from games.checkers.endgame.compressed import Compressed, compress, read_compressed
from games.checkers.endgame.database import Endgame, EndgameError, EndgameMissing, Tally, check
from games.checkers.endgame.retrograde import probe

__all__ = [
    "Compressed",
    "Endgame",
    "EndgameError",
    "EndgameMissing",
    "Tally",
    "build",
    "check",
    "compress",
    "endgame",
    "probe",
    "read_compressed",
]

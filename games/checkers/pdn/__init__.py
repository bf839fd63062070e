"""Checkers games as PDN: a strict writer, and a reader that tolerates damaged files.

Results in PDN are White-Black: `1-0` says that White won, although Black begins. Old English files
write them Black-White; `results` finds out which. Values are for the side that made the move and
are in a comment after it as value/depth, such as `{0.35/7}` or `{won in 17 plies/17}`; either is
`-` if it is not known, and a comment may follow: `{0.35/7 a trap}`.
"""

from __future__ import annotations

from games.checkers.pdn.reader import PdnGame, read_games
from games.checkers.pdn.writer import write_game

__all__ = ["PdnGame", "read_games", "write_game"]

"""The endgame databases as `games.database` describes them, by their names in players."""

from __future__ import annotations

import functools
from typing import Any

from games.checkers.endgame import runs
from games.checkers.endgame.building import endgame
from games.checkers.endgame.compressed import Compressed, compressed_path, read_compressed
from games.checkers.endgame.database import AT_FIRST_USE, path_of
from games.checkers.endgame.numbering import MOST_PIECES
from games.checkers.endgame.retrograde import probe
from games.database import Database

__all__ = ["DATABASES", "endgame_database"]


def endgame_database(pieces: int = AT_FIRST_USE) -> Database:
    """Returns the database of at most `pieces` pieces, in the user's cache directory."""
    return Database(
        title=f"endgames of {pieces} pieces",
        probe=probe,
        tables=functools.partial(_tables, pieces),
        at_hand=functools.partial(_at_hand, pieces),
    )


def _tables(pieces: int) -> Any:
    return endgame(pieces).tables


def _at_hand(pieces: int) -> bool:
    return pieces <= AT_FIRST_USE or path_of(pieces).is_file()


def compressed_database(pieces: int) -> Database:
    """Returns the compressed database of at most `pieces` pieces, in the user's cache directory."""
    return Database(
        title=f"endgames of {pieces} pieces, win, draw or loss",
        probe=runs.probe,
        tables=lambda: _compressed(pieces).tables,
        at_hand=lambda: compressed_path(pieces).is_file(),
    )


@functools.cache
def _compressed(pieces: int) -> Compressed:
    return read_compressed(pieces)


#: `endgame`, and `endgame2` to `endgame6` for other numbers of pieces; `wdl2` to
#: `wdl6` are the compressed ones.
DATABASES = {
    "endgame": endgame_database(),
    **{f"endgame{pieces}": endgame_database(pieces) for pieces in range(2, MOST_PIECES + 1)},
    **{f"wdl{pieces}": compressed_database(pieces) for pieces in range(2, MOST_PIECES + 1)},
}

"""Files of games that commands read, in the form of their game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from games.contract import Game
    from games.file_form import ReadGame

__all__ = ["game_of_file", "read_games"]


def game_of_file(path: Path) -> Game:
    """Returns the game by a file's suffix; raises ValueError if no game has such files."""
    import games

    known = {}
    for name in games.names():
        game = games.load(name)
        if game.file_form is not None:
            known[game.file_form.suffix] = game
    if path.suffix.lower() not in known:
        suffixes = " or ".join(sorted(known, reverse=True))
        raise ValueError(f"expected a file that ends with {suffixes}, or --game, found {path}")
    return known[path.suffix.lower()]


def read_games(path: Path, game: Game, *, black_first: bool = False) -> list[ReadGame]:
    """Returns the games of a file, damaged ones without a record.

    black_first: whether results name the side that begins first; only for PDN.

    Files that are not UTF-8 are read as Latin-1, because old files are. Raises FileNotFoundError if
    the file does not exist, and ValueError for `black_first` with another file format.
    """
    from games.file_form import form_of

    if not path.is_file():
        raise FileNotFoundError(f"expected a file of games, found none at {path}")
    form = form_of(game)
    if black_first and form.read_black_first is None:
        raise ValueError(f"--black-first: expected a game with files in PDN, found {game.name}")
    data = path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    read = form.read_black_first if black_first and form.read_black_first else form.read
    return list(read(text, game))

"""Files of games that commands read, in the form of their game."""

from __future__ import annotations

import argparse
import codecs
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from games.contract import Game
    from games.file_form import ReadGame

__all__ = ["add_black_first", "game_of_file", "printable", "read_games"]


def game_of_file(path: Path) -> Game:
    """Returns the game of a file, by its suffix, or by the tag `Game` of a text.

    A text without the tag belongs to the game whose files have its form. Raises ValueError if no
    game has such files.
    """
    import games
    from games.file_form import PLAIN_TEXT, form_of

    suffix = path.suffix.lower()
    own: dict[str, Game] = {}
    also: dict[str, Game] = {}
    for name in games.names():
        game = games.load(name)
        form = form_of(game)
        if form is not PLAIN_TEXT:
            own[form.suffix] = game
            also |= dict.fromkeys(form.also, game)
    if suffix == PLAIN_TEXT.suffix and path.is_file():
        tag = re.search(r'^\[Game "(\w+)"\]\s*$', _text(path), re.MULTILINE)
        if tag is not None:
            return games.known(tag[1])
    forms = also | own
    if suffix not in forms:
        suffixes = " or ".join(sorted(forms, reverse=True))
        raise ValueError(f"expected a file that ends with {suffixes}, or --game, found {path}")
    return forms[suffix]


def _text(path: Path) -> str:
    """Returns the text of a file; Latin-1 if it is neither UTF-16 with its mark nor UTF-8."""
    data = path.read_bytes()
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def add_black_first(command: argparse.ArgumentParser) -> None:
    """Add the option for the side that results name first."""
    command.add_argument(
        "--black-first",
        action=argparse.BooleanOptionalAction,
        help="results in the PDN name Black first (default: found out from the games)",
    )


def read_games(path: Path, game: Game, *, black_first: bool | None = None) -> list[ReadGame]:
    """Returns the games of a file, damaged ones without a record.

    black_first: whether results name the side that begins first; only for PDN. If it is None and
        the games do not show it, or show the unusual order, a line on standard error says so.

    In all texts but comments, characters that cannot be printed are replaced by question marks.
    Files that are not UTF-8 are read as Latin-1, because old files are, or as UTF-16 by its mark.
    Raises FileNotFoundError if the file does not exist, and ValueError for a file of another game
    and for `black_first` with another file format.
    """
    from games.file_form import form_of

    if not path.is_file():
        raise FileNotFoundError(f"expected a file of games, found none at {path}")
    form = form_of(game)
    if black_first is not None and form.read_in_order is None:
        raise ValueError(f"--black-first: expected a game with files in PDN, found {game.name}")
    text = _text(path)
    try:
        read = list(form.games_in(text, game, black_first))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    order = read[0].order if read else None
    if black_first is None and order is not None and (order.black_first or not order.clear):
        print(f"{path}: {order}" + "; say --black-first or --no-black-first" * (not order.clear),
              file=sys.stderr)  # fmt: skip
    return [
        one._replace(
            names=tuple(map(printable, one.names)),
            problems=[printable(problem) for problem in one.problems],
            title=printable(one.title),
            result=printable(one.result),
            tags={name: printable(value) for name, value in one.tags.items()},
        )
        for one in read
    ]


def printable(text: str) -> str:
    """Returns a text with a question mark for each character that cannot be printed."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)

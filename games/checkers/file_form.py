"""PDN, the file form of games of checkers."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

from games.checkers.pdn import read_games, write_game
from games.contract import Game
from games.file_form import FileForm, ReadGame
from games.record import GameRecord

__all__ = ["PDN"]


def _write(record: GameRecord, names: tuple[str, str], tags: Mapping[str, str]) -> str:
    """Returns a game as PDN; the first of `names` is Black, who begins."""
    return write_game(record, {**tags, "White": names[1], "Black": names[0]})


def _read(text: str, game: Game, *, black_first: bool = False) -> Iterator[ReadGame]:
    """Yields the games of a PDN text, with the results that it states."""
    for read in read_games(text, game, black_first=black_first):
        names = (read.tags.get("Black", "?"), read.tags.get("White", "?"))
        count = read.record.ply if read.record else 0
        result = read.tags.get("Result", "*")
        title = f"{names[0]} – {names[1]}, {count} moves, {result}"
        said = f"{result} ({'Black' if black_first else 'White'} first)"
        yield ReadGame(read.record, names, read.problems, title, said, read.tags)


PDN = FileForm(".pdn", _write, _read, functools.partial(_read, black_first=True))

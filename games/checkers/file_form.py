"""PDN as the form in which games of checkers are kept in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from games.checkers.pdn import read_games, write_game
from games.contract import Game
from games.file_form import FileForm, ReadGame
from games.record import GameRecord

__all__ = ["PDN"]


def _write(record: GameRecord, names: tuple[str, str], tags: Mapping[str, str]) -> str:
    """A game as PDN; Black, who begins, is the first of the names."""
    return write_game(record, {**tags, "White": names[1], "Black": names[0]})


def _read(text: str, game: Game) -> Iterator[ReadGame]:
    """The games of a PDN text, with the results that it claims."""
    for read in read_games(text, game):
        names = (read.tags.get("Black", "?"), read.tags.get("White", "?"))
        count = read.record.ply if read.record else 0
        title = f"{names[0]} – {names[1]}, {count} moves, {read.tags.get('Result', '*')}"
        yield ReadGame(read.record, names, read.problems, title)


PDN = FileForm(".pdn", _write, _read)

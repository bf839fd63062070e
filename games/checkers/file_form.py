"""PDN, the file form of games of checkers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from games.checkers.pdn import read_games, write_game
from games.checkers.pdn.game_types import ENGLISH, type_text
from games.checkers.pdn.reader import PdnGame
from games.checkers.pdn.results import result_order
from games.contract import Game
from games.file_form import FileForm, ReadGame, ResultOrder
from games.record import GameRecord
from programs.phrases import counted

__all__ = ["PDN"]


def _write(record: GameRecord, names: tuple[str, ...], tags: Mapping[str, str]) -> str:
    """Returns a game as PDN; the first of `names` is Black, who begins."""
    return write_game(record, {**tags, "White": names[1], "Black": names[0]})


def _read(text: str, game: Game) -> Iterator[ReadGame]:
    """Yields the games of a PDN text; the results of all tell whom they name first."""
    games = list(read_games(text, game))
    _refuse_other_games(games)
    order = result_order(games)
    if order.black_first or not order.clear:
        black_first = order.black_first if order.clear else None
        games = list(read_games(text, game, black_first=black_first))
    return _games(games, order)


def _read_in_order(text: str, game: Game, black_first: bool) -> Iterator[ReadGame]:
    """Yields the games of a PDN text, with Black or White first in the results."""
    games = list(read_games(text, game, black_first=black_first))
    _refuse_other_games(games)
    return _games(games, ResultOrder(black_first, True, "as asked for"))


def _games(games: Iterable[PdnGame], order: ResultOrder) -> Iterator[ReadGame]:
    for read in games:
        names = (read.tags.get("Black", "?"), read.tags.get("White", "?"))
        count = read.record.ply if read.record else 0
        result = read.tags.get("Result", "*")
        said = f"{result} (White first)"
        if not order.clear and read.record is not None and read.said and not read.record.over:
            result = said = f"{read.said} (unclear which side it names first)"
            read.record.comment = f"{read.record.comment} Result: {result}.".strip()
        title = f"{names[0]} – {names[1]}, {counted(count, 'move')}, {result}"
        yield ReadGame(read.record, names, read.problems, title, said, read.tags, order)


def _refuse_other_games(games: Sequence[PdnGame]) -> None:
    """Raise ValueError if no game is of English checkers and some are of another kind."""
    others: dict[str, int] = {}
    for read in games:
        if read.record is not None:
            return
        if read.other:
            others[read.other] = others.get(read.other, 0) + 1
    if others:
        name = ", ".join(f"{count} of {kind}" for kind, count in others.items())
        raise ValueError(f"expected games of {type_text(ENGLISH)}, found {name}")


PDN = FileForm(".pdn", _write, _read, _read_in_order)

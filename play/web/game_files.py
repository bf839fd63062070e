"""Games saved to and loaded from files, in the format of each game."""

from __future__ import annotations

import datetime
import re
import reprlib
from collections.abc import Sequence
from itertools import islice
from typing import Any

from games.contract import Game
from games.file_form import form_of
from games.record import GameRecord

__all__ = ["read_file", "write_file"]

#: Maximum games of a file to choose from, and maximum problems of a game that are reported.
MOST_GAMES, MOST_PROBLEMS = 500, 5


def write_file(records: Sequence[GameRecord], names: Sequence[str]) -> tuple[str, str]:
    """Returns a name for the file, and its content.

    records: the games of a match, or one game.
    names: names of the players; the first begins.

    Raises ValueError if the format cannot hold the game, such as a .mat from another start.
    """
    today = datetime.date.today()
    game, form = records[0].game, form_of(records[0].game)
    players = tuple(_name(name) or side for name, side in zip(names, game.sides, strict=True))
    tags = {"Event": "Plysmith", "Date": f"{today:%Y.%m.%d}"}
    name = f"{game.name}-{today}{form.suffix}"
    if form.write_match is not None and len(records) > 1:
        return name, form.write_match(records, players, tags)
    return name, form.write(records[-1], players, tags)


def _name(text: str) -> str:
    return " ".join(re.sub(r"[^\w .+-]", " ", text).split())[:60]


def read_file(game: Game, text: Any, number: Any = 0) -> tuple[GameRecord, dict[str, Any]]:
    """Game `number` (from 0) of a file, and a description of the file.

    The description holds `names` of the players, `games` with the titles of the first 500, their
    `total` number in the file, and `problems` of this game. Raises ValueError if the game is
    damaged or does not exist.
    """
    if not isinstance(text, str) or not text.strip():
        raise ValueError("expected a file with a game, found an empty one")
    if type(number) is not int or not 0 <= number < MOST_GAMES:
        raise ValueError(
            f"expected the number of a game below {MOST_GAMES}, found {reprlib.repr(number)}"
        )
    reading = iter(form_of(game).read(text, game))
    games_read = list(islice(reading, MOST_GAMES))
    if not games_read:
        raise ValueError("expected a game, found none in this file")
    if number >= len(games_read):
        raise ValueError(f"expected one of {len(games_read)} games, found number {number + 1}")
    total = len(games_read) + sum(1 for _ in reading)
    read = games_read[number]
    record = read.record
    if record is None:
        problems = read.problems or ["expected a whole game, found a damaged one"]
        raise ValueError(problems[0])
    if not game.dice:
        record.repetitions, record.quiet_moves = 3, 40  # the clicks hold from here on
    unclear = read.order is not None and not read.order.clear
    names = {} if set(read.names) == {"?"} else dict(zip(game.sides, read.names, strict=True))
    titles = [one.title for one in games_read]
    problems = [*([str(read.order)] if unclear else []), *read.problems]
    left = len(problems) - MOST_PROBLEMS
    return record, {
        "names": names,
        "games": titles,
        "total": total,
        "number": number,
        "problems": problems[:MOST_PROBLEMS] + ([f"And {left} more."] if left > 0 else []),
    }

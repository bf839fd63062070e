"""Games of a table as files that other programs read: PDN for checkers, .mat for backgammon."""

from __future__ import annotations

import datetime
import re
from itertools import islice
from typing import Any

from games.backgammon.match_file import read_matches, write_match
from games.backgammon.record import BackgammonRecord
from games.checkers.pdn import read_games, write_game
from games.contract import DiceGame, Game
from games.record import GameRecord

__all__ = ["read_file", "write_file"]

MOST_GAMES = 500


def write_file(record: GameRecord, names: tuple[str, str]) -> tuple[str, str]:
    """A name for the file and its content; `names` are those of the sides, the first begins.

    Raises ValueError for what the form cannot hold, such as a .mat from another start.
    """
    today = datetime.date.today()
    if isinstance(record, BackgammonRecord):
        players = _name(names[0]) or "X", _name(names[1]) or "O"
        tags = {"Site": "Plysmith", "Date": f"{today:%Y.%m.%d}"}
        return f"backgammon-{today}.mat", write_match([record], players, tags=tags)
    tags = {
        "Event": "Plysmith",
        "Date": f"{today:%Y.%m.%d}",
        "White": _name(names[1]) or "?",
        "Black": _name(names[0]) or "?",
    }
    return f"checkers-{today}.pdn", write_game(record, tags)


def _name(text: str) -> str:
    return " ".join(re.sub(r"[^\w .+-]", " ", text).split())[:60]


def read_file(game: Game, text: Any, number: Any = 0) -> tuple[GameRecord, dict[str, Any]]:
    """One game of a file, by its number from 0 on, and what the file holds.

    That is `names` of the sides, `games` with a title each, and `problems` of this game. Raises
    ValueError with what is wrong where the game is damaged or there is none.
    """
    if not isinstance(text, str) or not text.strip():
        raise ValueError("expected a file with a game, found an empty one")
    if type(number) is not int or not 0 <= number < MOST_GAMES:
        raise ValueError(f"expected the number of a game below {MOST_GAMES}, found another")
    found = _matches(game, text) if isinstance(game, DiceGame) else _pdn(game, text)
    if not found:
        raise ValueError("expected a game, found none in this file")
    if number >= len(found):
        raise ValueError(f"expected one of {len(found)} games, found number {number + 1}")
    record, names, problems, _ = found[number]
    if record is None:
        raise ValueError(problems[0] if problems else "expected a whole game, found a damaged one")
    titles = [title for _, _, _, title in found]
    return record, {"names": names, "games": titles, "number": number, "problems": problems[:5]}


Found = list[tuple[GameRecord | None, dict[str, str], list[str], str]]


def _pdn(game: Game, text: str) -> Found:
    found: Found = []
    for read in islice(read_games(text, game), MOST_GAMES):
        record, tags = read.record, read.tags
        names = {side: tags.get(side, "?") for side in ("Black", "White")}
        if record is not None:
            record.repetitions, record.quiet_moves = 3, 40  # from here on they hold
        elif not tags and not found and read.problems:
            names = {}
        result = tags.get("Result", "*")
        title = " – ".join(names.values()) + f", {record.ply if record else 0} moves, {result}"
        found.append((record, names, read.problems, title))
    return found


def _matches(game: DiceGame, text: str) -> Found:
    found: Found = []
    for match in read_matches(text, game):
        for read in match.games:
            names = dict(zip("XO", match.players, strict=True))
            count = read.record.ply if read.record else 0
            title = f"{' – '.join(match.players)}, game {len(found) + 1}, {count} moves"
            found.append((read.record, names, read.problems, title))
            if len(found) == MOST_GAMES:
                return found
        if not match.games and match.problems and not found:
            found.append((None, {}, match.problems, "damaged"))
    return found

"""Jellyfish's .mat, the file form of games of backgammon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from games.backgammon.match_file import read_matches, write_match
from games.backgammon.record import BackgammonRecord
from games.contract import DiceGame
from games.file_form import NO_NAMES, FileForm, ReadGame
from games.record import GameRecord

__all__ = ["MAT"]


def _write(record: GameRecord, names: tuple[str, str], tags: Mapping[str, str]) -> str:
    """Returns a game as a session of one game; the first of `names` is X."""
    if not isinstance(record, BackgammonRecord):
        played = record.positions, record.moves, record.annotations
        record = BackgammonRecord.of_legal(record.game, *played, rolls=record.rolls)
    players = ("X", "O") if names == NO_NAMES else names
    return write_match([record], players, tags=tags)


def _read(text: str, game: DiceGame) -> Iterator[ReadGame]:
    """Yields the games of all matches of a text; a match without a game is one damaged game."""
    count = 0
    for match in read_matches(text, game):
        for number, read in enumerate(match.games):
            count += 1
            problems = (match.problems if number == 0 else []) + read.problems
            result = "" if read.record is None else "{} : {}".format(*read.record.score)
            plies = read.record.ply if read.record else 0
            title = f"{' – '.join(match.players)}, game {count}, {plies} moves"
            yield ReadGame(read.record, match.players, problems, title, result)
        if not match.games and match.problems and not count:
            yield ReadGame(None, NO_NAMES, match.problems, "damaged")


MAT = FileForm(".mat", _write, _read, annotated=False)

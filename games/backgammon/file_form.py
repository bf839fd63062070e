"""Files of games of backgammon: Jellyfish's .mat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from games.backgammon.match_file import read_matches, write_match
from games.backgammon.record import BackgammonRecord
from games.backgammon.replay import ReplayedGame
from games.contract import DiceGame
from games.file_form import NO_NAMES, FileForm, ReadGame
from games.record import GameRecord
from programs.phrases import counted

__all__ = ["MAT"]


def _write(record: GameRecord, names: tuple[str, ...], tags: Mapping[str, str]) -> str:
    """Returns a game as a session of one game; the first of `names` is X."""
    if not isinstance(record, BackgammonRecord):
        played = record.positions, record.moves, record.annotations
        record = BackgammonRecord.of_legal(record.game, *played, rolls=record.rolls)
    return _write_match([record], names, tags)


def _write_match(
    records: Sequence[BackgammonRecord], names: tuple[str, ...], tags: Mapping[str, str]
) -> str:
    """Returns the games of a match; colons, which end a name in the form, become dashes."""
    players = ("X", "O") if names == NO_NAMES else names
    first, second = (" ".join(name.replace(":", "-").split()) for name in players)
    return write_match(records, (first, second), tags=tags)


def _read(text: str, game: DiceGame) -> Iterator[ReadGame]:
    """Yields the games of all matches of a text, and a damaged game for a match without one."""
    count = 0
    for match in read_matches(text, game):
        for number, read in enumerate(match.games):
            count += 1
            problems = (match.problems if number == 0 else []) + read.problems
            yield _described(read, match.players, count, problems, match.tags)
        if not match.games and match.problems and not count:
            yield ReadGame(None, NO_NAMES, match.problems, "damaged")


def _described(
    read: ReplayedGame,
    players: tuple[str, str],
    count: int,
    problems: list[str],
    tags: Mapping[str, str],
) -> ReadGame:
    record = read.record
    result = "" if record is None else "{} : {}".format(*record.score)
    moves = "damaged" if record is None else counted(record.ply, "move")
    title = f"{' – '.join(players)}, game {count}, {moves}"
    return ReadGame(record, players, problems, title, result, tags)


MAT = FileForm(".mat", _write, _read, annotated=False, also=(".txt",), write_match=_write_match)

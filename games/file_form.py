"""Files of games: the form that a game names, and plain text for all other games.

Plain text holds tags, an empty line, one move a line, and the result:

    [Event "Plysmith"]
    [Game "connect_four"]
    [First "hand"]
    [Second "random"]

    4 ; 0.31 5
    31: 8/5 6/5
    * resignation 1

A roll stands before its move; value, depth and comment of a move follow `;`. A proven value is
written `won_in_5_plies`. The last line begins with `*`: why the game ended and its outcome for the
side that began, or nothing for an unfinished game. With more than two players there are tags
`Third` and so on, and the last line has the outcomes of all sides. Tags `Position` (a start other
than the game's own) and `Result` follow from the record.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from games.contract import Game, given
from games.errors import MoveError, PositionError
from games.extras import extra
from games.record import GameRecord, new_record
from games.rolls import rolls_of
from games.values import independent, proven_text, proven_value
from programs.phrases import counted

__all__ = ["PLAIN_TEXT", "FileForm", "ReadGame", "form_of"]

NO_NAMES = ("?", "?")
SEATS = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth")
OWN_TAGS = ("Game", *SEATS, "Position")

_TAG = re.compile(r'\[(\w+) "((?:[^"\\]|\\.)*)"\]')


class ResultOrder(NamedTuple):
    """The side that the results of a file name first, in forms where it may be either.

    black_first: whether it is the side that begins.
    clear: whether this is known; if not, only draws have a result.
    reason: how it is known, or what is unclear.
    """

    black_first: bool
    clear: bool
    reason: str

    def __str__(self) -> str:
        if not self.clear:
            return f"it is unclear whom results name first, so they are left out: {self.reason}"
        side = "Black" if self.black_first else "White"
        return f"results name {side} first: {self.reason}"


class ReadGame(NamedTuple):
    """One game of a file.

    record: the game, before its fault if it is damaged; None if no move of it is certain.
    names: the players; the first is the one who begins.
    problems: errors in the game, each with the number of its line.
    title: one line for people who choose among the games of a file.
    result: the result or the score, as the file states it.
    tags: other tags of the game, by name.
    order: whom the results of the file name first; None if its form leaves no choice.
    """

    record: GameRecord | None
    names: tuple[str, ...]
    problems: list[str]
    title: str
    result: str = ""
    tags: Mapping[str, str] = MappingProxyType({})
    order: ResultOrder | None = None


@dataclass(frozen=True)
class FileForm:
    """A form of files of games, an extra of the game.

    suffix: the ending of such file names, with the dot.
    write: `write(record, names, tags)` returns one game as text; texts of several games, joined by
        empty lines, are a file. Raises ValueError if the form cannot hold the record.
    read: `read(text, game)` returns the games of a file one after the other. A damaged game is
        returned up to its fault, and reading continues. Raises ValueError if the whole file is of
        another game.
    read_in_order: `read_in_order(text, game, black_first)` does the same in forms whose results
        may name either side first: the side that begins if `black_first` is True, the other one if
        False. `read` finds out which from the games. None for other forms.
    annotated: whether files hold values and comments of moves.
    also: other endings of the names of files that `read` takes.
    write_match: `write_match(records, names, tags)` returns the games of one match as text, in
        forms that hold a score, or None.
    """

    suffix: str
    write: Callable[[GameRecord, tuple[str, ...], Mapping[str, str]], str]
    read: Callable[[str, Any], Iterable[ReadGame]]
    read_in_order: Callable[[str, Any, bool], Iterable[ReadGame]] | None = None
    annotated: bool = True
    also: tuple[str, ...] = ()
    write_match: Callable[[Any, tuple[str, ...], Mapping[str, str]], str] | None = None

    def games_in(
        self, text: str, game: Game, black_first: bool | None = None
    ) -> Iterable[ReadGame]:
        """Returns the games of a file; `black_first` as in `read_in_order`, or None to find out.

        Raises ValueError if the whole file is of another game, or for a `black_first` if the form
        has one order only.
        """
        if black_first is None:
            return self.read(text, game)
        if self.read_in_order is None:
            raise ValueError(
                f"black_first: expected a game whose files may name either side first, found"
                f" {game.name}"
            )
        return self.read_in_order(text, game, black_first)


def form_of(game: Game) -> FileForm:
    """Returns the file form of a game: its own, else plain text."""
    return extra(game, FileForm) or PLAIN_TEXT


def write_plain(record: GameRecord, names: tuple[str, ...], tags: Mapping[str, str]) -> str:
    """Returns a game as plain text; raises ValueError if a tag has a control character."""
    game = record.game
    own = {"Game": game.name, **dict(zip(_seats(game), names, strict=True))}
    if record.start != game.start():
        own["Position"] = game.position_text(record.start)
    given = {name: value for name, value in tags.items() if name not in own}
    lines = [_tag_text(name, value) for name, value in (given | own).items()]
    lines.append("")
    for n, move in enumerate(record.moves):
        text = game.move_text(record.positions[n], move)
        roll = rolls_of(game).named(record.rolls[n])
        lines.append(f"{roll}: " * (roll is not None) + text + _note_text(record, n))
    outcomes = record.outcomes()
    lines.append("*" if outcomes is None else f"* {record.reason} {_outcome_text(outcomes)}")
    return "\n".join(lines) + "\n"


def _seats(game: Game) -> tuple[str, ...]:
    """Returns the tags of the players' names."""
    more = (f"Player{number}" for number in range(len(SEATS) + 1, game.players + 1))
    return (*SEATS, *more)[: game.players]


def _outcome_text(outcomes: Sequence[float]) -> str:
    """Returns the outcome of the side that began, or with more than two sides those of all."""
    stated = independent(outcomes)
    texts = (f"{outcome:g}" for outcome in stated)
    return " ".join(
        text if float(text) == outcome else repr(outcome)
        for text, outcome in zip(texts, stated, strict=True)
    )


def _tag_text(name: str, value: str) -> str:
    if not value.isprintable() or re.fullmatch(r"\w+", name) is None:
        raise ValueError(f"tag {name}: expected printable characters, found {value!r}")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


def _note_text(record: GameRecord, n: int) -> str:
    note = record.annotations[n]
    if (note.value, note.depth, note.comment) == (None, None, ""):
        return ""
    value = "-"
    if note.value is not None:
        ended = proven_text(note.value).replace(" ", "_")
        value = ended or f"{note.value:.4f}".rstrip("0").rstrip(".")
    depth = "-" if note.depth is None else str(note.depth)
    comment = " ".join(note.comment.split())
    return f" ; {value} {depth} {comment}".rstrip()


def read_plain(text: str, game: Game) -> Iterator[ReadGame]:
    """Yields the games of a plain text; a damaged one ends before its fault."""
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if not line.strip():
            continue
        lines.append((number, line.strip()))
        if line.startswith("*"):
            yield _read_one(lines, game)
            lines = []
    if lines:
        yield _read_one(lines, game)


def _read_one(lines: list[tuple[int, str]], game: Game) -> ReadGame:
    tags: dict[str, str] = {}
    record: GameRecord | None = None
    problems: list[str] = []
    number = lines[0][0]
    try:
        for number, line in lines:
            tag = _TAG.fullmatch(line)
            if tag is not None and record is None:
                tags[tag[1]] = re.sub(r"\\(.)", r"\1", tag[2])
                continue
            record = _begun(game, tags) if record is None else record
            if line.startswith("*"):
                problems += [f"line {number}: {text}" for text in _ended(record, line[1:])]
            else:
                _play(record, line)
        record = _begun(game, tags) if record is None else record
        if not lines[-1][1].startswith("*"):
            problems.append(f"line {number}: expected a line with *, found the end of the file")
    except (MoveError, PositionError, ValueError) as error:
        record = record if record is not None and record.moves else None
        problems = [f"line {number}: {error}"]
    names = tuple(tags.get(seat, "?") for seat in _seats(game))
    count = "damaged" if record is None else counted(record.ply, "move")
    result = tags.get("Result", "")
    title = f"{' – '.join(names)}, {count}"
    return ReadGame(record, names, problems, title, result, tags)


def _begun(game: Game, tags: Mapping[str, str]) -> GameRecord:
    name = tags.get("Game", game.name)
    if name != game.name:
        raise ValueError(f"expected a game of {game.name}, found one of {name[:40]!r}")
    start = game.parse_position(tags["Position"]) if "Position" in tags else None
    return new_record(game, start)


def _play(record: GameRecord, line: str) -> None:
    game = record.game
    words, _, note = line.partition(" ; ")
    roll, words = rolls_of(game).split(words)
    move = game.parse_move(record.position, words.strip(), *given(roll))
    value, depth, comment = (*note.split(" ", 2), "", "", "")[:3]
    record.play(
        move,
        value=None if value in ("", "-") else _number(value),
        depth=None if depth in ("", "-") else int(depth),
        comment=comment,
        roll=roll,
    )


def _number(text: str) -> float:
    ended = proven_value(text.replace("_", " "))
    value = float(text) if ended is None else ended
    if not math.isfinite(value):
        raise ValueError(f"expected a finite number, found {text[:40]!r}")
    return value


def _ended(record: GameRecord, text: str) -> list[str]:
    """Declare the outcome that the last line of a game states; returns contradictions."""
    words = text.split()
    count = len(independent(range(record.game.players)))
    outcomes = record.outcomes()
    outcome = "" if outcomes is None else _outcome_text(outcomes)
    if not words:
        return [f"expected * {record.reason} {outcome}, found none"] if outcome else []
    claimed = tuple(map(_number, words[-count:]))
    if outcomes is None:
        reason = " ".join(words[:-count]) or "result of the file"
        record.declare(claimed[0] if count == 1 else claimed, reason)
        return []
    same = claimed == outcomes[:count]
    comment = " ".join(words[-count:])
    return [] if same else [f"expected the outcome {outcome}, found {comment}"]


PLAIN_TEXT = FileForm(".txt", write_plain, read_plain)

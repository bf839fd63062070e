"""Writes games of checkers as PDN."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from games.checkers.pdn.game_types import ENGLISH
from games.checkers.pdn.notes import note_text
from games.checkers.pdn.results import RESULTS
from games.record import GameRecord

__all__ = ["OWN_TAGS", "ROSTER", "own_tags", "write_game"]

LINE_LENGTH = 79
#: The tags of every written game, in PDN's order; `?` stands for an unknown value.
ROSTER = ("Event", "Site", "Date", "Round", "White", "Black")
OWN_TAGS = ("Result", "GameType", "SetUp", "FEN")  # these follow from the record

_TAG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def write_game(record: GameRecord, tags: Mapping[str, str] | None = None) -> str:
    """Returns a game as PDN: tags, an empty line, moves in lines of 79 characters, the result.

    The tags Result and GameType, and for a game from another position SetUp and FEN, come from
    the record. Values are rounded to four decimals; runs of white space in comments become one
    space. Texts of several games, joined by empty lines, are a file.

    Raises ValueError if a tag contradicts the record, or if PDN cannot hold it: a brace in a
    comment, a control character in a tag, or a value that is not finite.
    """
    if record.game.name != "checkers":
        raise ValueError(f"expected a game of checkers, found one of {record.game.name!r}")
    given = dict(tags or {})
    roster = {name: given.pop(name, "?") for name in ROSTER}
    own = own_tags(record)
    for name in OWN_TAGS:
        given_value = given.pop(name, None)
        if given_value is not None and given_value != own.get(name):
            raise ValueError(f"tag {name}: expected {own.get(name, 'none')}, found {given_value!r}")
    lines = [_tag_text(name, value) for name, value in (roster | own | given).items()]
    return "\n".join([*lines, "", *_wrap(_movetext(record)), ""])


def _result(record: GameRecord) -> str:
    outcome = record.outcome()
    if outcome not in (None, 1.0, 0.0, -1.0):
        raise ValueError(f"expected an outcome of -1, 0, 1 or None, found {outcome!r}")
    # Black begins, and PDN has White's result first.
    return RESULTS[None if outcome is None else -outcome]


def own_tags(record: GameRecord) -> dict[str, str]:
    """Returns the tags that follow from the record."""
    tags = {"Result": _result(record), "GameType": ENGLISH}
    if record.start != record.game.start():
        tags |= {"SetUp": "1", "FEN": record.game.position_text(record.start)}
    return tags


def _tag_text(name: str, value: str) -> str:
    if _TAG_NAME.fullmatch(name) is None:
        raise ValueError(f"expected a tag's name of letters and digits, found {name!r}")
    if not value.isprintable():
        raise ValueError(f"tag {name}: expected printable characters, found {value!r}")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


def _movetext(record: GameRecord) -> Iterator[str]:
    """Yields the words of the moves; a line may end after each of them."""
    yield from _comment_words(" ".join(record.comment.split()))
    side = record.game.to_move(record.start)
    numbered = False  # whether the text shows the number of the move
    moves = zip(record.positions, record.moves, record.annotations, strict=False)
    for ply, (position, move, annotation) in enumerate(moves, side):
        if ply % 2 == 0 or not numbered:
            yield f"{ply // 2 + 1}{'.' if ply % 2 == 0 else '...'}"
        yield record.game.move_text(position, move)
        comment = note_text(annotation)
        yield from _comment_words(comment)
        numbered = not comment
    yield _result(record)


def _comment_words(comment: str) -> Iterator[str]:
    if "{" in comment or "}" in comment:
        raise ValueError(f"expected a comment without braces, found {comment[:60]!r}")
    if not comment:
        return
    words: list[str] = []
    for word in comment.split(" "):
        if words and word[0] in "%[":  # these have a special meaning at the start of a line
            words[-1] += f" {word}"
        else:
            words.append(word)
    words[0] = "{" + words[0]
    words[-1] += "}"
    yield from words


def _wrap(words: Iterable[str]) -> list[str]:
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= LINE_LENGTH:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines

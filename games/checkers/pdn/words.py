"""The words of a PDN file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["MOVE", "Word", "words_of"]

_SQUARES = r"[0-9]{1,2} (?: \s* [-xX:×] \s* [0-9]{1,2} )+ (?! [0-9] )"
_RESULT = r"""(?<! [^\s;{}()\[\]] )
    (?: 1/2-1/2 | [01]-[01] | 2-0 | 0-2 | \* ) (?! [^\s;{}()\[\]] )"""
#: A move among others.
MOVE = re.compile(_SQUARES, re.VERBOSE)
_TAG_LINE = re.compile(r'\[\s*[A-Za-z][A-Za-z0-9_]*\s*"')
_WORD = re.compile(
    rf"""
    (?P<space> \s+ )
  | (?P<tag> \[ \s* (?P<name> [A-Za-z][A-Za-z0-9_]* ) \s* "
             (?: (?P<value> (?: [^"\\] | \\. )* ) | "(?P<quoted> [^"\\]+ )" ) " \s* \] )
  | (?P<comment> \{{ )
  | (?P<remark> ; .* )
  | (?P<open> \( )
  | (?P<close> \) )
  | (?P<result> {_RESULT} )
  | (?P<moves> (?: (?! {_RESULT} ) (?: [0-9]* \.+ | {_SQUARES} ) \s* )++ )
  | (?P<mark> [!?*]+ | \$ [0-9]+ )
  | (?P<broken> \[ .* )
  | (?P<other> [^\s;{{}}()\[\]]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)


_NESTED = re.compile(r"\}[^{}]*\}")


class Word(NamedTuple):
    """One word of a file.

    kind: "tag", "comment", "open comment", "open" and "close" (of variations), "result", "moves"
        (several with their numbers), "broken" (a tag), "blank" (an empty line) or "other".
    text: the word; of a tag its name.
    line: the number of its line, from 1.
    value: that of a tag.
    """

    kind: str
    text: str
    line: int
    value: str = ""


def _opened(comment: list[str], more: str) -> bool:
    """Whether a comment, with more of it, holds a brace that is not closed."""
    text = "".join([*comment, more])
    return text.count("{") > text.count("}")


def words_of(lines: Iterable[str]) -> Iterator[Word]:
    """Yields the words of a file; a comment is one word, marks such as `!` are omitted."""
    comment: list[str] | None = None
    started = 0
    for number, line in enumerate(lines, 1):
        if number == 1:
            line = line.removeprefix("\ufeff")
        if comment is not None and _TAG_LINE.match(line):
            # A comment without an end would take in the rest of the file.
            yield Word("open comment", "", started)
            comment = None
        if comment is None and not line.strip():
            yield Word("blank", "", number)
            continue
        if comment is None and line.startswith("%"):
            continue
        place = 0
        while place < len(line):
            if comment is not None:
                end = line.find("}", place)
                while 0 <= end and _NESTED.match(line, end) and _opened(comment, line[place:end]):
                    end = line.find("}", end + 1)
                comment.append(line[place : end if end >= 0 else len(line)])
                place = end + 1 if end >= 0 else len(line)
                if end >= 0:
                    yield Word("comment", " ".join("".join(comment).split()), started)
                    comment = None
                elif not line.endswith("\n"):
                    comment.append("\n")
                continue
            match = _WORD.match(line, place)
            assert match is not None  # the last alternative takes any character
            place = match.end()
            kind = str(match.lastgroup)
            if kind == "moves":
                yield Word(kind, match[0], number)
            elif kind == "comment":
                comment, started = [], number
            elif match["tag"] is not None:
                value = match["value"] if match["quoted"] is None else match["quoted"]
                yield Word("tag", match["name"], number, re.sub(r"\\(.)", r"\1", value))
            elif kind not in ("space", "remark", "mark"):
                if kind == "broken" and line[: match.start()].strip():
                    kind = "other"  # a tag among the moves, not the first tag of the next game
                yield Word(kind, match[0], number)
    if comment is not None:
        yield Word("open comment", "", started)

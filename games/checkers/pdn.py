"""Checkers games as PDN: a strict writer, and a reader that tolerates damaged files.

Results in PDN are White-Black: `1-0` says that White won, although Black begins. Values are for
the side that made the move and are in a comment after it as value/depth, such as `{0.35/7}`;
either is `-` if it is not known, and a comment may follow: `{0.35/7 a trap}`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from games.contract import Game
from games.errors import MoveError, PositionError
from games.record import Annotation, GameRecord

__all__ = ["ReadGame", "read_games", "write_game"]

GAME_TYPE = "21"  # PDN's number for English checkers
LINE_LENGTH = 79
#: The tags of every written game, in PDN's order; `?` stands for an unknown value.
ROSTER = ("Event", "Site", "Date", "Round", "White", "Black")
OWN_TAGS = ("Result", "GameType", "SetUp", "FEN")  # these follow from the record

_OUTCOMES = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0, "2-0": 1.0, "0-2": -1.0, "1-1": 0.0}
_RESULTS = {1.0: "1-0", -1.0: "0-1", 0.0: "1/2-1/2", None: "*"}
_TAG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_TAG_LINE = re.compile(r'\[\s*[A-Za-z][A-Za-z0-9_]*\s*"')
_VALUE = re.compile(r"(-|[+-]?[0-9]{1,15}\.[0-9]{1,15})/(-|[0-9]{1,9})(?: (.*))?")
_TOKEN = re.compile(
    r"""
    (?P<space> \s+ )
  | (?P<tag> \[ \s* (?P<name> [A-Za-z][A-Za-z0-9_]* ) \s*
             " (?P<value> (?: [^"\\] | \\. )* ) " \s* \] )
  | (?P<comment> \{ )
  | (?P<remark> ; .* )
  | (?P<open> \( )
  | (?P<close> \) )
  | (?P<result> (?<! [^\s;{}()\[\]] )
                (?: 1/2-1/2 | [01]-[01] | 2-0 | 0-2 | \* ) (?! [^\s;{}()\[\]] ) )
  | (?P<number> [0-9]* \.+ )
  | (?P<move> [0-9]{1,2} (?: \s* [-xX:×] \s* [0-9]{1,2} )+ (?! [0-9] ) )
  | (?P<mark> [!?*]+ | \$ [0-9]+ )
  | (?P<broken> \[ .* )
  | (?P<other> [^\s;{}()\[\]]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)


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
    own = _own_tags(record)
    for name in OWN_TAGS:
        found = given.pop(name, None)
        if found is not None and found != own.get(name):
            raise ValueError(f"tag {name}: expected {own.get(name, 'none')}, found {found!r}")
    lines = [_tag_text(name, value) for name, value in (roster | own | given).items()]
    return "\n".join([*lines, "", *_wrap(_movetext(record)), ""])


def _result(record: GameRecord) -> str:
    outcome = record.outcome()
    if outcome not in (None, 1.0, 0.0, -1.0):
        raise ValueError(f"expected an outcome of -1, 0, 1 or None, found {outcome!r}")
    # Black begins, and PDN has White's result first.
    return _RESULTS[None if outcome is None else -outcome]


def _own_tags(record: GameRecord) -> dict[str, str]:
    """Returns the tags that follow from the record."""
    tags = {"Result": _result(record), "GameType": GAME_TYPE}
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
    numbered = False  # whether the reader of the text knows the number of the move
    moves = zip(record.positions, record.moves, record.annotations, strict=False)
    for ply, (position, move, annotation) in enumerate(moves, side):
        if ply % 2 == 0 or not numbered:
            yield f"{ply // 2 + 1}{'.' if ply % 2 == 0 else '...'}"
        yield record.game.move_text(position, move)
        comment = _annotation_text(annotation)
        yield from _comment_words(comment)
        numbered = not comment
    yield _result(record)


def _annotation_text(annotation: Annotation) -> str:
    value, depth = annotation.value, annotation.depth
    comment = " ".join(annotation.comment.split())
    if value is not None and not (math.isfinite(value) and abs(value) < 1e15):
        raise ValueError(f"expected a finite value below 1e15, found {value!r}")
    if depth is not None and not 0 <= depth < 10**9:
        raise ValueError(f"expected a depth from 0 to 999999999, found {depth!r}")
    if value is None and depth is None and _VALUE.fullmatch(comment) is None:
        return comment
    number = "-"
    if value is not None:
        whole, decimals = f"{value:.4f}".split(".")
        number = f"{whole}.{decimals[0]}{decimals[1:].rstrip('0')}"
        number = "0.0" if number == "-0.0" else number
    return f"{number}/{'-' if depth is None else depth} {comment}".rstrip()


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


class ReadGame(NamedTuple):
    """One game of a PDN file.

    `record` is None if the game is damaged; then the first of `problems` is the cause. If there is
    a record, its moves are certain despite any problems. Each problem begins with the number of
    its line. `tags` are those of the file; with a record, the tags that follow from it are as
    `write_game` writes them, so that Result has White first.
    """

    tags: dict[str, str]
    record: GameRecord | None
    problems: list[str]


def read_games(
    source: str | Iterable[str],
    game: Game,
    *,
    black_first: bool = False,
    repetitions: int | None = None,
    quiet_moves: int | None = None,
) -> Iterator[ReadGame]:
    """Yields the games of a PDN text, or of an iterable of lines such as an open file.

    `game` is checkers. Results are taken to be White-Black, and with `black_first` the other way
    round, as in old English files. Records have no draw rules by default, because the players may
    not have kept to them; a record that its moves do not end ends with the result of the file.

    Variations, marks such as `!` and `$1`, `;` remarks and `%` lines are ignored. A damaged game
    never raises an exception: it comes without a record, and reading goes on with the next one.
    """
    lines = source.splitlines() if isinstance(source, str) else source
    reading: _Reading | None = None
    settings = (game, black_first, repetitions, quiet_moves)
    for token in _tokens(lines):
        if reading is not None and reading.closed_by(token):
            reading.unfinished(token.line)
            yield reading.finish()
            reading = None
        if reading is None:
            reading = _Reading(*settings)
        reading.add(token)
        if reading.result is not None:
            yield reading.finish()
            reading = None
    if reading is not None and not reading.empty:
        reading.unfinished(None)
        yield reading.finish()


class _Token(NamedTuple):
    kind: str
    text: str
    line: int
    value: str = ""  # of a tag


def _tokens(lines: Iterable[str]) -> Iterator[_Token]:
    """Yields the words of a file with their lines; a comment is one word, marks are omitted."""
    comment: list[str] | None = None
    started = 0
    for number, line in enumerate(lines, 1):
        if number == 1:
            line = line.removeprefix("\ufeff")
        if comment is not None and _TAG_LINE.match(line):
            # A comment that was never closed would swallow the rest of the file.
            yield _Token("open comment", "", started)
            comment = None
        if comment is None and not line.strip():
            yield _Token("blank", "", number)
            continue
        if comment is None and line.startswith("%"):
            continue
        place = 0
        while place < len(line):
            if comment is not None:
                end = line.find("}", place)
                comment.append(line[place : end if end >= 0 else len(line)])
                place = end + 1 if end >= 0 else len(line)
                if end >= 0:
                    yield _Token("comment", " ".join("".join(comment).split()), started)
                    comment = None
                elif not line.endswith("\n"):
                    comment.append("\n")
                continue
            match = _TOKEN.match(line, place)
            assert match is not None  # the last alternative takes any character
            place = match.end()
            if match.lastgroup == "comment":
                comment, started = [], number
            elif match["tag"] is not None:
                yield _Token("tag", match["name"], number, re.sub(r"\\(.)", r"\1", match["value"]))
            elif match.lastgroup not in ("space", "remark", "mark"):
                kind = str(match.lastgroup)
                if kind == "broken" and line[: match.start()].strip():
                    kind = "other"  # between the moves, not the first tag of the next game
                yield _Token(kind, match[0], number)
    if comment is not None:
        yield _Token("open comment", "", started)


class _Reading:
    """A game that is being read."""

    def __init__(
        self, game: Game, black_first: bool, repetitions: int | None, quiet_moves: int | None
    ) -> None:
        self.game = game
        self.black_first = black_first
        self.limits = {"repetitions": repetitions, "quiet_moves": quiet_moves}
        self.tags: dict[str, tuple[str, int]] = {}
        self.record: GameRecord | None = None
        self.problems: list[str] = []
        self.comments: list[str] = []  # before the first move
        self.damaged = False
        self.variation = 0  # number of open brackets
        self.variation_line = 0
        self.begun = False  # whether the tags are over
        self.parted = False  # whether an empty line came after tags
        self.line = 1  # of the latest word
        self.result: _Token | None = None

    @property
    def empty(self) -> bool:
        """Whether the text so far contains nothing of a game."""
        return not (self.tags or self.begun or self.damaged)

    def closed_by(self, token: _Token) -> bool:
        """Whether a token already belongs to the next game."""
        if token.kind not in ("tag", "broken"):
            return False
        # A repeated tag belongs to the next of two games without moves, and so does, after an empty
        # line, the tag with which games begin.
        first = self.parted and token.text == ROSTER[0]
        return self.begun or first or token.text in self.tags

    def add(self, token: _Token) -> None:
        if token.kind == "blank":
            self.parted = bool(self.tags)
            return
        self.line = token.line
        self.begun |= token.kind not in ("tag", "broken", "comment")
        if token.kind == "open comment":
            self.damage(token.line, "expected a comment that ends, found no '}'")
        elif token.kind == "tag":
            if not self.tags:
                self.comments.clear()  # they stood between two games
            self.tags[token.text] = (token.value, token.line)
        elif token.kind == "comment":
            if not self.variation:
                self.add_comment(token.text)
        elif token.kind == "open":
            self.variation_line = self.variation_line if self.variation else token.line
            self.variation += 1
        elif token.kind == "close":
            if self.variation == 0:
                self.damage(token.line, "expected a move, found ')'")
            self.variation = max(0, self.variation - 1)
        elif self.variation:
            pass
        elif token.kind == "result":
            self.result = token
        elif token.kind == "move":
            self.play(token)
        elif token.kind in ("broken", "other"):
            right = "a move" if token.kind == "other" else 'a tag such as [Event "?"]'
            self.damage(token.line, f"expected {right}, found {_short(token.text.strip())!r}")

    def play(self, token: _Token) -> None:
        self.begin()
        if self.damaged or self.record is None:
            return
        try:
            self.record.play_text(token.text)
        except MoveError as error:
            self.damage(token.line, f"move {self.record.ply + 1} of the game: {error}")

    def add_comment(self, text: str) -> None:
        if self.record is None:
            self.comments.append(text)
            return
        if not self.record.moves:
            self.record.comment = f"{self.record.comment} {text}".strip()
            return
        value, depth, comment = _annotation(text)
        earlier = self.record.annotations[-1]
        if (value, depth) != (None, None) and (earlier.value, earlier.depth) != (None, None):
            value, depth, comment = None, None, text
        self.record.annotate(
            value=earlier.value if value is None else value,
            depth=earlier.depth if depth is None else depth,
            comment=f"{earlier.comment} {comment}".strip(),
        )

    def begin(self) -> None:
        """Set up the start position that the tags describe."""
        if self.record is not None or self.damaged:
            return
        kind, line = self.tag("GameType", GAME_TYPE)
        if kind.split(",")[0].strip() != GAME_TYPE:
            self.damage(line, f"expected GameType {GAME_TYPE}, English checkers, found {kind!r}")
            return
        start = None
        fen, line = self.tag("FEN", "")
        if fen:
            try:
                start = self.game.parse_position(fen)
            except PositionError as error:
                self.damage(line, f"tag FEN: {error}")
                return
        elif self.tag("SetUp", "0")[0] == "1":
            self.damage(self.tag("SetUp", "")[1], "expected a tag FEN beside SetUp, found none")
            return
        comment = " ".join(self.comments)
        self.record = GameRecord(self.game, start, comment=comment, **self.limits)

    def tag(self, name: str, default: str) -> tuple[str, int]:
        """Returns the value and line of a tag, ignoring the case of its name."""
        for found, value_and_line in self.tags.items():
            if found.lower() == name.lower():
                return value_and_line
        return default, 0

    def damage(self, line: int, cause: str) -> None:
        """Give the game up, because later problems follow from this one."""
        if not self.damaged:
            self.problems = [f"line {line}: {cause}"]
        self.damaged = True

    def unfinished(self, line: int | None) -> None:
        """Note that the game ended without a result: by the tag on a line, or with the file."""
        found = "the end of the file" if line is None else f"the next game on line {line}"
        if self.variation:
            self.damage(self.variation_line, f"expected ')', found {found}")
        self.problems.append(f"line {self.line}: expected a result, found {found}")

    def finish(self) -> ReadGame:
        self.begin()
        tags = {name: value for name, (value, _) in self.tags.items()}
        if self.damaged or self.record is None:
            return ReadGame(tags, None, self.problems[:1])
        self.settle(self.record)
        own = {name.lower() for name in OWN_TAGS}
        tags = {name: value for name, value in tags.items() if name.lower() not in own}
        return ReadGame(tags | _own_tags(self.record), self.record, self.problems)

    def settle(self, record: GameRecord) -> None:
        """Find out how the game ended: by its moves, its last word or its tag, in this order."""
        said: list[tuple[str, int, float | None]] = []
        if self.result is not None:
            said.append((self.result.text, self.result.line, self.first_view(self.result.text)))
        text, line = self.tag("Result", "*")
        if text in _OUTCOMES or text in ("*", "?", ""):
            said.append((text, line, self.first_view(text)))
        else:
            self.problems.append(f"line {line}: expected a result such as 1-0, found {text!r}")
        outcome = record.outcome()
        for text, line, claimed in said:
            if claimed is None:
                continue
            if outcome is None:
                record.declare(claimed, "result of the file")
                outcome = claimed
            elif claimed != outcome:
                right = self.file_text(outcome)
                cause = f"expected the result {right} ({record.reason}), found {text}"
                self.problems.append(f"line {line}: {cause}")

    def first_view(self, text: str) -> float | None:
        """Returns the value of a result for Black, who begins."""
        outcome = _OUTCOMES.get(text)
        return None if outcome is None else outcome if self.black_first else 0.0 - outcome

    def file_text(self, outcome: float) -> str:
        return _RESULTS[outcome if self.black_first else 0.0 - outcome]


def _annotation(text: str) -> tuple[float | None, int | None, str]:
    match = _VALUE.fullmatch(text)
    if match is None:
        return None, None, text
    value = None if match[1] == "-" else float(match[1])
    return value, None if match[2] == "-" else int(match[2]), match[3] or ""


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."

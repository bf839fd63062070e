"""Matches and sessions of backgammon as .mat files, the text form of Jellyfish.

GNU Backgammon, eXtreme Gammon and most other programs write it. No specification exists, so the
writer here keeps to the forms that all of them read, and the reader takes those that they write.
Two columns hold the actions of the players in turn, X's (colour 0) on the left:

      1) 31: 8/5 6/5                 42: 8/4 6/4
      2)  Doubles => 2                Takes
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from games.backgammon.notation import NO_MOVE
from games.backgammon.record import BackgammonRecord
from games.contract import DiceGame
from games.errors import MoveError, PositionError

__all__ = ["Match", "ReadGame", "read_matches", "write_match"]

LEFT_WIDTH = 28  # of the left column
#: Column from which text belongs to the right player, counted after the number of the line.
RIGHT_FROM = 14
LONGEST_LINE = 1000

_TAG = re.compile(r'[;#]\s*\[\s*([^"\[\]]+?)\s*"(.*)"\s*\]\s*')
_LENGTH = re.compile(r"\s*([0-9]{1,5})[\s-]*points?\s+match\b.*", re.I)
_MONEY = re.compile(r"\s*(?:money|unlimited)\b.*", re.I)
_GAME = re.compile(r"\s*game\s+([0-9]+)\b.*", re.I)
_SCORES = re.compile(r"\s*(\S.*?)?\s*:\s*([0-9]{1,5})\s+(\S.*?)?\s*:\s*([0-9]{1,5})\s*")
_LINE = re.compile(r"\s*[0-9]{1,4}\)(.*)")
_ACTION = re.compile(
    r"""
    (?P<roll> (?<![0-9/]) [1-6][1-6] \s* : )
  | (?P<double> \b (?: re )? doubles? \b (?: \s* => \s* (?P<value> [0-9]{1,6} ) )? )
  | (?P<take> \b (?: takes? | accepts? ) \b )
  | (?P<drop> \b (?: drops? | pass (?: es )? | rejects? | declines? ) \b )
  | (?P<resign> \b resigns? \b )
  | (?P<wins> \b wins? \s+ (?P<points> [0-9]{1,7} ) \s+ points? \b
              (?: \s+ and \s+ the \s+ match )? )
    """,
    re.VERBOSE | re.IGNORECASE,
)


class ReadGame(NamedTuple):
    """One game of a file.

    `record` is None if the game is damaged; then the first of `problems` is the cause. If there is
    a record, its moves are certain despite any problems. Each problem begins with the number of
    its line.
    """

    record: BackgammonRecord | None
    problems: list[str]


@dataclass
class Match:
    """A match, or a session for money (`match_length` 0): its games and who played them.

    `problems` are those of lines that belong to no game; each game has its own.
    """

    match_length: int = 0
    players: tuple[str, str] = ("", "")
    tags: dict[str, str] = field(default_factory=dict)
    games: list[ReadGame] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


# --- writing --------------------------------------------------------------------------------------


def write_match(
    records: Sequence[BackgammonRecord],
    players: tuple[str, str] = ("X", "O"),
    *,
    tags: Mapping[str, str] | None = None,
) -> str:
    """Returns games of one match, or of a session for money, as the text of a .mat file.

    Values and comments are not written, because the form has no place for them. Raises ValueError
    if the records have different match lengths, or if the form cannot hold a game: a start other
    than that of the game, a first cube other than 1 in the middle, the Jacoby rule, an outcome that
    is not a whole number of points, or names or tags with characters that would end them.
    """
    lengths = {record.match_length for record in records}
    if len(lengths) != 1:
        raise ValueError(f"expected games of one match length, found {sorted(lengths)}")
    (length,) = lengths
    for name in players:
        if re.fullmatch(r"\S+(?: \S+)*", name) is None or ":" in name or not name.isprintable():
            raise ValueError(f"expected a name without colons and spare spaces, found {name!r}")
    lines = []
    for tag, value in (tags or {}).items():
        if re.search(r'["\[\]]', tag + value) or not tag or not (tag + value).isprintable():
            raise ValueError(f"expected a tag without quotes and brackets, found {tag!r} {value!r}")
        lines.append(f'; [{tag} "{value}"]')
    lines += [f" {length} point match"]
    for number, record in enumerate(records, 1):
        left, right = (
            f"{name} : {score}" for name, score in zip(players, record.score, strict=True)
        )
        lines += ["", f" Game {number}", f" {left:<{LEFT_WIDTH + 3}} {right}", *_game_lines(record)]
    return "\n".join([*lines, ""])


def _game_lines(record: BackgammonRecord) -> Iterator[str]:
    if record.start[:4] != record.game.start()[:4]:
        raise ValueError("a .mat file: expected a game from the start, found another position")
    if (record.first_cube, record.first_owner) != (1, None):
        raise ValueError(
            f"a .mat file: expected a cube of 1 in the middle at first, found {record.first_cube}"
        )
    if record.jacoby:
        raise ValueError("a .mat file: expected no rule of Jacoby, found it")
    cells = list(_cells(record))
    if cells and record.start[4]:
        cells.insert(0, "")
    for number, place in enumerate(range(0, len(cells), 2), 1):
        left, right = (*cells[place : place + 2], "")[:2]
        yield f"{number:3}) {left:<{LEFT_WIDTH}} {right}".rstrip()
    outcome = record.outcome()
    if outcome is None:
        return
    points = abs(int(outcome))
    if points != abs(outcome) or not points:
        raise ValueError(f"a .mat file: expected an outcome of whole points, found {outcome}")
    column = "" if outcome > 0 else " " * (LEFT_WIDTH + 1)
    score = record.final_score()
    match = record.match_length and score is not None and max(score) >= record.match_length
    yield f"     {column}Wins {points} point{'s' * (points > 1)}{' and the match' * bool(match)}"


def _cells(record: BackgammonRecord) -> Iterator[str]:
    """Returns the actions of both sides in turn, including those of the cube."""
    assert isinstance(record.game, DiceGame)
    actions = list(record.actions)
    cube = 1
    for ply in range(record.ply + 1):
        while actions and actions[0].ply == ply:
            kind = actions.pop(0).kind
            cube <<= kind == "double"
            yield {"double": f" Doubles => {cube}", "take": " Takes", "drop": " Drops"}[kind]
        if ply < record.ply:
            roll = record.rolls[ply]
            assert roll is not None
            text = record.game.move_text(record.positions[ply], record.moves[ply])
            yield f"{record.game.roll_text(roll)}: {'' if text == NO_MOVE else text}".rstrip()


# --- reading --------------------------------------------------------------------------------------


def read_matches(source: str | Iterable[str], game: DiceGame) -> Iterator[Match]:
    """Yields the matches of a .mat text, or of an iterable of lines such as an open file.

    `game` is backgammon. A damaged game never raises an exception: it comes without a record, and
    reading goes on with the next one. A game that its moves do not end ends with the points that
    the file says were won. Whether a game is the Crawford game follows from the scores.
    """
    lines = source.splitlines() if isinstance(source, str) else source
    reader = _Reader(game)
    for number, line in enumerate(lines, 1):
        line = (line.removeprefix("\ufeff") if number == 1 else line).expandtabs().rstrip()
        if reader.full and _LENGTH.fullmatch(line[:LONGEST_LINE]):
            following = reader.following
            yield reader.finish()
            reader = _Reader(game)
            reader.match.tags = following
        reader.read(number, line)
    reader.match.tags |= reader.following
    if reader.full or reader.match.problems or reader.match.tags:
        yield reader.finish()


class _Reader:
    """A match that is being read."""

    def __init__(self, game: DiceGame) -> None:
        self.game = game
        self.match = Match()
        self.reading: _Reading | None = None
        #: Tags after the games: those of the next match, if there is one.
        self.following: dict[str, str] = {}
        self.named = False  # whether the line with the names of the game's players was read

    @property
    def full(self) -> bool:
        """Whether the match has games."""
        return bool(self.match.games) or self.reading is not None

    def read(self, number: int, line: str) -> None:
        if not line.strip():
            return
        if len(line) > LONGEST_LINE:
            self.problem(number, f"a line of at most {LONGEST_LINE} characters", f"{len(line)}")
        elif (tag := _TAG.fullmatch(line)) is not None:
            (self.following if self.full else self.match.tags)[tag[1]] = tag[2]
        elif line.lstrip()[0] in ";#":
            return
        elif (found := _LENGTH.fullmatch(line)) is not None:
            self.match.match_length = int(found[1])
        elif _GAME.fullmatch(line) is not None:
            self.end_game()
            self.reading = _Reading(self.game, self.match.match_length, number)
            self.named = False
        elif self.reading is None:
            if _MONEY.fullmatch(line) is None:
                self.problem(number, "a match length or a game", repr(line.strip()[:40]))
        elif (row := _LINE.fullmatch(line)) is not None:
            self.reading.row(number, row[1])
        elif not self.named:
            self.names(number, line)
        else:
            self.reading.row(number, line)

    def names(self, number: int, line: str) -> None:
        """Read the line with players and scores."""
        assert self.reading is not None
        self.named = True
        found = _SCORES.fullmatch(line)
        if found is not None:
            self.match.players = (found[1] or "", found[3] or "")
            self.reading.score = (int(found[2]), int(found[4]))
            return
        names = re.split(r"\s{2,}", line.strip())
        if len(names) == 2 and not _ACTION.search(line):
            self.match.players = (names[0], names[1])
        else:
            self.reading.row(number, line)

    def problem(self, number: int, expected: str, found: str) -> None:
        problems = self.match.problems if self.reading is None else self.reading.problems
        problems.append(f"line {number}: expected {expected}, found {found}")

    def end_game(self) -> None:
        if self.reading is not None:
            self.match.games.append(self.reading.finish(self.match.games))
            self.reading = None

    def finish(self) -> Match:
        self.end_game()
        return self.match


class _Action(NamedTuple):
    """One action of a player, as in a line of the file."""

    kind: str
    text: str  # the text after it; for a roll, the dice
    moves: str
    right: bool  # whether it stands in the right column
    line: int


class _Reading:
    """A game that is being read; it is played when it is complete."""

    def __init__(self, game: DiceGame, match_length: int, line: int) -> None:
        self.game = game
        self.match_length = match_length
        self.line = line
        self.score: tuple[int, int] | None = None
        self.actions: list[_Action] = []
        self.problems: list[str] = []

    def row(self, number: int, text: str) -> None:
        """Note the actions in a line."""
        found = list(_ACTION.finditer(text))
        ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
        before = text[: found[0].start()] if found else text
        if before.strip():
            self.problems.append(
                f"line {number}: expected a roll, a double, its answer or who wins, found"
                f" {before.strip()[:40]!r}"
            )
        for index, (match, end) in enumerate(zip(found, ends, strict=True)):
            kind = str(match.lastgroup)
            kind = {"value": "double", "points": "wins"}.get(kind, kind)
            rest = text[match.end() : end].strip()
            if rest and kind != "roll":
                self.problems.append(f"line {number}: expected nothing more, found {rest[:40]!r}")
            word = match[0] if kind == "roll" else match["points"] or match["value"] or ""
            right = index > 0 or match.start() >= RIGHT_FROM
            self.actions.append(_Action(kind, word, rest, right, number))

    def finish(self, earlier: list[ReadGame]) -> ReadGame:
        """Play the game that was read."""
        cause = ""
        line = self.line
        try:
            record = self.begin(earlier)
            for index, action in enumerate(self.actions):
                line = action.line
                self.play(record, action, self.actions[index + 1 :])
        except (MoveError, PositionError) as error:
            cause = f"line {line}: {error}"
        if cause:
            return ReadGame(None, [cause, *self.problems])
        if not record.over:
            self.problems.append(f"line {line}: expected a game with an end, found none")
        return ReadGame(record, self.problems)

    def begin(self, earlier: list[ReadGame]) -> BackgammonRecord:
        """Returns the record before the first move; the left column is X's."""
        start = self.game.start()
        if self.actions and self.actions[0].right:
            start = (*start[:4], 1)
        last = earlier[-1].record if earlier else None
        known = (last.final_score() if last else None) or (0, 0)
        score = known if self.score is None else self.score
        if earlier and last and last.final_score() not in (None, score):
            self.problems.append(
                f"line {self.line}: expected a score of {last.final_score()} after the game before,"
                f" found {score}"
            )
        # The first game in which a side is one point away is the Crawford game.
        one_away = self.match_length > 1 and max(score) == self.match_length - 1
        before = last is not None and max(last.score) == self.match_length - 1
        doubled = any(action.kind == "double" for action in self.actions)
        return BackgammonRecord(
            self.game,
            start,
            match_length=self.match_length,
            score=score,
            crawford=one_away and not before and not doubled,
        )

    def play(self, record: BackgammonRecord, action: _Action, rest: list[_Action]) -> None:
        if action.kind == "roll":
            roll = self.game.parse_roll(action.text)
            if not action.moves and rest and rest[0].kind in ("wins", "resign"):
                if self.game.legal_moves(record.position, roll) != [0]:
                    return  # a side may resign when it sees its roll
            if action.right != bool(record.to_move) and not record.over:
                column, other = ("right", "left") if record.to_move else ("left", "right")
                raise MoveError(f"expected a move in the {column} column, found one in the {other}")
            record.play_text(action.moves or NO_MOVE, roll=roll)
        elif action.kind == "double":
            record.double()
            if action.text and int(action.text) != 2 * record.cube:
                self.problems.append(
                    f"line {action.line}: expected a double to {2 * record.cube}, found"
                    f" {action.text}"
                )
        elif action.kind == "take":
            record.take()
        elif action.kind == "drop":
            record.drop()
        elif action.kind == "wins":
            self.wins(record, action)

    def wins(self, record: BackgammonRecord, action: _Action) -> None:
        """End the game, or compare its outcome with that in the file."""
        points = float(action.text)
        outcome = record.outcome()
        if outcome is None and points:
            record.declare(-points if action.right else points, "resignation")
        elif outcome is None or abs(outcome) != points:
            self.problems.append(
                f"line {action.line}: expected {abs(outcome or 1):g} points, found {points:g}"
            )

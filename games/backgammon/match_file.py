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

from games.backgammon.notation import NO_MOVE, roll_text
from games.backgammon.record import BackgammonRecord
from games.backgammon.replay import ENDS, Action, Heading, ReplayedGame, replay
from games.contract import DiceGame

__all__ = ["RecordedMatch", "ReplayedGame", "read_matches", "write_match"]

LEFT_WIDTH = 28  # of the left column
#: Column from which text belongs to the right player, counted after the number of the line.
RIGHT_FROM = 14
LONGEST_LINE = 1000

_TAG = re.compile(r'[;#]\s*\[\s*([^"\[\]]+?)\s*"(.*)"\s*\]\s*')
_LENGTH = re.compile(r"\s*([0-9]{1,5})[\s-]*points?\s+match\b.*", re.I)
_MONEY = re.compile(r"\s*(?:money|unlimited)\b.*", re.I)
_GAME = re.compile(r"\s*game\s+([0-9]+)\b.*", re.I)
_SCORES = re.compile(r"\s*(\S.*?)?\s*:\s*([0-9]{1,5})\s+(\S.*?)?\s*:\s*([0-9]{1,5})\s*")
_SCORE = re.compile(r"\s*([^:]*?)\s*:\s*([0-9]{1,5})\s*")  # of one player
_LINE = re.compile(r"\s*[0-9]{1,4}[).](.*)")
_ACTION = re.compile(
    r"""
    (?P<roll> (?<![0-9/]) [1-6][1-6] \s* : )
  | (?P<double> \b (?: re )? doubles? \b (?: \s* =+> \s* (?P<value> [0-9]{1,6} ) )? )
  | (?P<take> \b (?: takes? | accepts? ) \b )
  | (?P<beaver> \b beavers? \b )
  | (?P<drop> \b (?: drops? | pass (?: es )? | rejects? | declines? ) \b )
  | (?P<resign> (?<![0-9/]) 00 \s* : (?: \s* \?+ )?
      | \b resign (?: s | ed )? \b
        (?: \s+ (?: a \s+ )? (?: game | match | normal | single | gammon | backgammon ) \b )? )
  | (?: (?P<wins> \b wins? ) | (?P<losses> \b los (?: s | es | ses ) ) )
      \s+ (?P<points> [0-9]{1,7} ) \s+ points? \b (?: \s+ and \s+ the \s+ match \b )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_KINDS = ("roll", "double", "take", "beaver", "drop", "resign", "wins", "losses")


@dataclass
class RecordedMatch:
    """A match, or a session for money (`match_length` 0): its games and who played them.

    `problems` are of lines outside games; each game has its own.
    """

    match_length: int = 0
    players: tuple[str, str] = ("", "")
    tags: dict[str, str] = field(default_factory=dict)
    games: list[ReplayedGame] = field(default_factory=list)
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
    than that of the game, a first cube other than 1 in the middle, the Jacoby rule in some games
    only, an outcome that is not a whole number of points, or names or tags with characters that
    would end them.
    """
    lengths = {record.match_length for record in records}
    if len(lengths) != 1:
        raise ValueError(f"expected games of one match length, found {sorted(lengths)}")
    (length,) = lengths
    jacoby = {record.jacoby for record in records}
    if len(jacoby) != 1:
        raise ValueError("expected the Jacoby rule in all games or in none")
    tags = dict(tags or {}) | ({"Jacoby": "On"} if jacoby == {True} else {})
    for name in players:
        if re.fullmatch(r"\S+(?: \S+)*", name) is None or ":" in name or not name.isprintable():
            raise ValueError(f"expected a name without colons and spare spaces, found {name!r}")
    lines = []
    for tag, value in tags.items():
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
        text = record.game.position_text(record.start)
        raise ValueError(f"a .mat file: expected a game from the start, found {text}")
    if (record.first_cube, record.first_owner) != (1, None):
        raise ValueError(
            f"a .mat file: expected a cube of 1 in the middle at first, found {record.first_cube}"
        )
    cells = list(_cells(record))
    if cells and record.start[4]:
        cells.insert(0, "")
    outcome = record.outcome()
    result = "" if outcome is None else _result(record, outcome)
    if outcome is not None and outcome < 0 and len(cells) % 2:
        # GNU Backgammon takes a result below a drop for another double and drop.
        cells.append(result)
        result = ""
    for number, place in enumerate(range(0, len(cells), 2), 1):
        left, right = (*cells[place : place + 2], "")[:2]
        yield f"{number:3}) {left:<{LEFT_WIDTH}} {right}".rstrip()
    if outcome is not None and result:
        yield f"    {' ' * (LEFT_WIDTH + 1) if outcome < 0 else ''}{result}"


def _result(record: BackgammonRecord, outcome: float) -> str:
    points = abs(int(outcome))
    if points != abs(outcome) or not points:
        raise ValueError(f"a .mat file: expected an outcome of whole points, found {outcome}")
    score = record.final_score()
    match = record.match_length and score is not None and max(score) >= record.match_length
    return f" Wins {points} point{'s' * (points > 1)}{' and the match' * bool(match)}"


def _cells(record: BackgammonRecord) -> Iterator[str]:
    """Returns the actions of both sides in turn, including those of the cube."""
    actions = list(record.actions)
    cube = 1
    for ply in range(record.ply + 1):
        while actions and actions[0].ply == ply:
            kind = actions.pop(0).kind
            cube <<= kind in ("double", "beaver")
            yield {
                "double": f" Doubles => {cube}",
                "take": " Takes",
                "drop": " Drops",
                "beaver": " Beavers",
            }[kind]
        if ply < record.ply:
            roll = record.rolls[ply]
            assert roll is not None
            text = record.game.move_text(record.positions[ply], record.moves[ply])
            yield f"{roll_text(roll)}: {'' if text == NO_MOVE else text}".rstrip()


# --- reading --------------------------------------------------------------------------------------


def read_matches(source: str | Iterable[str], game: DiceGame) -> Iterator[RecordedMatch]:
    """Yields the matches of a .mat text, or of an iterable of lines such as an open file.

    `game` is backgammon. A damaged game never raises an exception: it ends before its fault, and
    reading continues with the next one. If the moves do not end a game, it ends with the points
    that the file states. Whether a game is the Crawford game follows from the scores.
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
        self.match = RecordedMatch()
        self.reading: _Reading | None = None
        #: Tags after the games: those of the next match, if there is one.
        self.following: dict[str, str] = {}
        self.named = False  # whether the line with the names of the game's players was read
        self.above = ""  # the first of two lines with their names

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
        elif line.lstrip()[0] in ";#+|":
            return
        elif (found := _LENGTH.fullmatch(line)) is not None:
            self.match.match_length = int(found[1])
        elif _GAME.fullmatch(line) is not None:
            self.end_game()
            self.reading = _Reading(self.game, self.match, number)
            self.named, self.above = False, ""
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
        if not self.above and _SCORE.fullmatch(line) is not None:
            self.above = line
            return
        self.named, line = True, f"{self.above} {line}".lstrip()
        scores = _SCORES.fullmatch(line)
        if scores is not None:
            self.match.players = (scores[1] or "", scores[3] or "")
            self.reading.score = (int(scores[2]), int(scores[4]))
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

    def finish(self) -> RecordedMatch:
        self.end_game()
        return self.match


class _Reading:
    """A game that is being read; it is played when it is complete."""

    def __init__(self, game: DiceGame, match: RecordedMatch, line: int) -> None:
        self.game = game
        self.match = match
        self.line = line
        self.score: tuple[int, int] | None = None
        self.actions: list[Action] = []
        self.problems: list[str] = []

    def row(self, number: int, text: str) -> None:
        """Note the actions in a line."""
        actions = list(_ACTION.finditer(text))
        ends = [*(match.start() for match in actions[1:]), len(text)][: len(actions)]
        before = text[: actions[0].start()] if actions else text
        if before.strip():
            self.problems.append(
                f"line {number}: expected a roll, a double, its answer or who wins, found"
                f" {before.strip()[:40]!r}"
            )
        for index, (match, end) in enumerate(zip(actions, ends, strict=True)):
            kind = next(kind for kind in _KINDS if match[kind])
            rest = text[match.end() : end].strip()
            if rest and kind != "roll":
                self.problems.append(f"line {number}: expected nothing more, found {rest[:40]!r}")
            word = match[0] if kind == "roll" else match["points"] or match["value"] or ""
            right = index > 0 or match.start() >= RIGHT_FROM
            self.actions.append(Action(kind, word, rest, int(right), number))

    def finish(self, earlier: list[ReplayedGame]) -> ReplayedGame:
        """Play the game that was read; the left column is X's."""
        start = self.game.start()
        first = next((action for action in self.actions if action.kind not in ENDS), None)
        if first is not None and first.side:
            start = (*start[:4], 1)
        length, tags = self.match.match_length, self.match.tags
        heading = Heading(
            self.line,
            length,
            self.score,
            crawford=False if _switch(tags, "Crawford") is False else None,
            jacoby=not length and bool(_switch(tags, "Jacoby")),
            start=start,
        )
        return replay(self.game, heading, self.actions, earlier, self.problems)


def _switch(tags: Mapping[str, str], name: str) -> bool | None:
    """Returns whether a tag such as `[Jacoby "On"]` switches a rule on; None without the tag."""
    words = {"on": True, "1": True, "true": True, "yes": True}
    words |= {"off": False, "0": False, "false": False, "no": False}
    return words.get(tags.get(name, "").strip().lower())

"""Reads games of checkers from PDN, damaged files too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from games.checkers.pdn.game_types import ENGLISH, in_letters, type_text
from games.checkers.pdn.notes import note_of
from games.checkers.pdn.results import OUTCOMES, RESULTS
from games.checkers.pdn.words import MOVE, Word, words_of
from games.checkers.pdn.writer import OWN_TAGS, ROSTER, own_tags
from games.checkers.replay import FEWEST_CHARACTERS, MOST_MOVES, MOST_SQUARES, replay
from games.contract import Game
from games.errors import MoveError, PositionError
from games.record import Annotation, GameRecord
from programs.phrases import shortened

__all__ = ["PdnGame", "read_games"]

_NO_NOTE = Annotation()


class PdnGame(NamedTuple):
    """One game of a PDN file.

    `record` is None if the game is damaged; then the first of `problems` is the cause. If there is
    a record, its moves are certain despite any problems. Each problem begins with the number of
    its line. `tags` are those of the file; with a record, the tags that follow from it are as
    `write_game` writes them, so that Result has White first. `said` is the result in the words of
    the file, such as `1-0`; empty if the file states none.
    """

    tags: dict[str, str]
    record: GameRecord | None
    problems: list[str]
    said: str = ""


def read_games(
    source: str | Iterable[str],
    game: Game,
    *,
    black_first: bool = False,
) -> Iterator[PdnGame]:
    """Yields the games of a PDN text, or of an iterable of lines such as an open file.

    `game` is checkers. Results are taken to be White-Black, and with `black_first` the other way
    round, as in old English files. Records have no draw rules, because the players may not have
    kept to them; a record that its moves do not end ends with the result of the file.

    Variations, marks such as `!` and `$1`, `;` remarks and `%` lines are ignored. A damaged game
    never raises an exception: it comes without a record, and reading continues with the next one.
    """
    lines = source.splitlines() if isinstance(source, str) else source
    reading: _Reading | None = None
    for token in words_of(lines):
        if reading is not None and reading.closed_by(token):
            reading.unfinished(token.line)
            yield reading.finish()
            reading = None
        if reading is None:
            reading = _Reading(game, black_first)
        reading.add(token)
        if reading.result is not None:
            yield reading.finish()
            reading = None
    if reading is not None and not reading.empty:
        reading.unfinished(None)
        yield reading.finish()


class _Reading:
    """A game that is being read."""

    def __init__(self, game: Game, black_first: bool) -> None:
        self.game = game
        self.black_first = black_first
        self.tags: dict[str, tuple[str, int]] = {}
        self.moves: _Moves | None = None
        self.pending: list[Word] = []  # moves that are not played yet
        self.problems: list[str] = []
        self.comments: list[str] = []  # before the first move
        self.damaged = False
        self.variation = 0  # number of open brackets
        self.variation_line = 0
        self.begun = False  # whether the tags are over
        self.parted = False  # whether an empty line came after tags, broken ones too
        self.line = 1  # of the latest word
        self.result: Word | None = None

    @property
    def empty(self) -> bool:
        """Whether the text so far contains nothing of a game."""
        return not (self.tags or self.begun or self.damaged)

    def closed_by(self, token: Word) -> bool:
        """Whether a token already belongs to the next game."""
        if token.kind not in ("tag", "broken"):
            return False
        # A repeated tag belongs to the next of two games without moves, and so does, after an empty
        # line, the tag with which games begin.
        first = self.parted and token.text == ROSTER[0]
        return self.begun or first or token.text in self.tags

    def add(self, token: Word) -> None:
        if token.kind == "blank":
            self.parted = not self.empty
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
        elif token.kind == "moves":
            self.pending.append(token)
        elif token.kind in ("broken", "other"):
            shown = shortened(token.text.strip())
            if token.kind == "broken":
                self.damage(token.line, f'expected a tag such as [Event "?"], found {shown!r}')
            elif in_letters(shown):
                self.damage(token.line, f"expected a move such as 11-15, found {shown!r}, which"
                            " names squares as Russian draughts does")  # fmt: skip
            else:
                self.damage(token.line, f"expected a move, found {shown!r}")

    def play(self) -> None:
        """Play the moves that are pending."""
        pending, self.pending = self.pending, []
        if not pending:
            return
        self.begin()
        if self.damaged or self.moves is None:
            return
        played = self.moves.play("".join(f"{word.text}\n" for word in pending))
        lines = (word.line for word in pending for _ in MOVE.findall(word.text))
        if played is not None:
            ply, cause = played
            line = next(islice(lines, ply - self.moves.before, None))
            self.damage(line, f"move {ply + 1} of the game: {cause}")

    def add_comment(self, text: str) -> None:
        self.play()
        if self.moves is None or not self.moves.notes:
            self.comments.append(text)
        else:
            note, earlier = note_of(text), self.moves.notes[-1]
            if (note.value, note.depth) != (None, None) != (earlier.value, earlier.depth):
                note = Annotation(comment=text)
            self.moves.notes[-1] = Annotation(
                earlier.value if note.value is None else note.value,
                earlier.depth if note.depth is None else note.depth,
                f"{earlier.comment} {note.comment}".strip(),
            )

    def begin(self) -> None:
        """Set up the start position that the tags describe."""
        if self.moves is not None or self.damaged:
            return
        kind, line = self.tag("GameType", ENGLISH)
        if kind.split(",")[0].strip() != ENGLISH:
            self.damage(line, f"expected {type_text(ENGLISH)}, found {type_text(kind)}")
            return
        start = self.game.start()
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
        self.moves = _Moves(self.game, start)

    def tag(self, name: str, default: str) -> tuple[str, int]:
        """Returns the value and line of a tag, ignoring the case of its name."""
        for found, value_and_line in self.tags.items():
            if found.lower() == name.lower():
                return value_and_line
        return default, 0

    def damage(self, line: int, cause: str) -> None:
        """Give the game up, because later problems follow from this one."""
        self.play()
        if not self.damaged:
            self.problems = [f"line {line}: {cause}"]
        self.damaged = True

    def unfinished(self, line: int | None) -> None:
        """Note that the game ended without a result: by the tag on a line, or with the file."""
        after = "the end of the file" if line is None else f"the next game on line {line}"
        if self.variation:
            self.damage(self.variation_line, f"expected ')', found {after}")
        self.problems.append(f"line {self.line}: expected a result, found {after}")

    def finish(self) -> PdnGame:
        self.play()
        self.begin()
        tags = {name: value for name, (value, _) in self.tags.items()}
        if self.damaged or self.moves is None:
            return PdnGame(tags, None, self.problems[:1])
        record = self.moves.record(" ".join(self.comments))
        said = self.settle(record)
        own = {name.lower() for name in OWN_TAGS}
        tags = {name: value for name, value in tags.items() if name.lower() not in own}
        return PdnGame(tags | own_tags(record), record, self.problems, said)

    def settle(self, record: GameRecord) -> str:
        """Find out how the game ended: by its moves, its last word or its tag, in this order.

        Returns the first result of those that the file states.
        """
        said: list[tuple[str, int, float | None]] = []
        if self.result is not None:
            said.append((self.result.text, self.result.line, self.first_view(self.result.text)))
        text, line = self.tag("Result", "*")
        if text in OUTCOMES or text in ("*", "?", ""):
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
        return next((text for text, _, claimed in said if claimed is not None), "")

    def first_view(self, text: str) -> float | None:
        """Returns the value of a result for Black, who begins."""
        outcome = OUTCOMES.get(text)
        return None if outcome is None else outcome if self.black_first else 0.0 - outcome

    def file_text(self, outcome: float) -> str:
        return RESULTS[outcome if self.black_first else 0.0 - outcome]


class _Moves:
    """The moves of a game with their positions and notes."""

    def __init__(self, game: Game, start: Any) -> None:
        self.game = game
        self.notes: list[Annotation] = []
        self.before = 0  # plies before the latest call of `play`
        self._slow: GameRecord | None = None
        self._scratch = np.empty(MOST_SQUARES, np.int64), np.empty(MOST_MOVES, np.int64)
        self._positions = [np.array([start], dtype=np.int64)]
        self._played: list[Any] = []
        self._quiet = [np.zeros(1, dtype=np.int64)]

    def play(self, text: str) -> tuple[int, MoveError] | None:
        """Play the moves of a text. Returns the ply of the first illegal one and the reason."""
        self.before = len(self.notes)
        done = self._slow is None and self._replay(text)
        for move in () if done else MOVE.findall(text)[len(self.notes) - self.before :]:
            if self._slow is None:  # whatever native code did not understand is read slowly
                self._slow = self._fast_record()
            try:
                self._slow.play_text(move)
            except MoveError as error:
                return len(self.notes), error
            self.notes.append(_NO_NOTE)
        return None

    def _replay(self, text: str) -> bool:
        """Play moves natively. Returns whether all of them were understood and legal."""
        codes = np.frombuffer(text.encode("latin-1", "replace"), dtype=np.uint8).astype(np.int64)
        room = len(codes) // FEWEST_CHARACTERS + 2
        positions = np.empty((room, 4), dtype=np.int64)
        played, quiet = np.empty((2, room), dtype=np.int64)
        positions[0], quiet[0] = self._positions[-1][-1], self._quiet[-1][-1]
        played_to = int(replay(codes, positions, played, quiet, *self._scratch))
        plies = played_to if played_to >= 0 else -1 - played_to
        if plies:
            self._positions.append(positions[1 : plies + 1])
            self._quiet.append(quiet[1 : plies + 1])
        self._played += played[:plies].tolist()
        self.notes += [_NO_NOTE] * plies
        return played_to >= 0

    def _fast_record(self) -> GameRecord:
        return GameRecord.of_legal(
            self.game,
            np.concatenate(self._positions),
            list(self._played),
            list(self.notes),
            quiet_plies=np.concatenate(self._quiet).tolist(),
            repetitions=None,
            quiet_moves=None,
        )

    def record(self, comment: str) -> GameRecord:
        """Returns the record of the game, with a comment on the whole game."""
        record = self._slow or self._fast_record()
        record.annotations[:] = self.notes
        record.comment = comment
        return record

"""Reads games of checkers from PDN, damaged files too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from games.checkers.notation import move_text, moves_named, squares_in
from games.checkers.pdn.game_types import ENGLISH, IN_LETTERS, in_letters, other_game, type_text
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

    A damaged game ends before its fault, without a result, and the last of `problems` is the cause;
    `record` is None if it has no move before that. The moves of a record are certain despite any
    problems. Each problem begins with the number of its line. `tags` are those of the file; with a
    record, the tags that follow from it are as `write_game` writes them, so that Result has White
    first. `said` is the result as the file writes it, such as `1-0`; empty if the file states none
    or the game is damaged. `other` are words for another game if it is one, and `standard` is
    whether it has a tag GameType, as in PDN 3.0.
    """

    tags: dict[str, str]
    record: GameRecord | None
    problems: list[str]
    said: str = ""
    other: str = ""
    standard: bool = False


def read_games(
    source: str | Iterable[str],
    game: Game,
    *,
    black_first: bool | None = False,
) -> Iterator[PdnGame]:
    """Yields the games of a PDN text, or of an iterable of lines such as an open file.

    `game` is checkers. Results are taken to be White-Black, and with `black_first` the other way
    round, as in old English files; with None only draws and moves end a game. Records have no draw
    rules, because players may have ignored them. If its moves do not end a game, it ends with the
    result in the file.

    Variations, marks such as `!` and `$1`, `;` remarks and `%` lines are ignored. If several moves
    fit a shortened jump, the later moves decide. A damaged game never raises an
    exception: reading continues with the next one.
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
    """A game that is being read; it is played when it is complete."""

    def __init__(self, game: Game, black_first: bool | None) -> None:
        self.game = game
        self.black_first = black_first
        self.tags: dict[str, tuple[str, int]] = {}
        self.words: list[Word] = []  # with moves
        self.comments: list[tuple[int, str]] = []  # with the number of words before each
        self.problems: list[str] = []
        self.damage = ""  # the error that ends this game
        self.other = ""  # words for another game, if this is one
        self.variation = 0  # number of open brackets
        self.variation_line = 0
        self.begun = False  # whether the tags have ended
        self.parted = False  # whether an empty line came after tags or broken tags
        self.line = 1  # of the latest word
        self.result: Word | None = None

    @property
    def empty(self) -> bool:
        """Whether the text so far contains nothing of a game."""
        return not (self.tags or self.begun or self.damage)

    def closed_by(self, token: Word) -> bool:
        """Whether a token already belongs to the next game."""
        if token.kind not in ("tag", "broken"):
            return False
        # After an empty line, a repeated tag, or the first tag of games, begins another game even
        # if the last has no moves; so does a second start.
        repeated = token.text in self.tags
        parted = self.parted and (repeated or token.text == ROSTER[0])
        return self.begun or parted or (repeated and token.text.lower() == "fen")

    def add(self, token: Word) -> None:
        if token.kind == "blank":
            self.parted = not self.empty
            return
        self.line = token.line
        self.begun |= token.kind not in ("tag", "broken", "comment")
        if token.kind == "tag":
            if not self.tags:
                self.comments.clear()  # the comments were between two games
            self.tags[token.text] = (token.value, token.line)
        elif token.kind == "result":
            if not self.variation:
                self.result = token
        elif token.kind == "open":
            self.variation_line = self.variation_line if self.variation else token.line
            self.variation += 1
        elif token.kind == "close" and self.variation:
            self.variation -= 1
        elif self.damage or (self.variation and token.kind != "open comment"):
            pass
        elif token.kind == "comment":
            self.comments.append((len(self.words), token.text))
        elif token.kind == "moves":
            self.words.append(token)
        else:
            self.damage = f"line {token.line}: {self.cause(token)}"

    def cause(self, token: Word) -> str:
        """Returns what is wrong with a word."""
        shown = shortened(token.text.strip())
        if token.kind == "open comment":
            return "expected a comment that ends with '}'"
        if token.kind == "broken":
            return f'expected a tag such as [Event "?"], found {shown!r}'
        if in_letters(shown):
            self.other = IN_LETTERS
            return f"expected a move such as 11-15, found {shown!r} ({IN_LETTERS})"
        if shown.startswith("/FEN"):
            return "expected a move, found another position (/FEN): make it a game with a tag FEN"
        return f"expected a move, found {shown!r}"

    def begin(self) -> Any:
        """Returns the start position that the tags describe; raises ValueError with its line."""
        kind, line = self.tag("GameType", ENGLISH)
        if kind.split(",")[0].strip() != ENGLISH:
            self.other = type_text(kind)
            raise ValueError(f"line {line}: expected {type_text(ENGLISH)}, found {self.other}")
        fen, line = self.tag("FEN", "")
        if not fen and self.tag("SetUp", "0")[0] == "1":
            line = self.tag("SetUp", "")[1]
            raise ValueError(f"line {line}: expected a tag FEN, because there is SetUp")
        try:
            return self.game.parse_position(fen) if fen else self.game.start()
        except PositionError as error:
            raise ValueError(f"line {line}: tag FEN: {error}") from None

    def tag(self, name: str, default: str) -> tuple[str, int]:
        """Returns the value and line of a tag, ignoring the case of its name."""
        for tag, value_and_line in self.tags.items():
            if tag.lower() == name.lower():
                return value_and_line
        return default, 0

    def unfinished(self, line: int | None) -> None:
        """Note that the game ended without a result: by the tag on a line, or with the file."""
        after = "the end of the file" if line is None else f"the next game on line {line}"
        if self.variation and not self.damage:
            self.damage = f"line {self.variation_line}: expected ')', found {after}"
        self.problems.append(f"line {self.line}: expected a result, found {after}")

    def finish(self) -> PdnGame:
        tags = {name: value for name, (value, _) in self.tags.items()}
        if "Red" in tags:  # older books' word for Black
            tags.setdefault("Black", tags.pop("Red"))
        try:
            start, moves = self.begin(), any(MOVE.search(word.text) for word in self.words)
            record = None if self.damage and not moves else self.played(start)
        except ValueError as error:
            record, self.damage = None, str(error)
        if record is None:
            return PdnGame(tags, None, [self.damage], "", self.other)
        said = "" if self.damage else self.settle(record)
        if self.damage:
            self.problems = [*(one for one in self.problems if "fits" in one), self.damage]
        own = {name.lower() for name in OWN_TAGS}
        tags = {name: value for name, value in tags.items() if name.lower() not in own}
        standard = bool(self.tag("GameType", "")[1])
        return PdnGame(tags | own_tags(record), record, self.problems, said, "", standard)

    def played(self, start: Any) -> GameRecord:
        """Returns the record of the moves up to the first fault.

        Raises ValueError with its line if that is the first move.
        """
        moves = _Moves(self.game, start)
        texts = [MOVE.findall(word.text) for word in self.words]
        fault = moves.play("".join(f"{word.text}\n" for word in self.words))
        lines = [word.line for word, text in zip(self.words, texts, strict=True) for _ in text]
        self.problems[:0] = [f"line {lines[ply]}: {cause}" for ply, cause in moves.settled.items()]
        if fault is not None:
            ply, cause = fault
            self.damage = f"line {lines[ply]}: move {ply + 1} of the game: {cause}"
            if ply == 0 and start == self.game.start():
                self.other = other_game([move for text in texts for move in text])
                if self.other:
                    self.damage = (
                        f"line {lines[0]}: expected {type_text(ENGLISH)}, found {self.other}"
                    )
            if ply == 0:
                raise ValueError(self.damage)
        places = [0, *accumulate(map(len, texts))]
        before = []
        for words, text in self.comments:
            if places[words] == 0:
                before.append(text)
            elif places[words] <= len(moves.notes):
                moves.note(places[words] - 1, text)
        return moves.record(" ".join(before))

    def settle(self, record: GameRecord) -> str:
        """Find out how the game ended: by its moves, its last word or its tag, in this order.

        Returns the first result of those that the file states.
        """
        said = [] if self.result is None else [(self.result.text, self.result.line)]
        text, line = self.tag("Result", "*")
        if text in OUTCOMES or text in ("*", "?", ""):
            said.append((text, line))
        else:
            self.problems.append(f"line {line}: expected a result such as 1-0, found {text!r}")
        outcome = record.outcome()
        for text, line in said:
            claimed = self.first_view(text)
            if claimed is None:
                continue
            if outcome is None:
                record.declare(claimed, "result of the file")
                outcome = claimed
            elif claimed != outcome:
                right = self.file_text(outcome)
                cause = f"expected the result {right} ({record.reason}), found {text}"
                self.problems.append(f"line {line}: {cause}")
        return next((text for text, _ in said if text in OUTCOMES), "")

    def first_view(self, text: str) -> float | None:
        """Returns the value of a result for Black, who begins."""
        outcome = OUTCOMES.get(text)
        if outcome is None or (outcome and self.black_first is None):
            return None
        return outcome if self.black_first else 0.0 - outcome

    def file_text(self, outcome: float) -> str:
        return RESULTS[outcome if self.black_first else 0.0 - outcome]


class _Moves:
    """The moves of a game with their positions and notes."""

    def __init__(self, game: Game, start: Any) -> None:
        self.game = game
        self.notes: list[Annotation] = []
        #: Remarks on moves that only later moves determine, by ply.
        self.settled: dict[int, str] = {}
        self._record: GameRecord
        self._start = start

    def play(self, text: str) -> tuple[int, MoveError] | None:
        """Play the moves of a text. Returns the ply of the first illegal one and the reason."""
        whole, self._record = self._replay(text)
        self.notes = [_NO_NOTE] * self._record.ply
        moves = [] if whole else MOVE.findall(text)
        # moves that native code does not understand are read here
        for ply in range(len(self.notes), len(moves)):
            try:
                self._record.play_text(moves[ply])
            except MoveError as error:
                position = self._record.position
                move = self._settle(position, moves[ply:])
                if move is None:
                    return ply, error
                self._record.play(move)
                said = f"only {move_text(position, move)} fits the moves after it"
                self.settled[ply] = f"expected a move, found {moves[ply].strip()!r}: {said}"
            self.notes.append(_NO_NOTE)
        return None

    def _settle(self, position: Any, texts: list[str]) -> Any | None:
        """Returns the move that the first of these texts names if the others follow, or None."""
        first, *rest = map(squares_in, texts)
        lines = [(move, self.game.play(position, move)) for move in moves_named(position, first)]
        for squares in rest:
            if len({move for move, _ in lines}) < 2 or len(lines) > MOST_MOVES:
                break
            lines = [
                (move, self.game.play(after, reply))
                for move, after in lines
                for reply in moves_named(after, squares)
            ]
        # only one move fits, or the order of its jumps does not matter
        unique = min(len({move for move, _ in lines}), len({after for _, after in lines})) == 1
        return lines[0][0] if unique else None

    def note(self, ply: int, text: str) -> None:
        """Add a comment to a move; the first value of several counts."""
        note, earlier = note_of(text), self.notes[ply]
        if (note.value, note.depth) != (None, None) != (earlier.value, earlier.depth):
            note = Annotation(comment=text)
        self.notes[ply] = Annotation(
            earlier.value if note.value is None else note.value,
            earlier.depth if note.depth is None else note.depth,
            f"{earlier.comment} {note.comment}".strip(),
        )

    def _replay(self, text: str) -> tuple[bool, GameRecord]:
        """Play moves natively. Returns whether all were understood and legal, and the record."""
        codes = np.frombuffer(text.encode("latin-1", "replace"), dtype=np.uint8).astype(np.int64)
        room = len(codes) // FEWEST_CHARACTERS + 2
        positions = np.empty((room, 4), dtype=np.int64)
        played, quiet = np.empty((2, room), dtype=np.int64)
        positions[0], quiet[0] = self._start, 0
        scratch = np.empty(MOST_SQUARES, np.int64), np.empty(MOST_MOVES, np.int64)
        played_to = int(replay(codes, positions, played, quiet, *scratch))
        plies = played_to if played_to >= 0 else -1 - played_to
        return played_to >= 0, GameRecord.of_legal(
            self.game,
            positions[: plies + 1].copy(),
            played[:plies].tolist(),
            [_NO_NOTE] * plies,
            quiet_plies=quiet[: plies + 1].tolist(),
            repetitions=None,
            quiet_moves=None,
        )

    def record(self, comment: str) -> GameRecord:
        """Returns the record of the game, with a comment on the whole game."""
        self._record.annotations[:] = self.notes
        self._record.comment = comment
        return self._record

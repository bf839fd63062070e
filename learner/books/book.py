"""Books: positions with a preferred move, from files of games.

Samuel fitted his polynomial and his signature tables to the moves of master games. An entry holds
everything that a learner needs of such a position: every legal move, the preferred one among them,
and for each the quiet position after the captures that follow, because Samuel judged a move after
the captures.

Source: A. L. Samuel, "Some Studies in Machine Learning Using the Game of Checkers. II - Recent
    Progress", IBM Journal of Research and Development 11 (1967).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from games.contract import Game
from games.file_form import form_of
from games.record import GameRecord
from learner.options import Choice
from programs.phrases import counted
from search import Engine

__all__ = [
    "BookEntry",
    "BookReport",
    "Settler",
    "Skipped",
    "read_records",
    "record_entries",
]

#: The sides whose moves may be learned from.
SIDES = ("winner", "both")
#: Longer capture sequences are cut off.
MOST_CAPTURES = 40


@dataclass(frozen=True)
class BookEntry:
    """A position, its legal moves, and the preferred one among them.

    position: the position.
    moves: its legal moves.
    chosen: index of the preferred move.
    settled: for each move, the quiet position that the captures after it lead to.
    signs: for each move, 1 if the side that chose moves in the settled position, else -1;
        `signs[i] * value(settled[i])` is the value for the side that chose.
    outcomes: for each move, the outcome for the side that chose if the game is over, else None.
    game: number of the game in the book.
    """

    position: Any
    moves: tuple[Any, ...]
    chosen: int
    settled: tuple[Any, ...]
    signs: tuple[float, ...]
    outcomes: tuple[float | None, ...]
    game: int

    @property
    def move(self) -> Any:
        """The preferred move."""
        return self.moves[self.chosen]


class Skipped(NamedTuple):
    """A game that was skipped or repaired: its place in a file, and the reason."""

    path: str
    game: int  # the game's number in its file, from 1
    reason: str  # begins with the line of the fault

    def __str__(self) -> str:
        return f"{self.path}: game {self.game}: {self.reason}"


@dataclass
class BookReport:
    """The figures of reading a book, filled in while it is read.

    games: number of games used.
    found: number of games in the files that were read.
    unread: number of files that were not read, because there were enough games.
    entries: number of entries made from them.
    skipped: the games that were skipped.
    repaired: the games that were used although something other than their moves was damaged.
    orders: for each file whose results may name either side first, the side and the reason.
    positions: by reason, the number of positions of used games that gave no entry.
    """

    games: int = 0
    found: int = 0
    unread: int = 0
    entries: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    repaired: list[Skipped] = field(default_factory=list)
    orders: list[str] = field(default_factory=list)
    positions: Counter[str] = field(default_factory=Counter)

    def text(self, most: int = 8) -> str:
        """Returns the counts, and a line for each of the first `most` games skipped or repaired."""
        skipped = len(self.skipped)
        cut = self.unread > 0 or self.games + skipped < self.found
        total = f" of {self.found}" * cut
        files = f", and {self.unread} file{'s' * (self.unread > 1)} not read" * (self.unread > 0)
        lines = [
            f"{counted(self.entries, 'move')} of {counted(self.games, 'game')}{total}{files};"
            f" {counted(skipped, 'game')} skipped"
        ]
        lines += self.orders
        lines += [f"skipped {game}" for game in self.skipped[:most]]
        lines += [f"repaired {game}" for game in self.repaired[:most]]
        left = max(0, len(self.skipped) - most) + max(0, len(self.repaired) - most)
        return "\n".join([*lines, *([f"and {left} more"] if left else [])])


class Settler:
    """Follows captures until a position is quiet, with searches of one ply.

    Captures are valued by the first hand-crafted evaluator of the game.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self._engine: Engine | None = None

    def __call__(self, position: Any) -> tuple[Any, float]:
        """Returns the quiet (or final) position, and 1 if the same side moves there, else -1."""
        sign = 1.0
        for _ in range(MOST_CAPTURES):
            if not self.game.noisy(position):
                break
            if self._engine is None:
                self._engine = Engine(
                    self.game, next(iter(self.game.evaluators), None), table_mib=1
                )
            result = self._engine.search(position, depth=1).whole()
            if result.move is None:
                break
            for move in result.pv:
                position, sign = self.game.play(position, move), -sign
        return position, sign


def entry_of(position: Any, move: Any, settler: Settler, *, number: int = 0) -> BookEntry | str:
    """Returns the entry of a position and its preferred move, or the reason why it has no entry.

    There is no entry if the position has one legal move or all moves lead to the same position.
    """
    game = settler.game
    moves = tuple(game.legal_moves(position))
    if len(moves) < 2:
        return "one legal move"
    settled, signs = zip(*(settler(game.play(position, one)) for one in moves), strict=True)
    if len(set(settled)) == 1:
        return "all moves lead to the same position"
    ends = zip(map(game.outcome, settled), signs, strict=True)
    outcomes = tuple(None if value is None else -sign * value for value, sign in ends)
    turned = tuple(-sign for sign in signs)
    return BookEntry(position, moves, moves.index(move), settled, turned, outcomes, number)


def record_entries(
    record: GameRecord,
    *,
    number: int = 0,
    side: str = "both",
    settler: Settler | None = None,
    report: BookReport | None = None,
) -> Iterator[BookEntry]:
    """Yields the entries of one game, in order.

    number: the number of the game in the book.
    side: "winner" for the moves of the side that won (no moves if the game is drawn or unfinished),
        "both" for all.
    settler: follows the captures (default: a `Settler` of the game).
    report: counts entries and skipped positions (default: nothing is counted).

    Raises ValueError for an unknown side.
    """
    Choice(SIDES).check("side", side)
    settler = settler or Settler(record.game)
    report = report if report is not None else BookReport()
    movers = _movers(record, side)
    first = record.game.to_move(record.start)
    for ply, move in enumerate(record.moves):
        mover = (first + ply) % 2
        if mover not in movers:
            report.positions["move of the side that lost"] += 1
        else:
            entry = entry_of(record.positions[ply], move, settler, number=number)
            if isinstance(entry, str):
                report.positions[entry] += 1
            else:
                report.entries += 1
                yield entry


def _movers(record: GameRecord, side: str) -> list[int]:
    """Returns the sides (0: the one that begins) whose moves `side` means in a game."""
    if side == "both":
        return [0, 1]
    outcome = record.outcome()
    return [] if not outcome else [0 if outcome > 0 else 1]


def read_records(
    game: Game,
    paths: Sequence[Any],
    *,
    side: str = "both",
    black_first: bool | None = None,
    report: BookReport | None = None,
) -> Iterator[GameRecord]:
    """Yields the games of files in the game's own form, as far as `side` has moves in them.

    paths: the files.
    side: as for `record_entries`; with "winner" drawn games are skipped.
    black_first: whether results name the side first that begins, in forms where they may; None to
        find out from the games of each file.
    report: records the damaged games, which end before their faults, and their places.

    Raises ValueError for a file of another game, and with side "winner" for a file whose games do
    not show which side results name first; OSError if a file cannot be read.
    """
    form = form_of(game)
    report = report if report is not None else BookReport()
    report.unread += len(paths)
    for path in paths:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        try:
            read = list(form.games_in(text, game, black_first))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        report.found += len(read)
        report.unread -= 1
        order = read[0].order if read else None
        if order is not None:
            if side == "winner" and not order.clear:
                raise ValueError(f"{path}: {order}; say black_first=True or black_first=False")
            report.orders.append(f"{path}: {order}")
        for place, one in enumerate(read, 1):
            record = one.record
            if record is None:
                report.skipped.append(Skipped(str(path), place, one.problems[0]))
                continue
            reasons = "; ".join(one.problems)
            if not _movers(record, side):
                reason = "no winner" if record.over else reasons or "no result"
                report.skipped.append(Skipped(str(path), place, reason))
                continue
            if reasons:
                report.repaired.append(Skipped(str(path), place, reasons))
            report.games += 1
            yield record

"""Books: positions with the move that somebody preferred, from files of games or from search.

Samuel had his polynomial and his signature tables agree with the moves of master games. An entry
holds all that a learner asks of such a position: every legal move, which of them was preferred,
and for each the quiet position that the captures after it lead to, since Samuel judged a move when
captures had been resolved.

Source: A. L. Samuel, "Some Studies in Machine Learning Using the Game of Checkers. II - Recent
Progress", IBM Journal of Research and Development 11 (1967).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from games.contract import Game
from games.file_form import form_of
from games.record import GameRecord
from play.match.openings import Openings
from search import PROVEN, Engine

__all__ = [
    "BookEntry",
    "BookReport",
    "Settler",
    "Skipped",
    "make_book",
    "read_book",
    "record_entries",
]

SIDES = ("winner", "both")
#: A capture sequence that goes on longer than this is taken as it stands.
MOST_CAPTURES = 40


@dataclass(frozen=True)
class BookEntry:
    """A position, its legal moves, and which of them was preferred.

    `settled[i]` is the quiet position that the captures after `moves[i]` lead to, and `signs[i]`
    is 1 where the side that chose is to move there, -1 where the other is, so that
    `signs[i] * value(settled[i])` is for the side that chose. `outcomes[i]` is what the game is
    then worth to that side where it is over, else None. `game` tells games of a book apart.
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
    """A game that was not, or not in full, learned from: where it is and why."""

    path: str
    game: int  # in its file, from 1
    reason: str  # begins with the line where the reader found fault

    def __str__(self) -> str:
        return f"{self.path}: game {self.game}: {self.reason}"


@dataclass
class BookReport:
    """What reading a book came to; filled in while it is read.

    `games` were read, `entries` came of them. `skipped` lists the games left out, `repaired` those
    that were used although something was wrong beside the moves. `positions` counts, by reason,
    the positions of games used that are no entries.
    """

    games: int = 0
    entries: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    repaired: list[Skipped] = field(default_factory=list)
    positions: Counter[str] = field(default_factory=Counter)

    def text(self, most: int = 8) -> str:
        """What was read, and of games skipped or repaired the first `most`, a line each."""
        lines = [f"{self.entries} moves; {len(self.skipped)} games skipped"]
        lines += [f"skipped {one}" for one in self.skipped[:most]]
        lines += [f"repaired {one}" for one in self.repaired[:most]]
        left = max(0, len(self.skipped) - most) + max(0, len(self.repaired) - most)
        return "\n".join([*lines, *([f"and {left} more"] if left else [])])


class Settler:
    """Follows captures until the position is quiet, as the quiescence of the search does.

    evaluator: what weighs one capture against another; anything `search.as_evaluator` takes.
    """

    def __init__(self, game: Game, evaluator: Any = "material") -> None:
        self.game = game
        self._evaluator = evaluator
        self._engine: Engine | None = None

    def __call__(self, position: Any) -> tuple[Any, float]:
        """The quiet (or finished) position, and 1 if the same side is to move there, else -1."""
        sign = 1.0
        for _ in range(MOST_CAPTURES):
            if not self.game.noisy(position):
                break
            if self._engine is None:
                self._engine = Engine(self.game, self._evaluator, table_mib=1)
            result = self._engine.search(position, depth=1)
            if result.interrupted:
                raise KeyboardInterrupt
            if result.move is None:
                break
            for move in result.pv:
                position, sign = self.game.play(position, move), -sign
        return position, sign


def entry_of(
    game: Game, position: Any, move: Any, settler: Settler, *, number: int = 0
) -> BookEntry | str:
    """The entry of a position and the move preferred in it; else why there is none.

    There is none where there is one legal move, and where all moves come to the same position.
    """
    moves = tuple(game.legal_moves(position))
    if len(moves) < 2:
        return "one legal move"
    settled, signs, outcomes = [], [], []
    for other in moves:
        quiet, sign = settler(game.play(position, other))
        outcome = game.outcome(quiet)
        settled.append(quiet)
        signs.append(-sign)
        outcomes.append(None if outcome is None else -sign * outcome)
    if len(set(settled)) == 1:
        return "all moves come to the same"
    chosen = moves.index(move)
    return BookEntry(position, moves, chosen, tuple(settled), tuple(signs), tuple(outcomes), number)


def record_entries(
    record: GameRecord,
    *,
    number: int = 0,
    side: str = "both",
    skip_plies: int = 0,
    searched: bool = False,
    settler: Settler | None = None,
    report: BookReport | None = None,
) -> Iterator[BookEntry]:
    """The entries of one game, in order.

    number: their `game`. side: "winner" for the moves of the side that won (none of a game drawn
    or not over), "both" for all. skip_plies: leave out so many moves at the start. searched: only
    moves that carry the depth of a search. Raises ValueError for an unknown side.
    """
    check_side(side, skip_plies)
    settler = settler or Settler(record.game)
    report = report if report is not None else BookReport()
    outcome = record.outcome() or 0.0
    first = record.game.to_move(record.start)
    played = zip(record.positions, record.moves, record.annotations, strict=False)
    for ply, (position, move, annotation) in enumerate(played):
        mover = (first + ply) % 2
        if ply < skip_plies:
            report.positions["opening"] += 1
        elif side == "winner" and (outcome > 0) != (mover == 0):
            report.positions["move of the side that lost"] += 1
        elif searched and annotation.depth is None:
            report.positions["not searched"] += 1
        else:
            entry = entry_of(record.game, position, move, settler, number=number)
            if isinstance(entry, str):
                report.positions[entry] += 1
            else:
                report.entries += 1
                yield entry


def check_side(side: str, skip_plies: int) -> None:
    """Raise ValueError unless these are options to read a book with."""
    if side not in SIDES:
        raise ValueError(f"side: expected one of {', '.join(SIDES)}, found {side!r}")
    if skip_plies < 0:
        raise ValueError(f"skip_plies: expected at least 0, found {skip_plies}")


def read_book(
    game: Game,
    paths: Any,
    *,
    side: str = "winner",
    skip_plies: int = 0,
    searched: bool = False,
    settle: Any = "material",
    black_first: bool = False,
    report: BookReport | None = None,
) -> Iterator[BookEntry]:
    """The entries of files of games in the game's own form, game after game, numbered from 0.

    paths: a path or several.
    side, skip_plies, searched: as for `record_entries`; side "winner" passes drawn games over.
    settle: the evaluator that weighs captures.
    black_first: whether results name the side first that begins, in forms that know of it.
    report: gets the damaged games, which are passed over, and where they stand.

    Raises ValueError for a bad option, and OSError for a file that cannot be read.
    """
    check_side(side, skip_plies)
    several = [paths] if isinstance(paths, (str, Path)) else list(paths)
    report = report if report is not None else BookReport()
    settler = Settler(game, settle)

    def entries() -> Iterator[BookEntry]:
        records = read_records(game, several, side=side, black_first=black_first, report=report)
        for number, record in enumerate(records):
            yield from record_entries(
                record,
                number=number,
                side=side,
                skip_plies=skip_plies,
                searched=searched,
                settler=settler,
                report=report,
            )

    return entries()


def read_records(
    game: Game,
    paths: Sequence[Any],
    *,
    side: str = "both",
    black_first: bool = False,
    report: BookReport | None = None,
) -> Iterator[GameRecord]:
    """The games of files that can be read; with side "winner" those that somebody won.

    Options and errors as for `read_book`.
    """
    form = form_of(game)
    read = form.read_black_first if black_first and form.read_black_first else form.read
    report = report if report is not None else BookReport()
    for path in paths:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        for place, (record, _, problems, *_) in enumerate(read(text, game), 1):
            if record is None:
                report.skipped.append(Skipped(str(path), place, problems[0]))
                continue
            if problems:
                report.repaired.append(Skipped(str(path), place, "; ".join(problems)))
            if side == "winner" and not record.outcome():
                reason = "no winner" if record.over else "no result"
                report.skipped.append(Skipped(str(path), place, reason))
                continue
            report.games += 1
            yield record


def make_book(
    game: Game,
    evaluator: Any,
    *,
    games: int,
    depth: int,
    seed: int = 0,
    skip: int = 0,
    opening_plies: int = 6,
    most_plies: int = 160,
    quiet_moves: int = 10,
    table_mib: float = 16.0,
    watch: Callable[[GameRecord], None] | None = None,
) -> Iterator[GameRecord]:
    """Games that a search of `depth` plies plays against itself, each from another opening.

    Every move after the opening carries its value and depth, and is what
    `record_entries(..., searched=True)` takes. A game ends where search has found it decided; it is
    drawn after `most_plies` plies, or `quiet_moves` moves of each side that could be taken back,
    for aimless moves teach nothing. The first `skip` games are left out. `watch` is called with
    every game. Raises ValueError for a number below 1.
    """
    numbers = {"games": games, "depth": depth, "most_plies": most_plies, "quiet_moves": quiet_moves}
    for name, value in numbers.items():
        if value < 1:
            raise ValueError(f"{name}: expected at least 1, found {value}")
    openings = Openings(game, plies=opening_plies, seed=seed)
    engine = Engine(game, evaluator, table_mib=table_mib)

    def records() -> Iterator[GameRecord]:
        for opening in islice(openings, skip, games):
            record = GameRecord(game, quiet_moves=quiet_moves)
            for move in opening:
                record.play(move)
            _play_on(record, engine, depth, most_plies)
            if watch is not None:
                watch(record)
            yield record

    return records()


def _play_on(record: GameRecord, engine: Engine, depth: int, most_plies: int) -> None:
    engine.clear()
    while not record.over and record.ply < most_plies:
        result = engine.search(record.position, depth=depth, history=record.history)
        if result.interrupted:
            raise KeyboardInterrupt
        mover = record.to_move
        record.play(result.move, value=result.value, depth=result.depth)
        if abs(result.value) > PROVEN and not record.over:
            won = result.value > 0
            record.declare(1.0 if won == (mover == 0) else -1.0, "decided")
    if not record.over:
        record.declare(0.0, f"{most_plies} plies")

"""Studying a book: games from files, and the moves chosen in them.

The signature tables of `learner.books.signature` learn from a book in this frame, with the
progress, checkpoints and report of all learners. Some games are held out; the study ends with
the evaluator's agreement with the moves of these.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from games.contract import Game
from games.record import GameRecord
from learner.books.agreement import Agreement, agreement
from learner.books.book import (
    SIDES,
    BookEntry,
    BookReport,
    Settler,
    read_records,
    record_entries,
)
from learner.books.signature import SignatureTables
from learner.frame import Progress
from learner.game_learner import GameLearner
from learner.options import choice, ranged
from learner.positions.filters import Games
from programs.phrases import counted
from search.evaluators.signature_layout import layout_of

__all__ = ["BookStudy"]


@dataclass(kw_only=True, eq=False, repr=False)
class BookStudy(GameLearner):
    """An evaluator that prefers the moves of a book.

    book: files of games, separated by commas.
    games: maximum number of games to study.
    side: learn from the moves of the "winner" or of "both".
    black_first: whether results in the book name the side first that begins, as in old English
        files (default: find out from its games).
    held_out: share of the games that agreement is measured on, which are not learned from.

    After `fit`: `evaluator_`; `agreement_` with the games held out, or None without any;
    `book_`, the report on games read and skipped.
    """

    games: int = 400
    book: str = ""
    side: str = choice("both", SIDES)
    black_first: bool | None = None
    held_out: float = ranged(0.2, 0, below=1)

    agreement_: Agreement | None = field(init=False)

    def _load_game(self) -> Game:
        layout_of(super()._load_game())
        return self.game_

    def begin(self, evaluator: Any) -> None:
        """Takes no evaluator to start from, because material is fixed."""
        game = self.game_
        if evaluator not in (None, "material"):
            raise ValueError(f"expected no evaluator to start from, found {evaluator!r}")
        self.learner_ = SignatureTables(game)
        self.learner_.prepare()
        self.book_ = BookReport()
        self._settler = Settler(game)
        self._held: list[BookEntry] = []
        count = sum(1 for _ in islice(self._read(BookReport()), self.games))
        if not count:
            raise ValueError(f"book: expected games in {self.book}, found none")
        self.games = count  # a book may have fewer games

    def learn(self) -> Generator[Progress, None, None]:
        """As in `Learner`; a resumed study reads its games again."""
        finished = self.games_played_
        for number, record in enumerate(islice(self._read(self.book_), self.games)):
            self._study(number, record)
            if number >= finished:
                self.games_played_ = number + 1
                yield self.progress(record)
        self.agreement_ = agreement(self.evaluator_, self._held) if self._held else None

    def _check_options(self) -> None:
        super()._check_options()
        for path in self._paths():
            if not path.is_file():
                raise FileNotFoundError(f"book: expected a PDN file, but {path} does not exist")
        if not self.book:
            raise ValueError("book: expected files of games (--set book=FILE.pdn), found none")

    def _paths(self) -> list[Path]:
        return [Path(path) for path in self.book.split(",") if path]

    @property  # type: ignore[misc]
    def evaluator_(self) -> Any:  # type: ignore[override]
        """The evaluator learned so far."""
        return self.learner_.evaluator_

    def _read(self, report: BookReport) -> Iterator[GameRecord]:
        return read_records(
            self.game_, self._paths(), side=self.side, black_first=self.black_first, report=report
        )

    def _study(self, number: int, record: GameRecord) -> None:
        entries = list(
            record_entries(
                record, number=number, side=self.side, settler=self._settler, report=self.book_
            )
        )
        held = Games(0.0, self.held_out, self.seed).holds(number)[0] if self.held_out else False
        if held:
            self._held += entries
            return
        if number >= self.games_played_:
            self.updates_ += len(entries)
        self.learner_.partial_fit(entries)

    # --- state --------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        read = [hashlib.sha256(path.read_bytes()).hexdigest() for path in self._paths()]
        return {"read": {"digests": read}}

    def _set_state(self, state: dict[str, Any]) -> None:
        read, now = state["read"]["digests"], self._get_state()["read"]["digests"]
        if read != now:
            raise ValueError(
                f"book: expected the {counted(len(read), 'file')} that the run read, found"
                f" {counted(len(now), 'file')} in {self.book}, {len(set(now) - set(read))} of them"
                " new or changed"
            )

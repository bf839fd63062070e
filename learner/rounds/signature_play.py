"""Signature tables by self-play: the moves that search prefers in the games serve as the book.

It plays in rounds (`learner.rounds.frame`): the tables are learned anew from the moves that search
preferred in the games of the last rounds (`learner.books.signature`), and then play the next games.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from games.record import Annotation, GameRecord
from learner.books.book import BookEntry, Settler, record_entries
from learner.books.signature import SignatureTables
from learner.rounds.frame import RoundLearner
from learner.self_play import Lesson
from play.workers import Workers
from search.evaluators.signature import SignatureEvaluator
from search.evaluators.signature_layout import layout_of

__all__ = ["SignaturePlay"]

SAMUELS = {"men": 1.0, "kings": 1.5}


@dataclass(kw_only=True, eq=False, repr=False)
class SignaturePlay(RoundLearner):
    """Signature tables that learn from the moves their own search prefers.

    material: fixed weights of the layout's terms of material (None: a king counts 3/2 men, as in
        Samuel's program).
    method, smoothing, antisymmetric: see `SignatureTables`.

    The tables begin empty, so that material alone plays the first games.

    After `fit`: `evaluator_`, a SignatureEvaluator, and `tables_`, the SignatureTables of the last
    round.
    """

    games: int = 1500
    material: dict[str, float] | None = None
    method: str = "logistic"
    smoothing: float | None = None
    antisymmetric: bool = True
    round_games: int = 500
    keep_rounds: int = 3
    opening_plies: int = 4
    decide: bool = True

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        if evaluator not in (None, "material"):
            raise ValueError(
                f"expected to start from material alone, with empty tables; found {evaluator!r}"
            )
        self.tables_ = self._learner()
        self.tables_.prepare()
        self._settler = Settler(self.game_)
        #: the games of the rounds to learn from: number, opening and moves, and their entries
        self._games: list[tuple[int, int, list[Any]]] = []
        self._entries: list[list[BookEntry]] = []
        self.evaluator_ = self.tables_.evaluator_

    def _learner(self) -> SignatureTables:
        material = self.material
        if material is None:
            known = layout_of(self.game_).material
            material = {term: worth for term, worth in SAMUELS.items() if term in known}
        return SignatureTables(
            self.game_,
            material=material,
            method=self.method,
            smoothing=self.smoothing,
            antisymmetric=self.antisymmetric,
        )

    def _keep(self, lessons: list[Lesson]) -> None:
        for number, lesson in enumerate(lessons, start=self.games_played_):
            played = lesson.played
            self._games.append((number, played.opening, played.moves))
            self._entries.append(self._entries_of(*self._games[-1]))
            self.updates_ += len(self._entries[-1])

    def _entries_of(self, number: int, opening: int, moves: list[Any]) -> list[BookEntry]:
        positions = [self.game_.start()]
        for move in moves:
            positions.append(self.game_.play(positions[-1], move))
        notes = [Annotation()] * len(moves)
        record = GameRecord.of_legal(self.game_, positions, list(moves), notes)
        return list(
            record_entries(record, number=number, skip_plies=opening, settler=self._settler)
        )

    def _fit_round(self, workers: Workers) -> dict[str, float]:
        first = self.first_kept()
        recent = [place for place, game in enumerate(self._games) if game[0] >= first]
        self._games = [self._games[place] for place in recent]
        self._entries = [self._entries[place] for place in recent]
        self.tables_ = self._learner()
        self.tables_.fit(entry for entries in self._entries for entry in entries)
        self.evaluator_ = self.tables_.evaluator_
        return {"preferred moves": float(self.tables_.entries_)}

    # --- state --------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        evaluator = self.evaluator_
        assert isinstance(evaluator, SignatureEvaluator)
        return {
            **super().get_state(),
            "kept": {"games": self._games},
            "tables": {name: table.ravel().tolist() for name, table in evaluator.tables.items()},
            "scale": float(evaluator.scale[0]),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        super().set_state(state)
        evaluator = self.evaluator_
        assert isinstance(evaluator, SignatureEvaluator)
        for name, table in evaluator.tables.items():
            table[:] = np.reshape(state["tables"][name], table.shape)
        evaluator.scale[0] = state["scale"]
        self._games = [(int(n), int(o), list(moves)) for n, o, moves in state["kept"]["games"]]
        self._entries = [self._entries_of(*game) for game in self._games]

"""Learning the values of all players: rounds of self-play, and a fit of the chance to come first.

A position is worth to each player its chance to come first. One linear evaluator gives the values
of all: each player's is that of the position turned to it (`Game.turn`), so that a position of n
players is n examples, labelled by who came first (logistic regression, as in
`learner.fit.logistic`). Learning begins near the end of the game, where random play still finds
it, and moves towards the start from round to round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from games.contract import Game
from games.features import FeatureSet
from games.record import GameRecord
from learner.learner import Learner, Progress, feature_set
from search import Engine, LinearEvaluator

__all__ = ["MultiplayerLearner"]


@dataclass(kw_only=True, eq=False, repr=False)
class MultiplayerLearner(Learner):
    """Fits a linear evaluator for games of more than two players, from nothing.

    features: a feature set or its name (None: the game's first).
    rounds: number of fits; `games` is divided among them.
    method: the method of the searches, see `search.MultiplayerOptions`.
    random_moves: share of moves played at random, so that games differ.
    ridge: strength of the pull of standardised weights towards 0.
    most_plies: longer games are not learned from.

    After `fit`: `evaluator_`, and `rounds_`, the figures of each round as plain numbers.
    """

    games: int = 400
    depth: int | None = 2
    features: Any = None
    rounds: int = 10
    method: str = "paranoid"
    random_moves: float = 0.1
    ridge: float = 1.0
    most_plies: int = 300

    takes_many: ClassVar[bool] = True
    evaluator_: LinearEvaluator = field(init=False)
    features_: FeatureSet = field(init=False)
    rounds_: list[dict[str, float]] = field(init=False)

    def _check_options(self) -> None:
        super()._check_options()
        if not 1 <= self.rounds <= self.games:
            raise ValueError(f"rounds: expected 1 to {self.games}, found {self.rounds}")
        if not 0 <= self.random_moves < 1:
            raise ValueError(f"random_moves: expected 0 to 1, found {self.random_moves}")
        if not self.ridge > 0:
            raise ValueError(f"ridge: expected more than 0, found {self.ridge}")
        if self.most_plies < 1:
            raise ValueError(f"most_plies: expected at least 1, found {self.most_plies}")

    def prepare(self, evaluator: Any = None) -> None:
        """Raises ValueError for an evaluator, because learning begins with nothing."""
        if evaluator is not None:
            raise ValueError(f"expected no evaluator to start from, found {evaluator!r}")
        self._load_game()
        self._check_options()
        self.features_ = feature_set(self.game_, self.features)
        zeros = np.zeros(len(self.features_))
        self.evaluator_ = LinearEvaluator(self.game_, self.features_, zeros, name="multiplayer")
        self.games_played_ = self.updates_ = 0
        self.rounds_ = []
        self._rows: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []

    def fit(
        self,
        evaluator: Any = None,
        *,
        resume: dict[str, Any] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> MultiplayerLearner:
        self.prepare(evaluator)
        if resume is not None:
            self._resume(resume)
        for number in range(len(self.rounds_), self.rounds):
            self._round(number, watch)
        return self

    def get_state(self) -> dict[str, Any]:
        return {
            "weights": self.evaluator_.weights.tolist(),
            "rounds": self.rounds_,
            "rows": [[part.tolist() for part in rows] for rows in self._rows],
        }

    def set_state(self, state: dict[str, Any]) -> None:
        self.evaluator_.weights[:] = state["weights"]
        self.rounds_ = list(state["rounds"])
        self._rows = [
            (np.array(terms), np.array(labels), np.array(shares))
            for terms, labels, shares in state["rows"]
        ]

    def _round(self, number: int, watch: Callable[[Progress], None] | None) -> None:
        """Play the games of a round, and fit the evaluator to those of all rounds."""
        engine = Engine(self.game_, self.evaluator_, table_mib=1.0, method=self.method)
        # the last two rounds begin at the start, the others ever farther from the end
        farthest = 8 * 2**number if number < self.rounds - 2 else 0
        last = number == self.rounds - 1
        share = self.games // self.rounds + (self.games % self.rounds if last else 0)
        views: list[NDArray[Any]] = []
        labels: list[int] = []
        shares: list[float] = []  # every game counts alike
        finished = 0
        for index in range(share):
            generator = np.random.default_rng((self.seed, number, index))
            engine.clear()
            late = int(generator.integers(1, farthest + 1)) if farthest else None
            record = self._play(engine, generator, late)
            outcomes = record.outcomes() if record.over else None
            if outcomes is not None and max(outcomes) > min(outcomes):
                finished += 1
                for position in record.positions[:-1]:
                    for player in range(self.game_.players):
                        side = (self.game_.to_move(position) + player) % self.game_.players
                        view = position
                        for _ in range(player):
                            view = self.game_.turn(view)
                        views.append(view)
                        labels.append(int(outcomes[side] == max(outcomes)))
                        shares.append(1.0 / record.ply)
            self.games_played_ += 1
            if watch is not None:
                watch(Progress(self.games_played_, self.games, record, self.updates_))
        if views:
            terms = self.features_.measure(np.array(views))
            self._rows.append((terms, np.array(labels), np.array(shares)))
        if self._rows:
            self._fit()
        self.rounds_.append({"finished": finished, "rows": len(labels)})

    def _play(self, engine: Engine, generator: Any, late: int | None) -> GameRecord:
        game: Game = self.game_
        start = game.start() if late is None else game.late_position(late, generator)
        record = GameRecord(game, start)
        while not record.over and record.ply < self.most_plies:
            moves = game.legal_moves(record.position)
            if generator.random() < self.random_moves:
                record.play(moves[int(generator.integers(len(moves)))])
                continue
            result = engine.search(record.position, depth=self.depth, nodes=self.nodes)
            if result.interrupted:
                raise KeyboardInterrupt
            record.play(result.move, value=result.value, depth=result.depth)
        return record

    def _fit(self) -> None:
        terms, labels, shares = (np.concatenate(parts) for parts in zip(*self._rows, strict=True))
        self.updates_ += len(labels)
        spread = terms.std(axis=0)
        used = spread > 0
        if len(set(labels.tolist())) < 2 or not used.any():
            return
        model = LogisticRegression(C=1.0 / self.ridge, max_iter=500)
        model.fit(
            (terms[:, used] - terms[:, used].mean(axis=0)) / spread[used], labels, shares * 10
        )
        weights = np.zeros(len(spread))
        weights[used] = model.coef_[0] / spread[used]
        self.evaluator_.weights[:] = weights

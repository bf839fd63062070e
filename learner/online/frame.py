"""Learning while playing: Alpha learns, and plays against Beta, whose weights are frozen.

Samuel's generalisation learner and its modern variant share this frame: games of self-play from
varied openings, a search for every move, a correction after each of Alpha's moves, and after each
game the question whether Beta takes over Alpha's weights. The subclass defines the correction.

In games with dice a position of Alpha's is compared with its own backup, the exact average over all
rolls (`learner.dice_play`), and not with the position a move later, because that difference is
mostly luck of the dice.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from games.kernels.chance import stream
from games.record import GameRecord
from learner.frame import Progress
from learner.game_learner import GameLearner, feature_set, linear_start
from play.dice import Dice
from search import PROVEN, Engine, LinearEvaluator, Result

__all__ = ["OnlineLearner", "Step", "decided"]

#: A learner's table is small: its searches are short, and clearing it costs time.
TABLE_MIB = 1.0
MOST_PLIES = 400


@dataclass(frozen=True)
class Step:
    """A position with Alpha to move, its terms, and the result of Alpha's search."""

    position: Any
    terms: NDArray[np.float64]
    result: Result
    material: float


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineLearner(GameLearner):
    """The base class of learners that correct their weights move by move.

    Options beside those of `GameLearner`:

    features: a feature set or its name.
    fixed: weights by term that are never learned, whatever evaluator learning starts from (None:
        the `usual_fixed` of the learner, for terms that the feature set has).
    settle: whether to value Alpha's positions after the pending captures.
    """

    games: int = 300
    features: Any
    fixed: dict[str, float] | None = None
    settle: bool = True
    opening_plies: int = 3

    usual_fixed: ClassVar[dict[str, float]] = {}

    # --- what a subclass says -----------------------------------------------------------------

    def _begin(self, start: LinearEvaluator) -> None:
        """Set up the learner from the evaluator to start from."""
        raise NotImplementedError

    def _correct(self, earlier: list[Step], now: Step) -> bool:
        """Learn about Alpha's earlier positions, newest last, from the search at `now`.

        In games with dice `earlier` holds `now` alone. Returns whether weights changed.
        """
        raise NotImplementedError

    def _after_game(self, alpha_won: float) -> str:
        """Update the learner after a game (1 won, 0 drawn, -1 lost); returns a note."""
        raise NotImplementedError

    # --- learning -----------------------------------------------------------------------------

    def begin(self, evaluator: Any) -> None:
        """Without an evaluator all weights but the fixed ones start at 0."""
        self.features_ = feature_set(self.game_, self.features)
        start, fixed = linear_start(
            self.game_,
            self.features_,
            self.fixed,
            evaluator,
            usual=self.usual_fixed,
            name=type(self).__name__.lower(),
        )
        self.fixed_ = np.array([term in fixed for term in self.features_.names])
        self._alpha = start
        self._beta = start.copy()
        self._alpha_engine = Engine(self.game_, self._alpha, table_mib=TABLE_MIB)
        self._beta_engine = Engine(self.game_, self._beta, table_mib=TABLE_MIB)
        self.evaluator_ = self._alpha
        self._begin(start)

    def learn(self) -> Generator[Progress, None, None]:
        for opening in islice(self._openings(), self.games_played_, self.games):
            record, side, alpha_won = self._play(self.games_played_, opening)
            note = self._after_game(alpha_won)
            self.games_played_ += 1
            yield self.progress(record, note, side)

    # --- one game -----------------------------------------------------------------------------

    def _play(self, number: int, opening: tuple[Any, ...]) -> tuple[GameRecord, int, float]:
        """Play a game; returns its record, Alpha's side and Alpha's outcome.

        opening: its first moves, or with dice the seeds of these.
        """
        side = number % 2
        game: Any = self.game_
        record = GameRecord(game)
        dice = Dice(game) if game.dice else None
        first = 0 if dice is None else stream(*opening)
        for move in opening if dice is None else ():
            record.play(move)
        self._alpha_engine.clear()
        self._beta_engine.clear()
        steps: list[Step] = []
        while not record.over and record.ply < MOST_PLIES:
            position, alpha = record.position, record.to_move == side
            engine = self._alpha_engine if alpha else self._beta_engine
            if dice is not None:
                if alpha:
                    now = self._step(position, self._search(engine, position, depth=self.plies + 1))
                    self._learn([now], now)
                roll = dice.roll(first, record.ply)
                result = self._search(engine, position, roll=roll, depth=self.plies)
                record.play(result.move, roll=roll, value=result.value, depth=result.depth)
                continue
            limits = {"depth": self.depth, "nodes": self.nodes}
            result = self._search(engine, position, history=record.history, **limits)
            if alpha:
                now = self._step(position, result)
                if steps:
                    self._learn(steps, now)
                steps.append(now)
            record.play(result.move, value=result.value, depth=result.depth)
        return record, side, _won(record, side)

    def _search(self, engine: Engine, position: Any, **limits: Any) -> Result:
        result = engine.search(position, **limits)
        if result.interrupted:
            raise KeyboardInterrupt
        return result

    def _learn(self, earlier: list[Step], now: Step) -> None:
        if self._correct(earlier, now):
            self.updates_ += 1
            # the transposition table holds values by the old weights
            self._alpha_engine.clear()

    def _step(self, position: Any, result: Result) -> Step:
        if self.settle and self.game_.noisy(position):
            quiet, sign = self._settle(position)
            terms = sign * self.features_.measure([quiet])[0]
        else:
            terms = self.features_.measure([position])[0]
        return Step(position, terms, result, float(terms @ np.where(self.fixed_, 1.0, 0.0)))

    def _static(self, terms: NDArray[np.float64]) -> float:
        return float(self._alpha.weights @ terms)

    def _settle(self, position: Any) -> tuple[Any, float]:
        """Returns the quiet position after the captures, and the sign of its value here."""
        sign = 1.0
        for _ in range(40):
            if not self.game_.noisy(position):
                break
            result = self._search(self._alpha_engine, position, depth=1)
            if result.move is None:
                break
            position, sign = self.game_.play(position, result.move), -sign
        return position, sign


def _won(record: GameRecord, side: int) -> float:
    """Returns the outcome of a game for a side; 0 if the game was broken off."""
    if not record.over:
        record.declare(0.0, f"{MOST_PLIES} plies")
    outcome = record.outcome() or 0.0
    return -outcome if side else outcome


def decided(value: float) -> bool:
    """Returns whether a value from search means that the game is won or lost."""
    return abs(value) > PROVEN

"""Learning while playing: Alpha, who learns, against Beta, who is frozen.

The frame that Samuel's generalisation learner and its modern reading share: games of self-play
from varied openings, a search for every move, a correction after every move of Alpha's, and after
each game the question whether Beta takes over what Alpha has learned. What a correction is, the
subclass says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

import games as all_games
from games.contract import Game
from games.features import FeatureSet
from games.record import GameRecord
from play.openings import Openings
from search import WIN, Engine, LinearEvaluator, Result, as_evaluator

__all__ = ["OnlineLearner", "Progress", "Step", "check_limits", "decided", "identity_of"]

#: A learner's table is small: its searches are short, and clearing it costs time.
TABLE_MIB = 1.0
MOST_PLIES = 400


@dataclass(frozen=True)
class Step:
    """One position of Alpha's and what Alpha's search made of it."""

    position: Any
    terms: NDArray[np.float64]
    result: Result
    material: float


@dataclass(frozen=True)
class Progress:
    """Where learning stands after a game."""

    game: int
    games: int
    record: GameRecord
    alpha_side: int
    updates: int
    note: str = ""


class OnlineLearner(BaseEstimator):  # type: ignore[misc]
    """What learners that correct their weights move by move have in common.

    game: the game or its name. games: how many to play. depth: plies of every search; or nodes:
    positions of every search. features: a feature set or its name. fixed: weights that are given
    and never learned, by term; they hold whatever evaluator learning starts from (None: the
    `usual_fixed` of the learner, for terms that the feature set has). seed: decides everything
    else. settle: value Alpha's positions after the captures that are pending. opening_plies: plies
    before a game begins to count, first all positions after so many, then random ones after more.
    within: use only openings whose value is at most that far from even (None: all), by the
    evaluator `judge` searching 7 plies.

    After `fit`: `evaluator_` (the last weights), `updates_`, `games_played_`, and what the
    subclass adds.
    """

    game: Any
    games: int
    depth: int | None
    nodes: int | None
    features: Any
    fixed: dict[str, float] | None
    seed: int
    settle: bool
    opening_plies: int
    within: float | None
    judge: Any
    usual_fixed: ClassVar[dict[str, float]] = {}
    games_played_: int
    updates_: int

    # --- what a subclass says -----------------------------------------------------------------

    def _begin(self, start: LinearEvaluator) -> None:
        """Set up from the evaluator to start from."""
        raise NotImplementedError

    def _correct(self, earlier: list[Step], now: Step) -> bool:
        """Learn from the search at `now` about Alpha's earlier positions, newest last."""
        raise NotImplementedError

    def _after_game(self, alpha_won: float) -> str:
        """Draw the consequences of a game (1 won, 0 drawn, -1 lost); what there is to report."""
        raise NotImplementedError

    def get_state(self) -> dict[str, Any]:
        """Everything that the rest of the learning depends on, as plain JSON values."""
        raise NotImplementedError

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from a state that `get_state` gave."""
        raise NotImplementedError

    # --- learning -----------------------------------------------------------------------------

    def fit(
        self,
        evaluator: Any = None,
        *,
        resume: dict[str, Any] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> OnlineLearner:
        """Play `games` games and learn from them; returns the learner.

        `evaluator` is where the weights start (all but the fixed ones 0 where it is None).
        `resume` is a state of `get_state`, from which learning goes on as if it had never
        stopped. `watch` is called after every game.
        """
        self.prepare(evaluator)
        if resume is not None:
            self._resume(resume)
        openings = self._openings()
        for number in range(self.games):
            opening = next(openings)
            if number < self.games_played_:
                continue
            record, side, alpha_won = self._play(number, opening)
            note = self._after_game(alpha_won)
            self.games_played_ = number + 1
            if watch is not None:
                watch(Progress(number + 1, self.games, record, side, self.updates_, note))
        return self

    def prepare(self, evaluator: Any = None) -> None:
        """Check options and evaluator and set everything up, as `fit` does first."""
        self.game_ = all_games.load(self.game) if isinstance(self.game, str) else self.game
        self._check_options()
        self.features_ = self._feature_set(self.game_)
        fixed = self.fixed
        if fixed is None:
            usual = self.usual_fixed.items()
            fixed = {term: weight for term, weight in usual if term in self.features_.terms}
        unknown = [term for term in fixed if term not in self.features_.terms]
        if unknown:
            raise ValueError(
                f"fixed: expected terms of {self.features_.name}, found {', '.join(unknown)}"
            )
        self.fixed_ = np.array([term in fixed for term in self.features_.names])
        start = LinearEvaluator(self.game_, self.features_, fixed, name=type(self).__name__.lower())
        if evaluator is not None:
            given = as_evaluator(self.game_, evaluator)
            if not isinstance(given, LinearEvaluator):
                raise ValueError(f"expected a linear evaluator to start from, found {given!r}")
            if given.features.names != self.features_.names:
                raise ValueError(
                    f"expected an evaluator over the terms {', '.join(self.features_.names)};"
                    f" found {', '.join(given.features.names)}"
                )
            start.weights[:] = np.where(self.fixed_, start.weights, given.weights)
        self._alpha = start
        self._beta = start.copy()
        self._alpha_engine = Engine(self.game_, self._alpha, table_mib=TABLE_MIB)
        self._beta_engine = Engine(self.game_, self._beta, table_mib=TABLE_MIB)
        self.evaluator_ = self._alpha
        self.games_played_ = 0
        self.updates_ = 0
        self._begin(start)

    def _check_options(self) -> None:
        if self.games < 1:
            raise ValueError(f"games: expected at least 1, found {self.games}")
        if self.seed < 0:
            raise ValueError(f"seed: expected at least 0, found {self.seed}")
        check_limits(self.depth, self.nodes)

    def _feature_set(self, game: Game) -> FeatureSet:
        if isinstance(self.features, FeatureSet):
            return self.features
        if self.features not in game.features:
            raise ValueError(
                f"features: expected one of {', '.join(game.features) or 'none'} for"
                f" {game.name}, found {self.features!r}"
            )
        return game.features[self.features]  # type: ignore[no-any-return]

    def _openings(self) -> Iterator[tuple[Any, ...]]:
        """Openings without end: where the distinct ones run out they come again."""
        count = 0
        while True:
            for opening in Openings(
                self.game_,
                plies=self.opening_plies,
                seed=self.seed,
                within=self.within,
                judge=self.judge if self.within is not None else None,
            ):
                count += 1
                yield opening
            if not count:
                raise ValueError(
                    f"opening_plies: expected openings of {self.opening_plies} plies, found none"
                )

    def _resume(self, state: dict[str, Any]) -> None:
        mine = self.identity()
        found = state.get("identity")
        if found != mine:
            raise ValueError(
                f"expected a checkpoint of the same learner, options and features ({mine}),"
                f" found one of {str(found)[:1000]}"
            )
        try:
            for name, own in self.get_state().items():
                if isinstance(own, list) and len(state[name]) != len(own):
                    raise ValueError(f"{name}: expected {len(own)} entries")
            self.set_state(state)
            self.games_played_ = int(state["games_played"])
            self.updates_ = int(state["updates"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"expected a state of this learner, found {error!r}") from None

    def identity(self) -> dict[str, Any]:
        """The options that a checkpoint must share with the learner that resumes it."""
        return identity_of(self)

    def checkpoint(self) -> dict[str, Any]:
        """What `fit(resume=...)` goes on from."""
        return {
            "identity": self.identity(),
            "games_played": self.games_played_,
            "updates": self.updates_,
            **self.get_state(),
        }

    # --- one game -----------------------------------------------------------------------------

    def _play(self, number: int, opening: tuple[Any, ...]) -> tuple[GameRecord, int, float]:
        """Play a game; returns it with Alpha's side and what Alpha won."""
        side = number % 2
        record = GameRecord(self.game_)
        for move in opening:
            record.play(move)
        self._alpha_engine.clear()
        self._beta_engine.clear()
        steps: list[Step] = []
        while not record.over and record.ply < MOST_PLIES:
            engine = self._alpha_engine if record.to_move == side else self._beta_engine
            result = engine.search(
                record.position, depth=self.depth, nodes=self.nodes, history=record.history
            )
            if result.interrupted:
                raise KeyboardInterrupt
            if record.to_move == side:
                now = self._step(record.position, result)
                if steps and self._correct(steps, now):
                    self.updates_ += 1
                    # the table holds values of the weights as they were
                    self._alpha_engine.clear()
                steps.append(now)
            record.play(result.move, value=result.value, depth=result.depth)
        if not record.over:
            record.declare(0.0, f"{MOST_PLIES} plies")
        outcome = record.outcome() or 0.0
        won = -outcome if side else outcome
        return record, side, won

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
        """The quiet position that captures lead to, and the sign that turns its value back."""
        sign = 1.0
        for _ in range(40):
            if not self.game_.noisy(position):
                break
            result = self._alpha_engine.search(position, depth=1)
            if result.interrupted:
                raise KeyboardInterrupt
            if result.move is None:
                break
            position, sign = self.game_.play(position, result.move), -sign
        return position, sign


def identity_of(learner: Any) -> dict[str, Any]:
    """A learner's name and options as plain values.

    How many games are to be played is not among them: a finished run may be prolonged.
    """
    plain = (int, float, str, bool, dict, type(None))
    options = {
        name: value if isinstance(value, plain) else str(getattr(value, "name", value))
        for name, value in sorted(learner.get_params(deep=False).items())
        if name != "games"
    }
    return {"learner": type(learner).__name__, **options}


def check_limits(depth: int | None, nodes: int | None) -> None:
    """Raise ValueError unless these are limits to learn with."""
    if depth is None and nodes is None:
        raise ValueError("expected a depth or a number of nodes, found neither")
    if depth is not None and not 1 <= depth <= 30:
        raise ValueError(f"depth: expected 1 to 30 plies, found {depth}")
    if nodes is not None and nodes < 10:
        raise ValueError(f"nodes: expected at least 10, found {nodes}")


def decided(value: float) -> bool:
    """Whether a value from search means that the game is won or lost."""
    return abs(value) > WIN / 2

"""Learning from the learner's own search: self-play, and values that follow the search's.

TD(lambda), TDLeaf(lambda), RootStrap, TreeStrap and `Solved` are one learner with several teachers.
The workers play a few games with frozen weights (`learner.player`); the model passes over the
positions of the targets; then the next games follow. A teacher makes the targets from a game; each
teacher has its own file.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from games.features import Encoding, FeatureSet
from learner.frame import Progress
from learner.game_learner import MAN, GameLearner, check_plies, feature_set, linear_start
from learner.models.model import LinearModel, Model
from learner.models.schedule import Schedule
from learner.options import ranged
from learner.self_play import Lesson, Task, Teacher
from play.workers import Workers

__all__ = ["GradientLearner"]

#: The last rate as a share of the first.
LAST_SHARE = 0.1


@dataclass(kw_only=True, eq=False, repr=False)
class GradientLearner(GameLearner):
    """The base class of learners that follow their own search.

    Options in addition to those of `GameLearner`:

    inputs: a feature set or an encoding, or the name of one (default: the game's first).
    hidden: widths of the hidden layers of a network. Default: weights over a feature set; () over
        an encoding for a table of weights, one for each input.
    tuples: an n-tuple network in place of these: the layout, the name of one of the game's, or
        "walks:N,L" for N groups of L squares drawn from the game's cells.
    fixed: weights by term that are never learned, whatever evaluator learning starts from (default:
        1 for the term `men` if the set has it). Not for networks.
    device: where torch trains a network of `hidden` layers: "cpu", "cuda", or "auto" for a GPU if
        there is one.
    rate: step size of Adam, as the change of value by one standard deviation of a term; for
        an n-tuple network the share of an error that one step corrects, such as 1; it falls
        linearly to a tenth over the `games`.
    scale: the value, in the unit of the fixed weights, that is squashed to tanh(1) = 0.76.
    games_per_update: games that are played with the same weights.
    """

    games: int = 2000
    inputs: Any = None
    hidden: tuple[int, ...] | None = None
    tuples: Any = None
    fixed: dict[str, float] | None = None
    device: str = "cpu"
    rate: float = ranged(0.01, above=0, high=1)
    scale: float = ranged(1.5, above=0)
    games_per_update: int = ranged(8, 1)
    opening_plies: int = 4
    most_plies: int = 200
    decide: bool = True
    workers: Workers | None = None

    #: Whether it learns from backed-up values, not only from static values.
    backups: ClassVar[bool] = True
    #: Whether it learns from all positions that searches visit.
    traces: ClassVar[bool] = False
    model_: Model = field(init=False)

    # --- what a subclass says -----------------------------------------------------------------

    def _teacher(self) -> Teacher:
        """Returns the teacher, which makes targets from each game."""
        raise NotImplementedError

    # --- learning -----------------------------------------------------------------------------

    def begin(self, evaluator: Any) -> None:
        """Without an evaluator all weights but the fixed ones start at 0."""
        game = self.game_
        if self.device != "cpu" and (self.tuples is not None or self.hidden is None):
            raise ValueError(f"device: expected cpu, because hidden is empty, found {self.device}")
        if self.tuples is not None:
            self.model_ = self._tuple_model(evaluator)
        elif self.hidden is None:
            encodings = [*game.encodings, *game.encodings.values()]
            if isinstance(self.inputs, str | Encoding) and self.inputs in encodings:
                raise ValueError(
                    "inputs: expected a feature set where hidden is None, found encoding"
                    f" {getattr(self.inputs, 'name', self.inputs)}; with hidden () each of its"
                    " inputs has a weight"
                )
            self.model_ = self._linear_model(evaluator)
        else:
            if self.fixed:
                raise ValueError(f"fixed: not for a network, found {self.fixed}")
            from learner.models.network_model import network_model

            self.model_ = network_model(
                game,
                self.inputs,
                self.hidden,
                scale=self.scale,
                seed=self.seed,
                start=evaluator,
                name=type(self).__name__.lower(),
                device=self.device,
            )
        self.evaluator_ = self.model_.evaluator
        self.errors_: list[float] = []

    def _tuple_model(self, evaluator: Any) -> Model:
        from learner.models.tuple_model import tuple_model

        for name in ("inputs", "hidden", "fixed"):
            if getattr(self, name):
                raise ValueError(f"{name}: not with tuples, found {getattr(self, name)}")
        name = type(self).__name__.lower()
        return tuple_model(
            self.game_, self.tuples, scale=self.scale, start=evaluator, name=name, seed=self.seed
        )

    def _linear_model(self, evaluator: Any) -> LinearModel:
        features: FeatureSet = feature_set(self.game_, self.inputs)
        start, fixed = linear_start(
            self.game_, features, self.fixed, evaluator, usual=MAN, name=type(self).__name__.lower()
        )
        held = np.array([term in fixed for term in features.names])
        return LinearModel(start, learned=~held, scale=self.scale)

    def learn(self) -> Generator[Progress, None, None]:
        with self.playing(self.workers) as player:
            while self.games_played_ < self.games:
                games = min(self.games - self.games_played_, self.games_per_update)
                lessons = [one for some in player.play(self._task(), games) for one in some]
                figures = self._update(lessons)
                self.games_played_ += games
                yield self.progress(lessons[-1].played.record(), figures)

    def together(self) -> int:
        return self.games_per_update

    def _task(self) -> Task:
        return Task(
            self.game_,
            self.evaluator_,
            self.model_.inputs,
            self.depth,
            self.nodes,
            self.most_plies,
            self.decide,
            teacher=self._teacher(),
            traces=self.traces,
            backups=self.backups,
        )

    def _update(self, lessons: list[Lesson]) -> dict[str, Any]:
        """Move the weights towards the targets of the games since the last update."""
        rows = np.concatenate([lesson.rows for lesson in lessons])
        low = np.concatenate([lesson.low for lesson in lessons])
        high = np.concatenate([lesson.high for lesson in lessons])
        rate = Schedule(self.rate, LAST_SHARE).at(self.games_played_, self.games)
        random = np.random.default_rng((self.seed, self.games_played_))
        error, figures = self._learn(rows, low, high, rate=rate, random=random)
        self.errors_.append(error)
        self.updates_ += len(rows)
        return {"loss": error, **figures}

    def _learn(self, rows: Any, low: Any, high: Any, **how: Any) -> tuple[float, dict[str, Any]]:
        """Learn targets as `Model.learn` does; returns the error, and other figures."""
        return self.model_.learn(rows, low, high, **how), {}

    def _check_options(self) -> None:
        super()._check_options()
        check_plies(self.most_plies, self.opening_plies)

    # --- state --------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        return {"model": self.model_.get_state(), "errors": {"mean": list(self.errors_)}}

    def _set_state(self, state: dict[str, Any]) -> None:
        self.model_.set_state(state["model"])
        self.errors_ = [float(error) for error in state["errors"]["mean"]]

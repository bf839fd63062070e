"""Learning from the learner's own search: self-play, and values that follow the search's.

TD(lambda), TDLeaf(lambda), RootStrap, TreeStrap and `Solved` share this frame. The workers play a
few games with frozen weights; the model passes over the positions of the targets; then the next
games follow. They differ in the targets that they make from a game, each in its own file.

Every game of a batch depends only on its opening and the weights. The result therefore depends only
on the options and the seed, not on the workers.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from games.features import Encoding, FeatureSet
from learner.learner import MAN, Learner, Progress, check_plies, feature_set, linear_start
from learner.models.model import LinearModel, Model
from learner.models.schedule import Schedule
from learner.options import ranged
from learner.self_play import GAMES_PER_TASK, Lesson, Task, Teacher, in_tasks, play_task
from play.workers import Workers

__all__ = ["Bootstrap"]

#: The last rate as a share of the first.
LAST_SHARE = 0.1


@dataclass(kw_only=True, eq=False, repr=False)
class Bootstrap(Learner):
    """The base class of learners that follow their own search.

    Options beside those of `Learner`:

    inputs: a feature set or an encoding, or the name of one (None: the game's first).
    hidden: widths of the hidden layers of a network; None for weights over a feature set; () over
        an encoding for a table of weights, one for each input.
    tuples: an n-tuple network in place of these: the layout, or the name of one of the game's.
    fixed: weights by term that are never learned, whatever evaluator learning starts from (None: 1
        for the term `men` if the set has it). Not for networks.
    rate: step size of Adam, in the change of value that one standard deviation of a term makes; for
        an n-tuple network the share of an error that one step corrects, such as 1; it falls
        linearly to a tenth over the `games`.
    scale: the value that is squashed to tanh(1) = 0.76, in the unit of the fixed weights.
    games_per_update: games that are played with the same weights.
    most_plies: longer games are drawn.
    decide: whether a game ends once search has proven it won.
    workers: the `Workers` that play (None: this thread).
    """

    games: int = 2000
    inputs: Any = None
    hidden: tuple[int, ...] | None = None
    tuples: Any = None
    fixed: dict[str, float] | None = None
    rate: float = ranged(0.01, above=0, high=1)
    scale: float = ranged(1.5, above=0)
    games_per_update: int = ranged(8, 1)
    opening_plies: int = 4
    within: float | None = None
    judge: Any = None
    most_plies: int = 200
    decide: bool = True
    workers: Workers | None = None
    #: fixed values for learners that do not offer these options
    epochs: int = field(default=1, init=False)

    #: Whether it learns from backed-up values, not only from static values.
    backups: ClassVar[bool] = True
    model_: Model = field(init=False)

    # --- what a subclass says -----------------------------------------------------------------

    def _teacher(self) -> Teacher:
        """Returns the teacher, which makes targets from each game."""
        raise NotImplementedError

    # --- learning -----------------------------------------------------------------------------

    def fit(
        self,
        evaluator: Any = None,
        *,
        resume: dict[str, Any] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> Bootstrap:
        """As in `Learner`; without an evaluator all weights but the fixed ones start at 0."""
        self.prepare(evaluator)
        if resume is not None:
            self._resume(resume)
        openings = islice(self._openings(), self.games_played_, None)
        workers = self.workers
        with nullcontext(workers) if workers is not None else Workers(jobs=1) as at_work:
            while self.games_played_ < self.games:
                count = min(self.games_per_update, self.games - self.games_played_)
                lessons = self._play(at_work, list(islice(openings, count)))
                self._learn(lessons)
                self.games_played_ += count
                if watch is not None:
                    note = f"error {self.errors_[-1]:.5f}"
                    record = lessons[-1].played.record()
                    watch(Progress(self.games_played_, self.games, record, self.updates_, note))
        return self

    def prepare(self, evaluator: Any = None) -> None:
        game = self._load_game()
        self._check_options()
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
                raise ValueError(f"fixed: expected none for a network, found {self.fixed}")
            from learner.models.network_model import network_model

            self.model_ = network_model(
                game,
                self.inputs,
                self.hidden,
                scale=self.scale,
                seed=self.seed,
                start=evaluator,
                name=type(self).__name__.lower(),
            )
        self.evaluator_ = self.model_.evaluator
        self.games_played_ = 0
        self.updates_ = 0
        self.errors_: list[float] = []

    def _tuple_model(self, evaluator: Any) -> Model:
        from learner.models.tuple_model import tuple_model

        for name in ("inputs", "hidden", "fixed"):
            if getattr(self, name):
                raise ValueError(f"{name}: expected none with tuples, found {getattr(self, name)}")
        name = type(self).__name__.lower()
        return tuple_model(self.game_, self.tuples, scale=self.scale, start=evaluator, name=name)

    def _linear_model(self, evaluator: Any) -> LinearModel:
        features: FeatureSet = feature_set(self.game_, self.inputs)
        start, fixed = linear_start(
            self.game_, features, self.fixed, evaluator, usual=MAN, name=type(self).__name__.lower()
        )
        held = np.array([term in fixed for term in features.names])
        return LinearModel(start, learned=~held, scale=self.scale)

    def _check_options(self) -> None:
        super()._check_options()
        check_plies(self.most_plies, self.opening_plies)

    def _play(self, workers: Workers, openings: list[tuple[Any, ...]]) -> list[Lesson]:
        """Play a game from each opening, on all workers; returns their lessons in order."""
        size = min(GAMES_PER_TASK, -(-len(openings) // workers.jobs))
        task = Task(
            self.game_,
            self.evaluator_,
            self.model_.inputs,
            self.depth,
            self.nodes,
            self.most_plies,
            self.decide,
            teacher=self._teacher(),
            backups=self.backups,
        )
        tasks = in_tasks(task, openings, size)
        return [lesson for lessons in workers.map(play_task, tasks) for lesson in lessons]

    def _learn(self, lessons: list[Lesson]) -> None:
        """Move the weights towards the targets of a batch of games."""
        rows = np.concatenate([lesson.rows for lesson in lessons])
        low = np.concatenate([lesson.low for lesson in lessons])
        high = np.concatenate([lesson.high for lesson in lessons])
        rate = Schedule(self.rate, LAST_SHARE).at(self.games_played_, self.games)
        random = np.random.default_rng((self.seed, self.games_played_))
        errors = [
            self.model_.learn(rows, low, high, rate=rate, random=random) for _ in range(self.epochs)
        ]
        self.errors_.append(errors[0])
        self.updates_ += sum(len(lesson.rows) for lesson in lessons)

    # --- state --------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        return {"model": self.model_.get_state()}

    def set_state(self, state: dict[str, Any]) -> None:
        self.model_.set_state(state["model"])

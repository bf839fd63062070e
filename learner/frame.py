"""The frame of all learners: options, one fit, and a state from which to resume.

A learner is a generator of its own progress: `learn` plays, or solves, and learns, and yields after
each game, or batch of them. `fit` sets the learner up, resumes it from a checkpoint if there is
one, and runs the generator to its end. What else learners share is in `learner.game_learner`
(games) and `learner.heuristics.frame` (problems).

The constructor stores the options. Names of results end in an underscore, above all `evaluator_`.
Options are fields of dataclasses, which generate the constructor. Declare an option in the most
general class whose subclasses all accept it. Declare it again, with its type, if the default
differs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn, Self

from sklearn.base import BaseEstimator

import games as all_games
from games.contract import Game, expect_game
from games.record import GameRecord
from learner.options import check_options, ranged
from learner.positions.shards import StoreError

__all__ = ["Learner", "Progress", "last_round"]

#: Attributes that scikit-learn adds to a copy.
_KEPT = {"_sklearn_version"}


@dataclass(frozen=True)
class Progress:
    """The state of learning after a game, or after the last game of a batch.

    For a problem it is the state after a round, and `game` and `games` count positions.
    """

    game: int
    games: int
    #: the last game; None in a problem
    record: GameRecord | None
    updates: int
    #: figures by name: `loss` on the learned positions, `held out` on other games or positions, and
    #: the learner's other numbers and texts
    figures: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    #: the learner's side if it has an opponent
    alpha_side: int | None = None

    def summary(self, *apart: str) -> str:
        """Returns the note and the figures, except for some, as a text."""
        texts = [
            f"{name} {value if isinstance(value, str) else f'{value:.6g}'}"
            for name, value in self.figures.items()
            if name not in apart
        ]
        return ", ".join(texts + [self.note] * bool(self.note))


@dataclass(kw_only=True, eq=False, repr=False)
class Learner(BaseEstimator):  # type: ignore[misc]
    """The base class of all learners.

    game: the game or problem, its name, or module:Class.
    seed: seed of all randomness.

    After `fit`: `evaluator_` (the last one), `updates_`, `games_played_`, and the results of the
    subclass.
    """

    game: Any = field(default="checkers", kw_only=False)
    seed: int = ranged(0, 0)

    #: Number of games to learn from, or of positions of a problem; an option of most subclasses.
    games = 0
    #: The word for the things that `games` counts.
    counted: ClassVar[str] = "games"
    #: Whether the result is the last weights, so that no matches choose among snapshots.
    settles: ClassVar[bool] = False
    #: Options that a resumed run may change, because the result does not depend on them, or to
    #: prolong or move a run.
    free: ClassVar[frozenset[str]] = frozenset({"games", "workers", "store"})
    game_: Any = field(init=False)
    evaluator_: Any = field(init=False)
    games_played_: int = field(init=False)
    updates_: int = field(init=False)

    # --- what a subclass says -----------------------------------------------------------------

    def begin(self, evaluator: Any) -> None:
        """Set everything up, `evaluator_` above all; options are checked, and `game_` is loaded.

        evaluator: the evaluator to start from, as `fit` got it.
        """
        raise NotImplementedError

    def learn(self) -> Generator[Progress, None, None]:
        """Learn from game `games_played_` to game `games`; yields the progress.

        Whenever it yields, `_get_state` returns a state to resume from.
        """
        raise NotImplementedError

    def _get_state(self) -> dict[str, Any]:
        """Returns everything on which the rest of the learning depends, as plain JSON values."""
        raise NotImplementedError

    def _set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state that `_get_state` returned."""
        raise NotImplementedError

    def check_goes_on(self, state: dict[str, Any]) -> None:
        """Raises ValueError if learning cannot continue from a checkpoint to `games` games."""

    # --- what it then can do ------------------------------------------------------------------

    def fit(
        self,
        evaluator: Any = None,
        *,
        resume: dict[str, Any] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Learn until `games` games are played; returns the learner.

        evaluator: the evaluator to start from.
        resume: a checkpoint; learning continues as if it had never stopped.
        watch: called after every game, or every batch of games.
        """
        self.prepare(evaluator)
        if resume is not None:
            self._resume(resume)
        with closing(self.learn()) as reports:
            for progress in reports:
                if watch is not None:
                    watch(progress)
        return self

    def prepare(self, evaluator: Any = None) -> None:
        """Check the options and the evaluator and set everything up; `fit` does so first."""
        self._load_game()
        self._check_options()
        self.games_played_ = 0
        self.updates_ = 0
        self.begin(evaluator)

    def progress(
        self,
        record: GameRecord | None,
        figures: Mapping[str, Any] | None = None,
        note: str = "",
        alpha_side: int | None = None,
    ) -> Progress:
        """Returns the progress after the games so far, of which `record` is the last."""
        played, updates = self.games_played_, self.updates_
        return Progress(played, self.games, record, updates, figures or {}, note, alpha_side)

    def identity(self) -> dict[str, Any]:
        """Returns the options that a checkpoint must share with the learner that resumes it."""
        plain = (int, float, str, bool, dict, list, type(None))
        options = self.get_params(deep=False)
        options = {n: list(v) if isinstance(v, tuple) else v for n, v in options.items()}
        options = {
            name: value if isinstance(value, plain) else str(getattr(value, "name", value))
            for name, value in sorted(options.items())
            if name not in self.free
        }
        return {"learner": type(self).__name__, **options}

    def checkpoint(self) -> dict[str, Any]:
        """Returns the checkpoint that `fit(resume=...)` continues from.

        Raises ValueError if the learner has not begun in this process, as for a copy.
        """
        try:
            return {
                "identity": self.identity(),
                "games_played": self.games_played_,
                "updates": self.updates_,
                **self._get_state(),
            }
        except AttributeError:
            raise ValueError(
                f"expected a {type(self).__name__} that has learned in this process, found"
                " a new learner or a copy"
            ) from None

    def __getstate__(self) -> dict[str, Any]:
        # engines and so on are not copied, because `prepare` makes new ones
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name in _KEPT or name[0] != "_"}

    @property
    def score(self) -> NoReturn:
        """Raises TypeError, because GridSearchCV does not apply to learners that play games."""
        raise TypeError(
            f"{type(self).__name__} learns from games that it plays and not from rows that can be"
            " split: compare its evaluators in matches (learner.measure), or search the options of"
            " learner.LogisticFit"
        )

    def _load_game(self) -> Game:
        """Set `game_`; raises ValueError for a game that it cannot learn."""
        self.game_ = all_games.load(self.game) if isinstance(self.game, str) else self.game
        expect_game(self.game_)
        return self.game_  # type: ignore[no-any-return]

    def _check_options(self) -> None:
        """Raise ValueError for an option that is not allowed."""
        check_options(self)

    def _resume(self, state: dict[str, Any]) -> None:
        own_identity = self.identity()
        identity = state.get("identity")
        if identity != own_identity:
            raise ValueError(
                f"expected a checkpoint of the same learner, options and features ({own_identity}),"
                f" found one of {str(identity)[:1000]}"
            )
        self.check_goes_on(state)
        try:
            self._set_state(state)
            self.games_played_ = int(state["games_played"])
            self.updates_ = int(state["updates"])
        except StoreError:  # a damaged store is not an error of the state
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"expected a state of this learner, found {error!r}") from None


def last_round(rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the number of the last round, and its figures."""
    return {"round": len(rounds), **rounds[-1]}

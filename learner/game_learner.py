"""Learners that play games: their game, the limits of their searches, and their openings."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar

from games.contract import Game
from games.features import FeatureSet
from games.kinds import FOR_TWO, WITHOUT_DICE, Kind
from games.record import GameRecord
from learner.dice_play import MOST_DEPTH, starts_of
from learner.frame import Learner
from learner.options import ranged
from learner.player import GamePlayer
from play.workers import Workers
from search import Evaluator, LinearEvaluator, as_evaluator

__all__ = [
    "MAN",
    "GameLearner",
    "check_limits",
    "check_plies",
    "feature_set",
    "library_terms",
    "linear_start",
]

#: The term whose weight is usually fixed, as the unit of all others, if the feature set has it.
MAN = {"men": 1.0}


@dataclass(kw_only=True, eq=False, repr=False)
class GameLearner(Learner):
    """The base class of learners that play games.

    games: number of games to learn from.
    depth: depth of every search in plies. With dice these are GNU's plies; 0 or None plays the move
        with the best static value, and positions before their roll are searched one ply deeper
        (`learner.dice_play`).
    nodes: limit of every search in positions, in place of `depth` or with it; not with dice.

    Options that most of its subclasses declare:

    opening_plies: length of the random opening; all distinct positions at that ply are used before
        longer ones. It has no effect with dice or with more than two players
        (`learner.multiplayer_play`).
    most_plies: longer games are drawn.
    decide: whether a game ends once search has proven it won.
    workers: the `Workers` that play (default: this thread).
    """

    games: int = ranged(low=1)
    depth: int | None = 5
    nodes: int | None = None
    #: a default for learners without this option
    opening_plies = 0

    #: The kinds of games that it learns: a game must be of all of them.
    kinds: ClassVar[Sequence[Kind]] = (FOR_TWO, WITHOUT_DICE)
    game_: Game = field(init=False)
    evaluator_: Evaluator = field(init=False)

    def _load_game(self) -> Game:
        super()._load_game()
        for kind in self.kinds:
            kind.expect(self.game_, where=f"game of {type(self).__name__}")
        return self.game_

    def _check_options(self) -> None:
        super()._check_options()
        self._check_limits()

    def _check_limits(self) -> None:
        if self.game_.dice:
            if self.nodes is not None or not 0 <= self.plies <= MOST_DEPTH:
                raise ValueError(
                    f"depth: expected 0 to {MOST_DEPTH} plies in a game with dice, found"
                    f" {self.depth if self.nodes is None else f'{self.nodes} nodes'}"
                )
            return
        check_limits(self.depth, self.nodes)
        if self.game_.players == 2:
            self._starts()  # raises ValueError for options of openings out of range

    @property
    def plies(self) -> int:
        """Depth in plies with which moves are chosen in a game with dice."""
        return 0 if self.depth is None else self.depth

    def records(self) -> Iterator[GameRecord]:
        """Yields the record of each remaining game, after its opening; without dice."""
        for opening in islice(self._openings(), self.games_played_, self.games):
            record = GameRecord(self.game_)
            for move in opening:
                record.play(move)
            yield record

    def _openings(self) -> Iterator[tuple[Any, ...]]:
        """Yields openings endlessly; the distinct ones are repeated once all have been played.

        With dice it yields the seeds of the dice of each game instead.
        """
        count = 0
        while True:
            for opening in self._starts():
                count += 1
                yield opening
            if not count:
                raise ValueError(
                    f"opening_plies: the game has no openings of {self.opening_plies} plies"
                )

    @contextmanager
    def playing(self, workers: Workers | None) -> Iterator[GamePlayer]:
        """Yields the player of the remaining games, with workers or in this thread."""
        openings = islice(self._openings(), self.games_played_, None)
        with nullcontext(workers) if workers is not None else Workers(jobs=1) as at_work:
            yield GamePlayer(at_work, openings)

    def together(self) -> int:
        """Returns the number of first games that are played with the same weights."""
        return 1

    def _starts(self) -> Iterable[tuple[Any, ...]]:
        """Returns the openings of the games; raises ValueError for options out of range."""
        return starts_of(self.game_, plies=self.opening_plies, seed=self.seed)


def feature_set(game: Game, inputs: Any) -> FeatureSet:
    """Returns the feature set of a name, or the game's first for None; a set is returned as is."""
    if isinstance(inputs, FeatureSet):
        return inputs
    if inputs is None and game.features:
        return next(iter(game.features.values()))  # type: ignore[no-any-return]
    if inputs not in game.features:
        raise ValueError(
            f"inputs: expected one of {', '.join(game.features) or 'none'} for"
            f" {game.name}, found {inputs!r}"
        )
    return game.features[inputs]  # type: ignore[no-any-return]


def linear_start(
    game: Game,
    features: FeatureSet,
    fixed: Mapping[str, float] | None,
    evaluator: Any,
    *,
    usual: Mapping[str, float],
    name: str,
) -> tuple[LinearEvaluator, dict[str, float]]:
    """Returns the weights to start from, and the fixed weights by term.

    fixed: the fixed weights by term (default: those of `usual` whose terms the feature set has).
    evaluator: the evaluator that the other weights come from, rescaled so that its first fixed term
        has its fixed weight (default: all other weights are 0).

    Raises ValueError for unknown terms and for an evaluator over other terms.
    """
    if fixed is None:
        fixed = {term: weight for term, weight in usual.items() if term in features.terms}
    unknown = [term for term in fixed if term not in features.terms]
    if unknown:
        raise ValueError(f"fixed: expected terms of {features.name}, found {', '.join(unknown)}")
    start = LinearEvaluator(game, features, fixed, name=name)
    if evaluator is None:
        return start, dict(fixed)
    source = as_evaluator(game, evaluator)
    if not isinstance(source, LinearEvaluator) or source.features.names != features.names:
        terms = ", ".join(source.features.names) if isinstance(source, LinearEvaluator) else source
        raise ValueError(
            f"expected an evaluator over the terms {', '.join(features.names)} to start from,"
            f" found {terms!r}"
        )
    weights = source.term_weights()
    units = [fixed[term] / weights[term] for term in fixed if fixed[term] * weights[term] > 0]
    unit = units[0] if units else 1.0
    start.weights[:] = [
        fixed[term] if term in fixed else unit * weights[term] for term in features.names
    ]
    return start, dict(fixed)


def library_terms(
    library: Sequence[str] | None, features: FeatureSet, fixed: Container[str]
) -> list[str]:
    """Returns the terms of a library that are not fixed, in its order.

    library: terms of the feature set, each once (default: all of them).

    Raises ValueError for other terms, one that is given twice, and a library of fixed terms only.
    """
    chosen = features.names if library is None else library
    unknown = [name for name in chosen if name not in features.names]
    if unknown or len(set(chosen)) < len(chosen):
        raise ValueError(
            f"library: expected terms of {features.name}, each once, found"
            f" {', '.join(map(str, unknown or chosen))}"
        )
    free = [name for name in chosen if name not in fixed]
    if not free:
        raise ValueError("library: expected at least one term that is not fixed")
    return free


def check_limits(depth: int | None, nodes: int | None) -> None:
    """Raise ValueError unless a depth or a number of nodes limits the searches."""
    if depth is None and nodes is None:
        raise ValueError("expected a depth or a number of nodes, found neither")
    if depth is not None and not 1 <= depth <= 30:
        raise ValueError(f"depth: expected 1 to 30 plies, found {depth}")
    if nodes is not None and nodes < 10:
        raise ValueError(f"nodes: expected at least 10, found {nodes}")


def check_plies(most_plies: int, opening_plies: int) -> None:
    """Raise ValueError unless games may be longer than their openings."""
    if most_plies <= max(opening_plies, 0):
        raise ValueError(
            f"most_plies: expected more than the {opening_plies} of an opening, found {most_plies}"
        )

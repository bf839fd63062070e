"""Values that follow a search to the end of the game, where a game can be searched so far.

Nothing is known beforehand: the search has no evaluator and values positions by the ends of the
game alone. In whole games moves are ranked, too: one that keeps the class of a position is to be
valued above those that do not, by a margin. The means of the weights over the updates are kept, as
weights that follow single games go up and down.

Sources: G. Tesauro, "Connectionist Learning of Expert Preferences by Comparison Training" (1989),
for ranking; D. Ruppert (1988) and B. Polyak (1990) for the mean of the weights, O. Shamir and
T. Zhang, "Stochastic Gradient Descent for Non-smooth Optimization" (2013), for its decay.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from games import truth
from games.contract import Game
from learner.bootstrap.frame import LAST_SHARE, Bootstrap
from learner.models.model import squash
from learner.models.schedule import Schedule
from learner.options import ranged
from learner.positions.packing import packed, unpacked
from learner.self_play import TABLE_MIB, Lesson, Target, Teacher, rows_of
from play.match.game_loop import Played
from play.match.openings import random_line
from play.workers import Workers
from search import Engine

__all__ = ["Solved"]

#: The squashed value of a won position; 1 would ask for an infinite value.
WON = 0.98
#: By how much the squashed value of a move that keeps the class should be above that of others.
MARGIN = 0.1
#: An update takes the mean of the weights as far as 1 + this share of all updates so far does.
DECAY = 1.0
#: The referee of each thread, which keeps its tables from game to game.
_AT_HAND = threading.local()


def _referee(game: Game) -> Any:
    known = _AT_HAND.__dict__
    if known.get("game") is not game:
        known["game"], known["referee"] = game, game.referees["truth"](game)
    return known["referee"]


@dataclass(frozen=True)
class _Teacher:
    game: Game
    positions_per_game: int
    traces: bool = False

    def __call__(self, played: Played, engine: Engine) -> Target:
        game, referee = self.game, _referee(self.game)
        asked: list[tuple[int, ...]] = []
        classes: list[int] = []
        # In earlier positions the solver may need minutes once the evaluator has left best play.
        some = self.positions_per_game if played.opening >= referee.plies[0] else 1
        last = min(played.opening + some, len(played.moves))
        for row in played.positions[played.opening : last]:
            position = tuple(map(int, row))
            for move, kind in referee.classes(position).items():
                after = game.play(position, move)
                if game.outcome(after) is None:
                    asked.append(after)
                    classes.append(-kind)
        values = WON * np.array(classes, dtype=np.float64)
        return Target(np.reshape(asked, (len(asked), len(played.positions[0]))), values, values)


@dataclass(kw_only=True, eq=False, repr=False)
class Solved(Bootstrap):
    """All moves of positions follow their class, by a search to the end of the game.

    Only whether positions are won, drawn or lost is learned. A game begins after random moves, as
    many as the game's solver needs to value positions in milliseconds (`Truth.plies`); or it is a
    whole one: from the start the learner moves first, against perfect play at random among its best
    moves. Where its own move would throw the class away, one that keeps it is played. Every
    position at which it moved is kept, and all its moves are taught again in later updates, by
    their classes and by their order.

    whole: share of the games that are whole ones.
    searched: positions that every other whole game searches for a move, instead of the limits of
        the other games; what the search and those of the other moves foresee is kept, too.
    positions_per_game: positions after the random moves of each game whose moves all teach.
    epochs: passes over the positions of `games_per_update` games, and as many that are kept.
    """

    games: int = 200_000
    depth: int | None = 1
    whole: float = ranged(0.0, 0, 1)
    searched: int = ranged(3500, 1)
    positions_per_game: int = ranged(2, 1)
    games_per_update: int = 2000
    epochs: int = ranged(5, 1)
    #: fixed values for options that it has no use for
    opening_plies: int = field(default=0, init=False)
    within: float | None = field(default=None, init=False)
    judge: Any = field(default=None, init=False)

    def _check_options(self) -> None:
        super()._check_options()
        kind = self.game_.referees.get("truth")
        referee = None if kind is None else kind(self.game_)
        if not isinstance(referee, truth.Teacher):
            raise ValueError(
                "game: expected one with a solver that teaches, such as connect_four, found"
                f" {self.game_.name}"
            )
        self._plies = referee.plies

    def prepare(self, evaluator: Any = None) -> None:
        """As in `Bootstrap`; the evaluator is the mean of what learns, unless it is a network."""
        super().prepare(evaluator)
        if self.hidden is None:
            self.evaluator_ = self.model_.evaluator.copy()
        self._passes = 0
        #: classes of kept positions for their side to move, by position
        self._classes: dict[Any, int] = {}
        #: positions after each move of a kept position at which the learner moved
        self._choices: dict[Any, list[Any]] = {}
        self._best: dict[Any, list[Any]] = {}

    def _teacher(self) -> Teacher:
        return _Teacher(self.game_, self.positions_per_game)

    def _openings(self) -> Iterator[tuple[int, ...]]:
        """Yields the numbers of the games; their openings need the present weights."""
        return ((number,) for number in count())

    def _play(self, workers: Workers, openings: list[tuple[Any, ...]]) -> list[Lesson]:
        engine = Engine(self.game_, self.evaluator_, table_mib=TABLE_MIB)
        return super()._play(workers, [self._opening(number, engine) for (number,) in openings])

    def _opening(self, number: int, engine: Engine) -> tuple[Any, ...]:
        """Returns the moves before a game counts; after them it is not over."""
        random = np.random.default_rng((self.seed, 31, number))
        if random.random() < self.whole:
            return self._whole_game(random, engine)
        least, most = self._plies
        while True:
            position, moves = random_line(self.game_, int(random.integers(least, most + 1)), random)
            if self.game_.outcome(position) is None:
                return tuple(moves)

    # --- whole games --------------------------------------------------------------------------

    def _whole_game(self, random: np.random.Generator, engine: Engine) -> tuple[Any, ...]:
        """Play a whole game and keep what it teaches; returns its moves but for the last ones."""
        game, position, moves = self.game_, self.game_.start(), []
        foresees = random.random() < 0.5
        for ply in range(self._plies[1]):
            best = self._best_moves(position, ply % 2 == 0)
            move = best[int(random.integers(len(best)))]
            if ply % 2 == 0:
                own = self._foresee(position, engine) if foresees else None
                if own is None:
                    engine.clear()
                    own = engine.search(position, depth=self.depth, nodes=self.nodes).move
                elif own not in best:
                    self._foresee_choices(position, best, own, engine)
                move = own if own in best else move
            after = game.play(position, move)
            if game.outcome(after) is not None:
                break
            position = after
            moves.append(move)
        return tuple(moves)

    def _foresee(self, position: Any, engine: Engine) -> Any:
        """Returns the move of a search, and keeps the positions of its principal variation."""
        engine.clear()
        found = engine.search(position, nodes=self.searched)
        for move in found.pv:
            position = self.game_.play(position, move)
            self._keep(position)
        return found.move

    def _foresee_choices(self, position: Any, best: list[Any], own: Any, engine: Engine) -> None:
        """Keep what is foreseen after a move that throws the class away, and after better ones."""
        for move in [*best, own]:
            after = self.game_.play(position, move)
            if self.game_.outcome(after) is None:
                self._foresee(after, engine)

    def _keep(self, position: Any) -> None:
        if position not in self._classes and self.game_.outcome(position) is None:
            self._classes[position] = _referee(self.game_).kind(position)

    def _best_moves(self, position: Any, first: bool) -> list[Any]:
        """Returns the moves that keep the class, for the second side only the best of these."""
        if position not in self._best:
            referee = _referee(self.game_)
            if first:
                classes = referee.classes(position)
                moves = [move for move in classes if classes[move] == max(classes.values())]
                kinds = {self.game_.play(position, move): -kind for move, kind in classes.items()}
                self._choices[position] = self._after(position)
                self._classes |= {after: kinds[after] for after in self._choices[position]}
            else:
                moves = referee.best(position)
            self._best[position] = moves
        return self._best[position]

    def _after(self, position: Any) -> list[Any]:
        """Returns the positions after each move that does not end the game."""
        after = [self.game_.play(position, move) for move in self.game_.legal_moves(position)]
        return [one for one in after if self.game_.outcome(one) is None]

    # --- learning -----------------------------------------------------------------------------

    def _learn(self, lessons: list[Lesson]) -> None:
        """Move the weights towards the classes, and kept choices towards their order."""
        if not self._classes:
            super()._learn(lessons)
            return
        random = np.random.default_rng((self.seed, self.games_played_))
        rate = Schedule(self.rate, LAST_SHARE).at(self.games_played_, self.games)
        rows = np.concatenate([lesson.rows for lesson in lessons])
        low = np.concatenate([lesson.low for lesson in lessons])
        kept = list(self._classes)
        values = WON * np.array([self._classes[position] for position in kept])
        at = {position: n for n, position in enumerate(kept)}
        chosen = [[at[after] for after in some] for some in self._choices.values() if some]
        sizes = np.array([len(some) for some in chosen])
        children = np.array([n for some in chosen for n in some])
        kept_rows = rows_of(self.model_.inputs, np.array(kept))
        errors = []
        for _ in range(self.epochs):
            some = random.integers(len(kept), size=len(rows))
            pairs, least, most = self._out_of_order(np.array(kept), children, sizes, values)
            errors.append(self.model_.learn(
                np.concatenate([rows, kept_rows[some], kept_rows[pairs]]),
                np.concatenate([low, values[some], least]),
                np.concatenate([low, values[some], most]),
                rate=rate,
                random=random,
            ))  # fmt: skip
            self._passes += 1
            if self.evaluator_ is not self.model_.evaluator:
                share = (1.0 + DECAY) / (self._passes + DECAY)
                new = self.model_.evaluator.weights - self.evaluator_.weights
                self.evaluator_.weights += np.float32(share) * new
        self.errors_.append(errors[0])
        self.updates_ += sum(len(lesson.rows) for lesson in lessons)

    def _out_of_order(
        self, kept: Any, children: Any, sizes: Any, values: Any
    ) -> tuple[Any, Any, Any]:
        """Returns positions whose values ought to be apart, and intervals for their values.

        kept, values: all kept positions and their values by class.
        children, sizes: the positions after the moves of each choice, one choice after the other,
            and how many each has.

        Of a choice these are the position after the best move that keeps the class, by its present
        value, and that after the best other move.
        """
        scores = -squash(self.model_.evaluator.values(kept[children]), self.scale)
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        choice = np.repeat(np.arange(len(sizes)), sizes)
        keeps = -values[children] >= np.maximum.reduceat(-values[children], first)[choice]
        # Within a choice: other moves by rising score, then those that keep the class.
        order = np.lexsort((scores, keeps, choice))
        right, wrong = first + sizes - 1, first + sizes - np.add.reduceat(keeps, first) - 1
        right, wrong = order[right[wrong >= first]], order[wrong[wrong >= first]]
        middle = (scores[right] + scores[wrong]) / 2
        apart = scores[right] - scores[wrong] < MARGIN
        right, wrong, middle = right[apart], wrong[apart], middle[apart]
        pairs = children[np.concatenate([right, wrong])]
        one = np.ones(len(middle))
        least = np.concatenate([-one, MARGIN / 2 - middle])
        most = np.concatenate([-MARGIN / 2 - middle, one])
        return pairs, least, most

    # --- state --------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        kept = np.array([*self._classes, *self._choices], dtype=np.int64)
        state = super().get_state() | {
            "passes": self._passes,
            "kept": packed(kept, level=1),
            "classes": list(self._classes.values()),
            "choices": len(self._choices),
        }
        if self.hidden is None:
            state["mean"] = packed(self.evaluator_.weights)
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        super().set_state(state)
        if self.hidden is None:
            weights = self.evaluator_.weights
            weights[:] = unpacked(state["mean"], weights.dtype, size=len(weights))
        self._passes = int(state["passes"])
        width, classes = len(self.game_.start()), list(map(int, state["classes"]))
        size = width * (len(classes) + int(state["choices"]))
        rows = unpacked(state["kept"], np.int64, size=size, compressed=True).reshape(-1, width)
        kept = [tuple(row) for row in rows.tolist()]
        self._classes = dict(zip(kept, classes, strict=False))
        self._choices = {one: self._after(one) for one in kept[len(classes) :]}

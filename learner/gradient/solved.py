"""Values that follow a search to the end of the game, where a game can be searched so far.

Nothing is known beforehand: the search has no evaluator and values positions by the ends of the
game alone. Weights that follow single games go up and down; therefore the learned evaluator is
their mean.

Sources: S. Ross, G. Gordon and D. Bagnell, "A Reduction of Imitation Learning and Structured
Prediction to No-Regret Online Learning" (2011), for games that the learner plays and a teacher
labels, all of them kept; B. Polyak and A. Juditsky, "Acceleration of Stochastic Approximation by
Averaging" (1992); O. Shamir and T. Zhang, "Stochastic Gradient Descent for Non-smooth Optimization"
(2013), for the decay of the mean.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from learner.gradient.frame import GradientLearner
from learner.options import Range, ranged
from learner.positions.packing import packed, unpacked
from learner.self_play import TABLE_MIB, Target, Teacher, rows_of
from play.judging.truth import Referees
from play.matches.game_loop import Played
from play.matches.openings import random_line
from search import Engine

__all__ = ["Solved"]

#: Squashed values of lost, drawn and won positions may stay between these: taught to the last
#: digit, some positions would spoil what is learned of all others.
LOW, HIGH = np.array([-1.0, -0.25, 0.6]), np.array([-0.6, 0.25, 1.0])
#: An update moves the mean of the weights by (1 + DECAY) / (updates + DECAY).
DECAY = 1.0
#: Number of positions after the random moves all of whose moves teach.
POSITIONS = 2
#: In a whole game: greatest number of random moves at its start, and the chances of a random move
#: and of the learner's move later.
RANDOM, ERRS, OWN = 8, 0.1, 0.5
#: The referee of each thread, which keeps its tables from game to game.
_AT_HAND = threading.local()


def _referee(game: Game) -> Any:
    referees = _AT_HAND.__dict__
    if referees.get("game") is not game:
        referees["game"], referees["referee"] = game, Referees.of(game).named["truth"](game)
    return referees["referee"]


@dataclass(frozen=True)
class _Teacher:
    game: Game

    def __call__(self, played: Played, engine: Engine) -> Target:
        game, referee = self.game, _referee(self.game)
        asked: list[tuple[int, ...]] = []
        classes: list[int] = []
        last = min(played.opening + POSITIONS, len(played.moves))
        for row in played.positions[played.opening : last]:
            position = tuple(map(int, row))
            for move, kind in referee.classes(position).items():
                after = game.play(position, move)
                if game.outcome(after) is None:
                    asked.append(after)
                    classes.append(1 - kind)
        positions = np.reshape(asked, (len(asked), len(played.positions[0])))
        kinds = np.array(classes, dtype=int)
        return Target(positions, LOW[kinds], HIGH[kinds])


@dataclass(kw_only=True, eq=False, repr=False)
class Solved(GradientLearner):
    """All moves of positions follow their class, by a search to the end of the game.

    Only whether positions are won, drawn or lost is learned.

    Whole games begin with up to `RANDOM` random moves. Then the learner's move is played at every
    other turn on average, if it keeps the class, else any move that keeps it, and sometimes a
    random one. So both sides are taught, also after errors. All moves of all positions teach, and
    are kept with the positions of the solver's book and those that its searches passed.

    opening_plies: number of random moves that a game begins after; 0: a random number of those with
        which the game's solver values positions in milliseconds (`Truth.plies`).
    whole: whole games before each update; 0: none, and nothing is kept.
    epochs: passes over the positions of `games_per_update` games and of the whole games, with one
        over all that is kept.
    """

    games: int = 200_000
    depth: int | None = 1
    whole: int = ranged(0, 0)
    games_per_update: int = 2000
    epochs: int = ranged(5, 1)
    opening_plies: int = 0

    def _load_game(self) -> Game:
        super()._load_game()
        kind = Referees.of(self.game_).named.get("truth")
        if kind is None:
            raise ValueError(
                f"game: expected a solved game, such as connect_four, found {self.game_.name}"
            )
        self._plies = kind(self.game_).plies
        return self.game_

    def _check_options(self) -> None:
        super()._check_options()
        if self.opening_plies:
            Range(*self._plies).check("opening_plies", self.opening_plies)
            self._plies = self.opening_plies, self.opening_plies

    def begin(self, evaluator: Any) -> None:
        """As in `GradientLearner`; unless it is a network, the evaluator is a mean of weights."""
        super().begin(evaluator)
        self._mean: Any = None
        if self.hidden is None:
            self._mean = self.evaluator_ = self.model_.evaluator.copy()
        self._passes = 0
        #: positions in ascending order, each followed by its class
        self._kept: NDArray[np.int64] = np.zeros((0, len(self.game_.start()) + 1), dtype=np.int64)

    def _teacher(self) -> Teacher:
        return _Teacher(self.game_)

    def _openings(self) -> Iterator[tuple[Any, ...]]:
        least, most = self._plies
        for number in count():
            random = np.random.default_rng((self.seed, 31, number))
            position, moves = None, list[Any]()
            while position is None or self.game_.outcome(position) is not None:
                plies = int(random.integers(least, most + 1))
                position, moves = random_line(self.game_, plies, random)
            yield tuple(moves)

    # --- whole games --------------------------------------------------------------------------

    def _play_whole_games(self, random: np.random.Generator) -> NDArray[np.int64]:
        """Returns all moves' positions in whole games, with their classes, and keeps them.

        Those that the solver's searches passed are kept, too.
        """
        referee = _referee(self.game_)
        engine = Engine(self.game_, self.evaluator_, table_mib=TABLE_MIB)
        referee.clear()  # the positions that it passes must not depend on earlier updates
        rows = [row for _ in range(self.whole) for row in self._whole_game(engine, random)]
        played = np.array(rows, dtype=np.int64)
        self._kept = np.unique(np.concatenate([self._kept, referee.known(), played]), axis=0)
        return played

    def _whole_game(self, engine: Engine, random: np.random.Generator) -> Iterator[Any]:
        """Play a game; yields the positions after all legal moves, each followed by its class."""
        game, position, opening = self.game_, self.game_.start(), int(random.integers(RANDOM + 1))
        for ply in count():
            if game.outcome(position) is not None:
                return
            classes = _referee(game).classes(position)
            after = {move: game.play(position, move) for move in classes}
            for move, kind in classes.items():
                if game.outcome(after[move]) is None:
                    yield (*after[move], -kind)
            moves = [*classes]
            if ply >= opening and random.random() >= ERRS:
                moves = [move for move in moves if classes[move] == max(classes.values())]
                if random.random() < OWN:
                    engine.clear()
                    limits: dict[str, Any] = {"depth": self.depth, "nodes": self.nodes}
                    chosen = engine.search(position, **limits).whole().move
                    moves = [chosen] if chosen in moves else moves
            position = after[moves[int(random.integers(len(moves)))]]

    # --- learning -----------------------------------------------------------------------------

    def _learn(self, rows: Any, low: Any, high: Any, **how: Any) -> tuple[float, dict[str, Any]]:
        """Move the weights towards the classes, and the evaluator towards their mean."""
        random, inputs = how["random"], self.model_.inputs
        if self.whole:
            played = self._play_whole_games(random)
            rows = np.concatenate([rows, rows_of(inputs, played[:, :-1].copy())])
            low, high = (
                np.concatenate([bound, limits[1 + played[:, -1]]])
                for bound, limits in ((low, LOW), (high, HIGH))
            )
        stored = rows_of(inputs, self._kept[:, :-1].copy()) if self.whole else rows[:0]
        kinds = 1 + self._kept[:, -1]
        errors = []
        for some in np.array_split(random.permutation(len(stored)), self.epochs):
            least = np.concatenate([low, LOW[kinds[some]]])
            most = np.concatenate([high, HIGH[kinds[some]]])
            taught = np.concatenate([rows, stored[some]])
            errors.append(self.model_.learn(taught, least, most, **how))
            self._passes += 1
            if self._mean is not None:
                share = (1.0 + DECAY) / (self._passes + DECAY)
                learned: Any = self.model_.evaluator
                self._mean.weights += np.float32(share) * (learned.weights - self._mean.weights)
        return errors[0], {"kept": len(stored)} if self.whole else {}

    # --- state --------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        state = super()._get_state() | {
            "passes": self._passes,
            "kept": packed(self._kept, level=1),
            "count": self._kept.size,
        }
        if self._mean is not None:
            state["mean"] = packed(self._mean.weights)
        return state

    def _set_state(self, state: dict[str, Any]) -> None:
        super()._set_state(state)
        if self._mean is not None:
            weights = self._mean.weights
            weights[:] = unpacked(state["mean"], weights.dtype, size=len(weights))
        self._passes = int(state["passes"])
        size = int(state["count"])
        stored = unpacked(state["kept"], np.int64, size=size, compressed=True)
        self._kept = stored.reshape(-1, self._kept.shape[1])

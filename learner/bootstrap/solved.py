"""Values that follow a search to the end of the game, where a game can be searched so far.

Nothing is known beforehand: the search has no evaluator and values positions by the ends of the
game alone. What whole games from the start bring up is kept and taught again, as weights that
follow single games go up and down; for the same reason the learned evaluator is their mean.

Sources: S. Ross, G. Gordon and D. Bagnell, "A Reduction of Imitation Learning and Structured
Prediction to No-Regret Online Learning" (2011), for games that the learner plays and a teacher
labels, all of them kept; B. Polyak and A. Juditsky, "Acceleration of Stochastic Approximation by
Averaging" (1992); O. Shamir and T. Zhang, "Stochastic Gradient Descent for Non-smooth Optimization"
(2013), for the decay of the mean.
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
from learner.bootstrap.frame import Bootstrap
from learner.options import ranged
from learner.positions.packing import packed, unpacked
from learner.self_play import TABLE_MIB, Target, Teacher, rows_of
from play.judging.truth import Referees
from play.matches.game_loop import Played
from play.matches.openings import random_line
from search import Engine
from search.lookups.database import DatabaseLookup, Databases

__all__ = ["Solved"]

#: The squashed value of a won position; 1 would ask for an infinite value.
WON = 0.98
#: Squashed values of lost, drawn and won positions that are taught again may stay between these.
#: The same few positions, taught to the last digit, would spoil what is learned of all others.
LOW, HIGH = np.array([-1.0, -0.25, 0.6]), np.array([-0.6, 0.25, 1.0])
#: An update takes the mean of the weights as far as 1 + this share of all updates so far does.
DECAY = 1.0
#: The moves where the learner errs in a whole game are taught once more for each 1 / OFTEN of the
#: chance of that, at most MOST times in a pass.
OFTEN, MOST = 400, 20
#: Positions after the random moves whose moves all teach, and positions of a larger search.
POSITIONS, SEARCHED = 2, 3500
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
                    classes.append(-kind)
        values = WON * np.array(classes, dtype=np.float64)
        return Target(np.reshape(asked, (len(asked), len(played.positions[0]))), values, values)


@dataclass(kw_only=True, eq=False, repr=False)
class Solved(Bootstrap):
    """All moves of the first positions of a game follow their class, by a search to its end.

    Only whether positions are won, drawn or lost is learned. A game begins after random moves, as
    many as the game's solver needs to value positions in milliseconds (`Truth.plies`).

    Whole games are not drawn: before each update all positions are visited that are likely to come
    up when the learner moves first, against perfect play at random among its best moves. Where the
    learner's move would throw the class away, all moves that keep it are followed. It moves once by
    the limits of its games, and once by a larger search, which looks positions up in the game's
    first database, if there is one. All moves at its turn are kept, and taught again in all later
    updates as far as their class goes, early plies as often as late ones. Where it errs, its moves
    are taught more often, the likelier the error is; as often are those at the end of what searches
    of its move and of the best ones foresee.

    whole: the least chance with which a position of whole games that is visited comes up; 0: no
        whole games.
    epochs: passes over the positions of `games_per_update` games, and as many that are kept.
    """

    games: int = 200_000
    depth: int | None = 1
    whole: float = ranged(0.0, 0, 1)
    games_per_update: int = 2000
    epochs: int = ranged(5, 1)
    #: fixed value for an option that it has no use for
    opening_plies: int = field(default=0, init=False)

    def _load_game(self) -> Game:
        super()._load_game()
        kind = Referees.of(self.game_).named.get("truth")
        referee = None if kind is None else kind(self.game_)
        if not isinstance(referee, truth.TeachingTruth):
            raise ValueError(
                "game: expected one with a solver that teaches, such as connect_four, found"
                f" {self.game_.name}"
            )
        self._plies = referee.plies
        return self.game_

    def begin(self, evaluator: Any) -> None:
        """As in `Bootstrap`; the evaluator is the mean of what learns, unless it is a network."""
        super().begin(evaluator)
        self._mean: Any = None
        if self.hidden is None:
            self._mean = self.evaluator_ = self.model_.evaluator.copy()
        self._passes = 0
        self._made: tuple[Engine, Engine] | None = None
        #: by ply: positions after all moves of the learner, with their classes for the side to move
        self._kept: dict[int, dict[Any, int]] = {}
        self._best: dict[Any, list[Any]] = {}
        #: what errors in the last sweeps teach, the likely ones several times
        self._errors: list[tuple[Any, int]] = []

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

    def _engines(self) -> tuple[Engine, Engine]:
        """Returns the engine of the learner's games, and one that looks positions up.

        They are made once for each evaluator, because opening a database takes longer than a sweep.
        """
        game, value = self.game_, self.evaluator_
        if self._made is None or self._made[0].evaluator is not value:
            lookup = next((DatabaseLookup(game, name) for name in Databases.of(game).named), None)
            plain = Engine(game, value, table_mib=TABLE_MIB)
            self._made = plain, Engine(game, value, table_mib=TABLE_MIB, lookup=lookup)
        return self._made

    def _sweep(self, engine: Engine, **limits: Any) -> float:
        """Visit the likely positions of whole games, and keep all moves of the learner's turns.

        limits: those of its searches.

        Returns the chance that a game keeps its class, as far as it was visited.
        """
        game, ply, lost = self.game_, 0, 0.0
        #: the chance of a position, and the chance that it comes up without an error before it
        level = {game.start(): np.ones(2)}
        while level:
            following: dict[Any, Any] = {}
            for position, chances in level.items():
                moves = self._best_moves(position, ply)
                engine.clear()
                chosen = engine.search(position, **limits).whole().move
                if chosen in moves:
                    moves = [chosen]
                else:
                    lost += chances[1]
                    often = min(MOST, 1 + int(OFTEN * chances[1]))
                    classes = _referee(game).classes(position)
                    self._errors += self._keep_moves(position, ply, classes) * often
                    chances = chances * (1.0, 0.0)
                    for move in (chosen, *moves):
                        after = game.play(position, move)
                        if game.outcome(after) is None:
                            self._errors += self._keep_end(engine, after, ply + 1, limits) * often
                for move in moves:
                    after = game.play(position, move)
                    replies = self._best_moves(after, ply + 1)
                    for reply in replies:
                        later = game.play(after, reply)
                        part = chances / (len(moves) * len(replies))
                        following[later] = following.get(later, 0.0) + part
            level = {
                position: chances
                for position, chances in following.items()
                if chances[0] >= self.whole and game.outcome(position) is None
            }
            ply += 2
        return 1.0 - lost

    def _keep_end(
        self, engine: Engine, position: Any, ply: int, limits: dict[str, Any]
    ) -> list[tuple[Any, int]]:
        """Keep all moves at the end of what a search foresees, where the solver is fast."""
        engine.clear()
        for move in engine.search(position, **limits).whole().pv[:-1]:
            position, ply = self.game_.play(position, move), ply + 1
        if ply < self._plies[0]:
            return []
        return self._keep_moves(position, ply, _referee(self.game_).classes(position))

    def _keep_moves(
        self, position: Any, ply: int, classes: dict[Any, int]
    ) -> list[tuple[Any, int]]:
        """Keep and return the positions after all moves that do not end the game, with classes."""
        game = self.game_
        after = {game.play(position, move): -kind for move, kind in classes.items()}
        unfinished = {one: kind for one, kind in after.items() if game.outcome(one) is None}
        if unfinished:
            self._kept.setdefault(ply, {}).update(unfinished)
        return [*unfinished.items()]

    def _best_moves(self, position: Any, ply: int) -> list[Any]:
        """Returns the moves that keep the class, for the second side only the best of these.

        There are none after the end.
        """
        if position not in self._best:
            referee, moves = _referee(self.game_), list[Any]()
            if self.game_.outcome(position) is None and ply % 2 == 0:
                classes = referee.classes(position)
                moves = [move for move in classes if classes[move] == max(classes.values())]
                self._keep_moves(position, ply, classes)
            elif self.game_.outcome(position) is None:
                moves = referee.best(position)
            self._best[position] = moves
        return self._best[position]

    # --- learning -----------------------------------------------------------------------------

    def _learn(self, rows: Any, low: Any, high: Any, **how: Any) -> tuple[float, dict[str, Any]]:
        """Move the weights towards the classes, and the evaluator towards their mean."""
        values, random = low, how["random"]
        sound, self._errors = {}, []
        if self.whole:
            plain, aided = self._engines()
            share = self._sweep(plain, depth=self.depth, nodes=self.nodes)
            searched = self._sweep(aided, nodes=SEARCHED)
            sound = {"sound games": f"{share:.1%}", "by search": f"{searched:.1%}"}
        if self._errors:
            erred = rows_of(self.model_.inputs, np.array([at for at, _ in self._errors]))
            rows = np.concatenate([rows, erred])
            values = np.concatenate([values, [WON * kind for _, kind in self._errors]])
        stored = [position for one in self._kept.values() for position in one]
        kinds = np.array([kind for one in self._kept.values() for kind in one.values()], dtype=int)
        sizes = np.array([len(one) for one in self._kept.values()], dtype=np.int64)
        ends = np.cumsum(sizes)
        kept_rows = rows_of(self.model_.inputs, np.array(stored)) if stored else rows[:0]
        errors = []
        for _ in range(self.epochs):
            # drawn by ply: most positions are late ones, but an early mistake loses all games
            ply = random.integers(max(1, len(sizes)), size=len(rows) if stored else 0)
            some = ends[ply] - 1 - (random.random(len(ply)) * sizes[ply]).astype(np.int64)
            taught = np.concatenate([rows, kept_rows[some]])
            least, most = (
                np.concatenate([values, bound[1 + kinds[some]]]) for bound in (LOW, HIGH)
            )
            errors.append(self.model_.learn(taught, least, most, **how))
            self._passes += 1
            if self._mean is not None:
                share = (1.0 + DECAY) / (self._passes + DECAY)
                learned: Any = self.model_.evaluator
                self._mean.weights += np.float32(share) * (learned.weights - self._mean.weights)
        return errors[0], sound

    # --- state --------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        kept = [
            (ply, kind, *position)
            for ply, classes in self._kept.items()
            for position, kind in classes.items()
        ]
        state = super()._get_state() | {
            "passes": self._passes,
            "kept": packed(np.array(kept, dtype=np.int64), level=1),
            "count": len(kept),
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
        width = 2 + len(self.game_.start())
        size = width * int(state["count"])
        kept = unpacked(state["kept"], np.int64, size=size, compressed=True)
        self._kept = {}
        for ply, kind, *position in kept.reshape(-1, width).tolist():
            self._kept.setdefault(ply, {})[tuple(position)] = kind

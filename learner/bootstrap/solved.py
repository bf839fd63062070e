"""Values that follow a search to the end of the game, where a game can be searched so far.

Nothing is known beforehand: the search has no evaluator and values positions by the ends of the
game alone.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from games import truth
from games.contract import Game
from learner.bootstrap.frame import Bootstrap
from learner.options import ranged
from learner.self_play import GAMES_PER_TASK, TABLE_MIB, Lesson, Target, Teacher
from play.judging.truth import Referees
from play.match.game_loop import Played
from play.match.openings import random_line
from play.workers import Workers
from search import Engine

__all__ = ["Solved"]

#: The squashed value of a won position; 1 would ask for an infinite value.
WON = 0.98
#: The referee of each thread, which keeps its tables from game to game.
_AT_HAND = threading.local()


def _referee(game: Game) -> Any:
    known = _AT_HAND.__dict__
    if known.get("game") is not game:
        known["game"], known["referee"] = game, Referees.of(game).named["truth"](game)
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
    """All moves of the first positions of a game follow their class, by a search to its end.

    Only whether positions are won, drawn or lost is learned. A game begins after random moves, as
    many as the game's solver needs to value positions in milliseconds (`Truth.plies`), or with
    moves of a whole game: from the start the learner moves first, against perfect play at random
    among its best moves. Where its own move would throw the class away, one that keeps it is
    played. There every position and mistake of such games comes up, and is taught.

    whole: share of the games that begin with whole ones; the start position takes a solver minutes.
    positions_per_game: positions after the random moves of each game whose moves all teach.
    epochs: passes over the positions of `games_per_update` games.
    """

    games: int = 200_000
    depth: int | None = 1
    whole: float = ranged(0.0, 0, 1)
    positions_per_game: int = ranged(2, 1)
    games_per_update: int = 2000
    epochs: int = ranged(5, 1)
    #: fixed values for options that it has no use for
    opening_plies: int = field(default=0, init=False)
    within: float | None = field(default=None, init=False)
    judge: Any = field(default=None, init=False)

    def _check_options(self) -> None:
        super()._check_options()
        kind = Referees.of(self.game_).named.get("truth")
        referee = None if kind is None else kind(self.game_)
        if not isinstance(referee, truth.Teacher):
            raise ValueError(
                "game: expected one with a solver that teaches, such as connect_four, found"
                f" {self.game_.name}"
            )
        self._plies = referee.plies

    def _teacher(self) -> Teacher:
        return _Teacher(self.game_, self.positions_per_game)

    def _openings(self) -> Iterator[tuple[int, ...]]:
        """Yields the numbers of the games; their openings need the present weights."""
        self._kept: dict[Any, list[Any]] = {}
        return ((number,) for number in count())

    def _play(
        self, workers: Workers, openings: Iterable[tuple[Any, ...]], size: int = GAMES_PER_TASK
    ) -> Generator[list[Lesson], None, None]:
        engine = Engine(self.game_, self.evaluator_, table_mib=TABLE_MIB)
        moves = [self._opening(number, engine) for (number,) in openings]
        return super()._play(workers, moves, size)

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

    def _whole_game(self, random: np.random.Generator, engine: Engine) -> tuple[Any, ...]:
        """Returns the first moves of a whole game, of random number."""
        game, position, moves = self.game_, self.game_.start(), []
        for ply in range(int(random.integers(self._plies[1] + 1))):
            first = ply % 2 == 0
            best = self._best_moves(position, first)
            move = best[int(random.integers(len(best)))]
            if first:
                engine.clear()
                own = engine.search(position, depth=self.depth, nodes=self.nodes).move
                move = own if own in best else move
            position = game.play(position, move)
            if game.outcome(position) is not None:
                break
            moves.append(move)
        return tuple(moves)

    def _best_moves(self, position: Any, first: bool) -> list[Any]:
        """Returns the moves that keep the class, for the second side only the best of these."""
        if position not in self._kept:
            referee = _referee(self.game_)
            if first:
                classes = referee.classes(position)
                moves = [move for move in classes if classes[move] == max(classes.values())]
            else:
                moves = referee.best(position)
            self._kept[position] = moves
        return self._kept[position]

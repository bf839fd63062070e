"""Values that follow a search to the end of the game, where a game can be searched so far.

Nothing is known beforehand: the search has no evaluator and values positions by the ends of the
game alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from games import truth
from games.contract import Game
from learner.bootstrap.frame import Bootstrap
from learner.self_play import Target, Teacher
from play.match.game_loop import Played
from play.match.openings import random_line
from search import Engine

__all__ = ["Solved"]

#: The squashed value of a won position; 1 would ask for an infinite value.
WON = 0.98


@dataclass(frozen=True)
class _Teacher:
    game: Game
    positions_per_game: int
    traces: bool = False

    def __call__(self, played: Played, engine: Engine) -> Target:
        game, referee = self.game, self.game.referees["truth"](self.game)
        asked: list[tuple[int, ...]] = []
        classes: list[int] = []
        last = min(played.opening + self.positions_per_game, len(played.moves))
        for row in played.positions[played.opening : last]:
            position = tuple(map(int, row))
            for move, kind in referee.classes(position).items():
                after = game.play(position, move)
                if game.outcome(after) is None:
                    asked.append(after)
                    classes.append(-kind)
        values = WON * np.array(classes, dtype=np.float64)
        return Target(np.reshape(asked, (len(asked), played.positions.shape[1])), values, values)


@dataclass(kw_only=True, eq=False, repr=False)
class Solved(Bootstrap):
    """All moves of the first positions of a game follow their class, by a search to its end.

    A game begins after random moves, as many as the game's solver needs to value positions in
    milliseconds (`Truth.plies`). Only whether positions are won, drawn or lost is learned.

    positions_per_game: positions after the random moves of each game whose moves all teach.
    epochs: passes over the positions of `games_per_update` games.
    """

    games: int = 200_000
    depth: int | None = 1
    positions_per_game: int = 2
    games_per_update: int = 2000
    epochs: int = 5
    #: fixed values for options that it has no use for
    opening_plies: int = field(default=0, init=False)
    within: float | None = field(default=None, init=False)
    judge: Any = field(default=None, init=False)

    def _check_options(self) -> None:
        super()._check_options()
        if self.positions_per_game < 1:
            raise ValueError(
                f"positions_per_game: expected at least 1, found {self.positions_per_game}"
            )
        if self.epochs < 1:
            raise ValueError(f"epochs: expected at least 1, found {self.epochs}")
        kind = self.game_.referees.get("truth")
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
        """Yields random moves of random number, after which the game is not over."""
        random = np.random.default_rng((self.seed, 31))
        least, most = self._plies
        while True:
            position, moves = random_line(self.game_, int(random.integers(least, most + 1)), random)
            if self.game_.outcome(position) is None:
                yield tuple(moves)

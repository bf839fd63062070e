"""Self-play in games for more than two players, in the form that learners use for games for two.

One evaluator plays all sides. Learning begins near the end of the game, so that random play reaches
it, and moves towards the start from round to round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from games.contract import Game
from games.extras import Extra
from games.record import GameRecord
from learner.positions.shards import Rows
from play.matches.game_loop import Played
from search import Engine

__all__ = ["LateStarts", "MultiplayerSelfPlay", "PlayedByMany", "late_starts"]

#: Rounds that begin near the end: round r after at most FARTHEST * 2 ** r random moves a side from
#: there (`LateStarts`). Later ones begin at the start.
LATE_ROUNDS, FARTHEST = 8, 8
#: Share of the moves that are drawn at random, so that games differ.
RANDOM = 0.1


def _start(game: Game, moves: int, generator: np.random.Generator) -> Any:
    return game.start()


@dataclass(frozen=True)
class LateStarts(Extra):
    """Positions near the end of a game, an extra: random play may never end one from its start.

    position: `position(game, moves, generator)` returns a random position from which the game may
        end within about `moves` moves a side, at least 1. Default: the start.
    """

    position: Callable[[Any, int, np.random.Generator], Any] = _start


def late_starts(seed: int, round_games: int) -> Iterator[tuple[int, int, int]]:
    """Yields the opening of each game of a learner, endlessly.

    Each is two seeds, and the most random moves a side from the game's end, or 0 for its start.
    They take the place of the openings of games for two.
    """
    for number in count():
        done = number // round_games
        yield seed, number, FARTHEST << done if done < LATE_ROUNDS else 0


@dataclass(frozen=True)
class PlayedByMany(Played):
    """One game; `results` are the outcomes of all sides, side 0 first, None if it did not end."""

    results: tuple[float, ...] | None

    def rows(self, number: int) -> Rows:
        """Returns the positions as each player sees them, as rows of a store.

        A position of n players is n rows, that of the side to move and those that `Game.turn`
        gives. Results are 1 for a player who came first and -1 for others; values are 0. Unfinished
        games and draws of all give no rows.
        """
        game, results = self.game, self.results
        width = len(game.start())
        if results is None or max(results) == min(results):
            return Rows.of(np.zeros((0, width), dtype=np.int64))
        views: list[Any] = []
        firsts: list[int] = []
        for view in self.positions[:-1]:
            side = game.to_move(view)
            for player in range(game.players):
                view = game.turn(view) if player else view
                views.append(view)
                won = results[(side + player) % game.players] == max(results)
                firsts.append(1 if won else -1)
        plies = np.repeat(np.arange(len(self.moves)), game.players)
        return Rows.of(views, result=firsts, ply=plies, game_number=number, width=width)


class MultiplayerSelfPlay:
    """An engine that plays against itself; the counterpart of `play.matches.game_loop.GameLoop`.

    depth, nodes: limits of every search.
    most_plies: longer games are broken off, and have no result.
    """

    def __init__(
        self, game: Game, engine: Engine, *, depth: int | None, nodes: int | None, most_plies: int
    ) -> None:
        self.game = game
        self.engine = engine
        self.depth = depth
        self.nodes = nodes
        self.most_plies = most_plies

    def play(self, start: tuple[int, int, int]) -> PlayedByMany:
        """Returns the game that one of `late_starts` decides.

        Raises the evaluator's errors, and KeyboardInterrupt if stopped.
        """
        seed, number, farthest = start
        generator = np.random.default_rng((seed, number))
        begin = None
        if farthest:
            late = int(generator.integers(1, farthest + 1))
            begin = LateStarts.of(self.game).position(self.game, late, generator)
        record = GameRecord(self.game, begin)
        values: list[float] = []
        depths: list[int] = []
        while not record.over and record.ply < self.most_plies:
            if generator.random() < RANDOM:
                moves = self.game.legal_moves(record.position)
                record.play(moves[int(generator.integers(len(moves)))])
                values.append(np.nan)
                depths.append(0)
                continue
            result = self.engine.search(record.position, depth=self.depth, nodes=self.nodes).whole()
            record.play(result.move)
            values.append(result.value)
            depths.append(result.depth)
        return PlayedByMany(
            self.game, record.positions, record.moves, 0, np.array(values, dtype=np.float64),
            np.array(depths, dtype=np.int64), None, None, record.outcome() or 0.0,
            record.reason or "most plies", {}, (self.engine.evaluator.unit,) * 2,
            record.outcomes() if record.over else None,
        )  # fmt: skip

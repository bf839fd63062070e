"""Rollouts: a position is played to the end many times, and the mean outcome is its target.

The result of a single game says as much about its later mistakes as about the position. The chance
part of the mean of n quick games, which differ by noise in their values
(`search.evaluators.noise`), falls as 1 / sqrt(n). The mean estimates the outcome between players of
that depth and noise, not the value under best play. (Tesauro and Galperin, "On-line policy
improvement using Monte-Carlo search", 1996, for backgammon.)
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learner.positions.shards import Rows
from play.matches.game_loop import GameLoop
from play.workers import Workers
from search import PROVEN, Engine, Evaluator
from search.evaluators.noise import NoisyEvaluator

__all__ = ["Rollout", "slight_noise"]

#: Searches of rollouts are short, and the table is emptied for each game.
TABLE_MIB = 0.125
#: Games in a task: enough to be worth sending, few enough to keep all workers busy to the end.
GAMES_PER_TASK = 64

Positions = NDArray[np.int64]
#: Positions [games, integers] to play out, and the number of each game among its position's.
_Task = tuple[Positions, list[int]]


@dataclass(frozen=True)
class Rollout:
    """Plays positions out with an evaluator against itself, with noise in both sides' values.

    games: games from each position.
    depth: limit of every search in plies.
    noise: standard deviation of the noise added to static values, in the evaluator's unit; with 0
        all games of a position are the same.
    most_plies: longer games are drawn.
    decide: whether a game ends once search has proven it won, which makes positions near the end
        cheap.
    seed: seed of all noise.

    The noise of a game depends only on the seed, the position and the number of the game, so that
    the outcomes of a position do not depend on other positions or on the workers. A position
    comes without its history: repetitions and quiet moves count from there on. For games without
    dice.

    In checkers, players that look one ply ahead draw most won positions, so that many of their
    games say less than one search; with three plies, 8 games say more.
    """

    evaluator: Evaluator
    _: KW_ONLY
    games: int = 8
    depth: int
    noise: float
    most_plies: int = 200
    decide: bool = True
    seed: int = 0

    def outcomes(self, positions: Any, *, workers: Workers | None = None) -> NDArray[np.float64]:
        """Returns each game's outcome for the side to move at its start, [positions, games]."""
        width = len(self.evaluator.game.start())
        rows = np.asarray(positions, dtype=np.int64).reshape(-1, width)
        tasks = self._tasks(rows)
        played = map(self._play, tasks) if workers is None else workers.map(self._play, tasks)
        outcomes = [np.zeros(0), *played]
        return np.concatenate(outcomes).reshape(len(rows), self.games)

    def label(self, rows: Rows, *, workers: Workers | None = None) -> Rows:
        """Returns the rows, in order, with the means of rollouts as results, float32.

        Outcomes in points count by their sign, as in the results of a position store. With
        `decide`, rows whose value is that of a game won or lost are not played and get that result.
        All other columns stay the same, `value` too. Equal positions get equal results: make the
        rows `distinct` first.
        """
        proven = (np.abs(rows.value) > PROVEN) & self.decide
        result = np.sign(rows.value)
        wins = np.sign(self.outcomes(rows.positions[~proven], workers=workers))
        result[~proven] = wins.mean(axis=1)
        return replace(rows, result=result.astype(np.float32))

    def _tasks(self, rows: Positions) -> Iterator[_Task]:
        numbers = np.arange(len(rows) * self.games)
        for first in range(0, len(numbers), GAMES_PER_TASK):
            places, games = np.divmod(numbers[first : first + GAMES_PER_TASK], self.games)
            yield rows[places], games.tolist()

    def _play(self, task: _Task) -> NDArray[np.float64]:
        """Play some games, each independent of the others; returns their outcomes."""
        game = self.evaluator.game
        # an engine of its own, because threads share the rollout
        evaluator = NoisyEvaluator(self.evaluator, amplitude=self.noise)
        engine = Engine(game, evaluator, table_mib=TABLE_MIB)
        loop = GameLoop(
            game,
            engine,
            engine,
            depth=self.depth,
            most_plies=self.most_plies,
            decide=self.decide,
        )
        outcomes = []
        for row, number in zip(*task, strict=True):
            position = tuple(row.tolist())
            evaluator.seed = self._seed(position, number)
            engine.clear()
            outcomes.append(loop.play(start=position).outcomes()[0])
        return np.array(outcomes)

    def _seed(self, position: tuple[int, ...], number: int) -> int:
        digest = hashlib.blake2b(repr((self.seed, number, position)).encode(), digest_size=8)
        return int.from_bytes(digest.digest(), "little") >> 1


def slight_noise(values: ArrayLike) -> float:
    """Returns a standard deviation of noise that varies games and hardly weakens the players.

    It is a sixteenth of the root mean square of the values, without games won or lost: about a
    tenth of a man in checkers. It is 1 if all values are 0.
    """
    undecided = np.asarray(values, dtype=np.float64)
    undecided = undecided[np.abs(undecided) <= PROVEN]
    return float(np.sqrt(np.mean(np.square(undecided)))) / 16.0 if undecided.any() else 1.0

"""Fixed positions that judge a run's evaluators on the way, from games that are not learned from.

They come from games of the evaluator that the learner begins with against itself, and stay the same
while it learns, so that the loss on them tells one evaluator of the run from another.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from games.contract import Game
from learner.regression.targets import fit_scale, mean_loss
from learner.self_play import Task, games_of
from programs.whole_files import write_atomically
from search import PROVEN, Evaluator, as_evaluator

__all__ = ["HeldOut"]

#: Games, their longest in plies, and positions, at most.
GAMES, MOST_PLIES, MOST_POSITIONS = 300, 300, 4000
#: Depth and nodes of the searches; length of the shortest openings, and the seed of their order.
DEPTH, NODES, OPENING_PLIES, SEED = 3, 300, 4, 5_000_011


@dataclass(frozen=True)
class HeldOut:
    """Quiet undecided positions of games that are not learned from, with the games' results.

    positions: [positions, words].
    results: 1, 0 or -1 for the side to move, [positions].
    """

    positions: NDArray[np.int64]
    results: NDArray[np.float64]

    @classmethod
    def drawn(cls, game: Game, evaluator: Any, *, games: int) -> Self | None:
        """Returns positions of `games` games of an evaluator against itself, 300 at most.

        None if no game has an undecided position.
        """
        player = as_evaluator(game, evaluator)
        task = Task(game, player, None, DEPTH, NODES, MOST_PLIES, decide=True)
        positions, results = [], []
        for played in games_of(task, games=min(games, GAMES), plies=OPENING_PLIES, seed=SEED):
            won = np.sign(played.outcomes())
            for ply in range(played.opening, len(played.moves)):
                position = tuple(map(int, played.positions[ply]))
                if abs(played.values[ply]) <= PROVEN and not game.noisy(position):
                    positions.append(position)
                    results.append(float(won[ply]))
        if not positions:
            return None
        step = -(-len(positions) // MOST_POSITIONS)
        return cls(np.array(positions[::step], dtype=np.int64), np.array(results[::step]))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Returns the positions of a file; raises ValueError if it is damaged."""
        try:
            arrays = safetensors.numpy.load(path.read_bytes())
            return cls(arrays["positions"], arrays["results"])
        except (safetensors.SafetensorError, KeyError) as error:
            raise ValueError(f"{path}: expected held-out positions, found {error}") from None

    def write(self, path: Path) -> None:
        """Write the positions to a file, which is replaced as a whole."""
        arrays = {"positions": self.positions, "results": self.results}
        write_atomically(path, safetensors.numpy.save(arrays))

    def loss(self, evaluator: Evaluator) -> float:
        """Returns the mean squared error of results (0 to 1) predicted by an evaluator's values.

        A value predicts sigmoid(K · value), with the K that fits these positions best, or 0 where
        results do not rise with values. So the unit of the values does not matter.
        """
        values = np.asarray(evaluator.values([*map(tuple, self.positions.tolist())]))
        values = np.clip(values.astype(np.float64), -PROVEN, PROVEN)
        try:
            scale = fit_scale(values, self.results)
        except ValueError:
            scale = 0.0
        targets, weights = (self.results + 1) / 2, np.ones(len(values))
        return float(mean_loss("squared", scale * values, targets, weights)[0])

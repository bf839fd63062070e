"""RootStrap: the static value of a position follows what its search backs up.

Source: J. Veness, D. Silver, W. Uther and A. Blair, "Bootstrapping from Game Tree Search", NIPS 22
(2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from games.contract import Game
from learner.bootstrap import Bootstrap
from learner.model import squash
from learner.self_play import Target, pick, quiet
from play.game_loop import Played
from search import Engine

__all__ = ["RootStrap"]


@dataclass(frozen=True)
class _Teacher:
    game: Game
    scale: float
    traces: bool = False

    def __call__(self, played: Played, engine: Engine) -> Target:
        first, last = played.opening, len(played.moves)
        kept = np.flatnonzero(quiet(self.game, played.positions[first:last])) + first
        values = squash(played.values[kept], self.scale)
        return Target(pick(played.positions, kept), values, values)


class RootStrap(Bootstrap):
    """The positions of the games follow their backed-up values, where they are quiet.

    In games with dice these are exact averages over all rolls: no luck is in the targets.
    """

    takes_dice = True

    def __init__(
        self,
        game: Any = "checkers",
        *,
        games: int = 2000,
        depth: int | None = 5,
        nodes: int | None = None,
        seed: int = 0,
        inputs: Any = "classic",
        hidden: tuple[int, ...] | None = None,
        fixed: dict[str, float] | None = None,
        rate: float = 0.01,
        scale: float = 1.5,
        games_per_update: int = 8,
        opening_plies: int = 4,
        within: float | None = None,
        judge: Any = "classic",
        most_plies: int = 200,
        decide: bool = True,
        workers: Any = None,
    ) -> None:
        self.game = game
        self.games = games
        self.depth = depth
        self.nodes = nodes
        self.seed = seed
        self.inputs = inputs
        self.hidden = hidden
        self.fixed = fixed
        self.rate = rate
        self.scale = scale
        self.games_per_update = games_per_update
        self.opening_plies = opening_plies
        self.within = within
        self.judge = judge
        self.most_plies = most_plies
        self.decide = decide
        self.workers = workers

    def _teacher(self) -> _Teacher:
        return _Teacher(self.game_, self.scale)

"""Players of backgammon with the cube: they double, answer doubles, and move for the stakes."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from games.contract import DiceGame
from games.cube import cube_of
from play.players.gnubg import PUBEVAL, GnubgNetworks
from play.players.gnubg_program import GnubgCubeSeat
from play.players.limits import Limits
from play.players.player import Player
from play.players.seats import Searcher

__all__ = ["CubeSeat", "cube_seat"]


class CubeSeat(Protocol):
    """Makes the decisions of one side; situations are as `games.backgammon.situation.Situation`."""

    def begin(self, stream: int, side: int) -> None:
        """Begin a new game."""

    def decision(self, situation: Any) -> Any:
        """Returns the decision about the cube of the side to move, before its roll."""

    def choose(self, situation: Any) -> Any:
        """Returns a legal move with the roll of the situation."""


def cube_seat(game: DiceGame, player: Player, limits: Limits) -> CubeSeat:
    """Returns a seat of a player.

    `gnubg:N` is GNU Backgammon itself, with its own cube (`play.players.gnubg_program`).

    Raises ValueError if the player gives no chances of the game's outcomes, and ModuleNotFoundError
    if GNU Backgammon is not installed.
    """
    if isinstance(player.program, GnubgNetworks) and player.program.name != PUBEVAL:
        return GnubgCubeSeat(game, player.program.ply)
    if player.evaluator is None or not player.evaluator.gives_outcomes:
        raise ValueError(
            f"player: with the cube expected an evaluator that gives the chances of outcomes, found"
            f" {player.name}"
        )
    limits = player.within(limits)
    options = {"table_mib": limits.table_mib, "lookup": player.lookup, **player.options}
    return _EngineCubeSeat(game, player.evaluator, limits, options)


class _EngineCubeSeat(Searcher):
    """An evaluator with its search."""

    def decision(self, situation: Any) -> Any:
        """Returns the decision by the chances that the search finds."""
        return self.engine.cube(situation, **self.limits.options)

    def choose(self, situation: Any) -> Any:
        """Returns the move after which the position is worth most with the cube at this score."""
        found = self.search(situation.position, situation.roll, all_moves=True)
        if len(found.moves) == 1:
            return found.move
        values = cube_of(self.engine.game).values(situation, np.array(found.move_outcomes))
        # Where the cube does not tell moves apart, the value without it decides.
        best = max(
            range(len(values)), key=lambda n: (round(float(values[n]), 9), found.moves[n][1])
        )
        return found.moves[best][0]

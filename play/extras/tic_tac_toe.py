"""Extras of tic-tac-toe for play: its opponents and referee."""

from __future__ import annotations

from games.extras import extend
from games.tic_tac_toe import TicTacToe
from games.truth import Exhaustive
from play.judging.truth import Referees
from play.players.levels import Levels
from play.players.opponents import Opponents

extend(
    TicTacToe,
    Opponents(("random", "open_lines")),
    Levels(("open_lines@1,noise=3", "open_lines@2")),
    Referees({"truth": Exhaustive}),
)

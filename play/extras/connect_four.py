"""Extras of Connect Four for play: its opponents, levels and referee."""

from __future__ import annotations

from games.connect_four import ConnectFour
from games.connect_four.solver import Solver
from games.extras import extend
from play.judging.truth import Referees
from play.players.levels import Levels
from play.players.opponents import Opponents

extend(
    ConnectFour,
    Opponents(("random", "centre", "hand"), ("centre", "hand"), "solved", lookup="solver"),
    Levels(
        (
            "hand@1,noise=2",
            "hand@nodes=30,noise=1",
            "hand@nodes=100",
            "hand@nodes=2000",
            "hand@nodes=10000",
            "solved+none@nodes=200,noise=0.3",
        )
    ),
    Referees({"truth": lambda _: Solver(table_mib=64)}),
)

"""Extras of Connect Four for play: its opponents and who knows exact values."""

from __future__ import annotations

from games.connect_four import ConnectFour
from games.connect_four.solver import Solver
from games.extras import extend
from play.judging.truth import Referees
from play.players.opponents import Opponents

extend(
    ConnectFour,
    Opponents(("random", "centre", "hand"), ("centre", "hand"), "solved", lookup="solver"),
    Referees({"truth": lambda _: Solver(table_mib=64)}),
)

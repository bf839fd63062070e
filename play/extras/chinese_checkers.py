"""Extras of Chinese Checkers for play: its opponents and levels."""

from __future__ import annotations

from games.chinese_checkers import ChineseCheckers, ChineseCheckers2, ChineseCheckers6
from games.extras import extend
from play.players.levels import Levels
from play.players.opponents import Opponents

LEVELS = Levels(
    (
        "hand@1,noise=0.55",
        "hand@1,noise=0.4",
        "hand@1,noise=0.2",
        "hand@1",
        "hand@nodes=1000",
        "hand@nodes=3000",
    )
)

extend(ChineseCheckers, Opponents(("steps", "hand"), shipped="batch"), LEVELS)
for kind in (ChineseCheckers2, ChineseCheckers6):
    extend(kind, Opponents(("steps", "hand")), LEVELS)

"""Extras of Chinese Checkers for play: its opponents."""

from __future__ import annotations

from games.chinese_checkers import ChineseCheckers, ChineseCheckers2, ChineseCheckers6
from games.extras import extend
from play.players.opponents import Opponents

extend(ChineseCheckers, Opponents(("steps", "hand"), shipped="batch"))
for kind in (ChineseCheckers2, ChineseCheckers6):
    extend(kind, Opponents(("steps", "hand")))

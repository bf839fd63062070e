"""The doubling cube: chances in a match, equities with a cube, and decisions about it."""

from games.backgammon.doubling.cubeful import CubefulStakes
from games.backgammon.doubling.decision import CubeDecision, DoublingCube
from games.backgammon.doubling.efficiency import efficiencies
from games.backgammon.doubling.match_equity import MatchEquities
from games.backgammon.doubling.own_table import match_equities

__all__ = [
    "CubeDecision",
    "DoublingCube",
    "MatchEquities",
    "CubefulStakes",
    "efficiencies",
    "match_equities",
]

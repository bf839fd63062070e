"""The doubling cube: chances in a match, equities with a cube, and decisions about it."""

from games.backgammon.doubling.cubeful import Stakes
from games.backgammon.doubling.decision import CubeDecision, cube_values, decide, may_double
from games.backgammon.doubling.efficiency import efficiency
from games.backgammon.doubling.match_equity import MatchEquities, read_match_equities
from games.backgammon.doubling.own_table import match_equities

__all__ = [
    "CubeDecision",
    "MatchEquities",
    "Stakes",
    "cube_values",
    "decide",
    "efficiency",
    "match_equities",
    "may_double",
    "read_match_equities",
]

"""The doubling cube: chances in a match, equities with a cube, and decisions about it."""

from games.backgammon.doubling.cubeful import Stakes
from games.backgammon.doubling.decision import (
    CubeDecision,
    accepts,
    cube_stakes,
    cube_values,
    decide,
    may_double,
    owner_of,
)
from games.backgammon.doubling.efficiency import efficiencies
from games.backgammon.doubling.match_equity import MatchEquities, read_match_equities
from games.backgammon.doubling.own_table import match_equities

__all__ = [
    "CubeDecision",
    "MatchEquities",
    "Stakes",
    "accepts",
    "cube_stakes",
    "cube_values",
    "decide",
    "efficiencies",
    "match_equities",
    "may_double",
    "owner_of",
    "read_match_equities",
]

"""Settings of training runs of backgammon: option names and values by the learner's name."""

from __future__ import annotations

from typing import Any

from games.backgammon import Backgammon
from games.backgammon.kinds import KINDS, LONG
from games.extras import extend
from learner.positions.kinds import RareKinds
from learner.run.recipes import UsualRuns

#: Scale for squashing values in points.
_POINTS = 3.0
#: A limit for games that neither side would bring to an end.
_MOST_PLIES = 400
#: From zero weights, moves by static values; snapshots with enough games for dice.
_LINEAR: dict[str, Any] = {
    "depth": 0,
    "snapshots": 8,
    "snapshot_games": 1000,
    "final_games": 2000,
    "match_games": 4000,
}
_NETWORK: dict[str, Any] = {
    "snapshots": 4,
    "snapshot_games": 1000,
    "final_games": 1000,
    "match_games": 4000,
}

RECIPES: dict[str, dict[str, Any]] = {
    "samuel": {
        "games": 2500,
        **_LINEAR,
        "options": {
            "inputs": "linear",
            "round_games": 250,
            "K": 1.0,
            "lambda_": 0.0,
            "active": 21,
            "most_plies": _MOST_PLIES,
        },
    },
    "td": {
        "games": 8000,
        **_LINEAR,
        "options": {
            "inputs": "linear",
            "scale": _POINTS,
            "most_plies": _MOST_PLIES,
            "games_per_update": 16,
        },
    },
    "rootstrap": {
        "games": 2500,
        **_LINEAR,
        "options": {"inputs": "linear", "scale": _POINTS, "most_plies": _MOST_PLIES},
    },
    "batch": {
        "games": 2500,
        **_LINEAR,
        "options": {"inputs": "linear", "round_games": 250, "K": 1.0, "most_plies": _MOST_PLIES},
    },
    "tdgammon": {"games": 500_000, "depth": 0, **_NETWORK},
    # a search for terms takes minutes
    "invent": {"games": 50_000, "depth": 0, **_NETWORK, "options": {"every": 25}},
    # The whole way to a strong network; races are valued by calculation.
    "backups": {"games": 300_000, "depth": 1, "from": "backgammon/wide", **_NETWORK},
}

extend(Backgammon, UsualRuns("tdgammon", RECIPES), RareKinds(KINDS, LONG, ("race",)))

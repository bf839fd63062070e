"""Settings of training runs of Connect Four: option names and values by the learner's name.

Each run takes minutes on two cores, except that of `quantised`.
"""

from __future__ import annotations

from typing import Any

from games.connect_four import ConnectFour
from games.extras import extend
from learner.run.making import Making, Makings
from learner.run.recipes import UsualRuns

#: Learning starts with all weights at zero.
_LINEAR: dict[str, Any] = {"games": 2000, "depth": 5, "snapshots": 8}

RECIPES: dict[str, dict[str, Any]] = {
    "samuel": _LINEAR,
    "samuel1959": {"games": 400, "depth": 5},
    "rote": {"games": 400, "depth": 5, "from": "hand"},
    "td": {"games": 4000, "depth": 3, "snapshots": 8},
    "tdleaf": _LINEAR,
    "rootstrap": _LINEAR,
    "treestrap": _LINEAR,
    "solved": {
        "games": 100_000,
        "depth": 1,
        "snapshots": 2,
        "options": {
            "tuples": "lines",
            "rate": 1.0,
            "scale": 1.0,
            "whole": 40,
            "games_per_update": 4000,
            "epochs": 8,
        },
    },
    "batch": {**_LINEAR, "snapshots": 4},
    "network": {
        "games": 4000,
        "depth": 5,
        "from": "hand",
        "snapshots": 4,
        "options": {"inputs": "stones"},
    },
    "invent": {
        "games": 4000,
        "depth": 5,
        "from": "hand",
        "snapshots": 2,
        "options": {"inputs": "stones", "terms": 30},
    },
    "quantised": {
        "games": 20_000,
        "depth": None,
        "nodes": 2000,
        "from": "hand",
        "snapshots": 4,
        # stones on the board at which the second and the third phase begin
        "options": {"inputs": "stones", "phases": (14, 28)},
    },
}

MAKINGS = {
    "solved": Making(
        ("train connect_four --learner solved --seed 2 --run {folder}/run",),
        "run/last.safetensors",
        "ten minutes",
    )
}

extend(ConnectFour, UsualRuns(settings=RECIPES), Makings(MAKINGS))

"""Settings of training runs of checkers: option names and values by the learner's name."""

from __future__ import annotations

from typing import Any

from games.checkers import Checkers
from games.extras import extend
from learner.run.making import Making, Makings
from learner.run.recipes import UsualRuns

#: Number of snapshots for learners whose snapshots are not worth the time of measuring more.
_FEW = 8
_FROM_MATERIAL: dict[str, Any] = {"depth": 5, "from": "material"}
_NETWORK: dict[str, Any] = {"games": 8000, **_FROM_MATERIAL, "snapshots": 4}

RECIPES: dict[str, dict[str, Any]] = {
    # Few snapshots of many games have narrow intervals. Of whole games a third of the plies came
    # after the hundredth, and a sixth of the positions with even pieces.
    "samuel": {
        "games": 900,
        "depth": 6,
        "snapshots": 4,
        "snapshot_games": 120,
        "options": {"most_plies": 100, "invent": 3, "alpha": 1e-2},
    },
    "samuel1959": {"games": 600, "depth": 5},
    "rote": {"games": 1200, "depth": 5, "from": "rote"},
    "td": {"games": 8000, "depth": 3, "from": "material", "snapshots": _FEW},
    "tdleaf": {"games": 6000, **_FROM_MATERIAL, "snapshots": _FEW},
    "rootstrap": {"games": 6000, **_FROM_MATERIAL, "snapshots": _FEW},
    "treestrap": {"games": 2000, **_FROM_MATERIAL, "snapshots": _FEW},
    "batch": {
        "games": 6000,
        **_FROM_MATERIAL,
        "snapshots": 4,
        # from material: the targets of RootStrap
        "options": {"blend": 0.0, "K": 4 / 3, "loss": "squared"},
    },
    "samuel1967": {"games": 400, "depth": 5, "snapshots": 3},
    "network": {**_NETWORK, "options": {"blend": 0.2}},
    "invent": {**_NETWORK, "options": {"blend": 0.2, "inputs": "piece_squares"}},
    # from nothing to a network like the shipped one, in hours
    "quantised": {
        "games": 120_000,
        "depth": None,
        "nodes": 5000,
        "from": "material",
        "snapshots": 24,
        "snapshot_games": 100,
        "opponents": ("classic", "quantised"),
        "options": {
            "round_games": 5000,
            "growing": 16,
            "tree_positions": 1000,
            "epochs": 1,
            "opening_plies": 10,
        },
    },
}

#: How shipped files are made, by their short names.
MAKINGS = {
    "network": Making(
        ("train checkers --learner network --games 13000 --snapshots 1 --run {folder}/run",),
        "run/best.safetensors",
        "four minutes",
    ),
    "rootstrap": Making(
        ("train checkers --learner rootstrap --games 21000 --snapshots 1 --run {folder}/run",),
        "run/best.json",
        "four minutes",
    ),
    "invented": Making(
        (
            "train checkers --learner invent --seed 2 --set terms=64 --snapshots 1"
            " --run {folder}/run",
        ),
        "run/best.json",
        "ten minutes",
    ),
    "samuel": Making(
        (
            "train checkers --run {folder}/run",
            "learner calibrate checkers {folder}/run/best.json --games 800",
        ),
        "run/best.json",
        "two minutes",
    ),
    "samuel1959": Making(
        ("train checkers --learner samuel1959 --run {folder}/run",), "run/best.json", "two minutes"
    ),
    "endgame5.results": Making(
        (
            "endgame build --pieces 5",
            "endgame pack {folder}/endgame5.results.safetensors",
        ),
        "endgame5.results.safetensors",
        "two minutes",
    ),
    "even.openings": Making(
        ("play openings checkers {folder}/even.openings.json",), "even.openings.json", "a minute"
    ),
    # openings that favour a side, because games from even ones are nearly all drawn
    "biased.openings": Making(
        (
            "play openings checkers {folder}/biased.openings.json --plies 5 6 --nodes 10000"
            " --beyond 0.3 --within 0.8 --judge quantised@selective rootstrap@selective",
        ),
        "biased.openings.json",
        "half a minute",
    ),
}

extend(Checkers, UsualRuns(settings=RECIPES), Makings(MAKINGS))

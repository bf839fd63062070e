"""Extras of sliding tiles for learners: settings of runs."""

from __future__ import annotations

from games.extras import extend
from games.puzzles.sliding_tiles import Sliding8, Sliding15, Sliding24
from learner.run.making import Making, Makings
from learner.run.recipes import UsualRuns

extend(Sliding8, UsualRuns(settings={"bootstrap": {"match_games": 400}}))
extend(
    Sliding15,
    UsualRuns(
        settings={
            "bootstrap": {
                "games": 16_000,
                "nodes": 20_000,
                "match_games": 100,
                "options": {"enough": 0.9, "percentile": 85.0},
            }
        }
    ),
)
extend(
    Sliding24,
    UsualRuns(
        settings={
            "bootstrap": {
                "from": "linear_conflict",
                "opponents": ("linear_conflict",),
                "games": 20_000,
                "nodes": 200_000,
                "match_games": 100,
                "options": {"width": 500, "each": 200},
            }
        }
    ),
    Makings(
        {
            "bootstrap": Making(
                ("train sliding24 --seed 1 --run {folder}/run",),
                "run/heuristic.safetensors",
                "half an hour",
            )
        }
    ),
)

"""For learners: the usual runs."""

from __future__ import annotations

from games import extend
from learner.run.recipes import UsualRuns
from sticks.game import Sticks

_SHORT = {"games": 6, "depth": 2, "snapshots": 1, "snapshot_games": 4, "final_games": 4}

extend(Sticks, UsualRuns("rootstrap", {"rootstrap": {**_SHORT, "match_games": 4}}))

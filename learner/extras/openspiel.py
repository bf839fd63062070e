"""Extras of OpenSpiel's games for learners: settings of runs, since they have no terms."""

from __future__ import annotations

from games.extras import extend
from games.openspiel import OpenSpiel
from learner.run.recipes import SHORT_IN_PYTHON, UsualRuns

extend(
    OpenSpiel,
    UsualRuns(
        "td",
        {
            name: {"games": 300, "depth": 1, "options": {"hidden": (32,)}, **SHORT_IN_PYTHON}
            for name in ("td", "tdleaf", "rootstrap", "treestrap")
        },
    ),
)

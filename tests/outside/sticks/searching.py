"""For search: what `count+table` looks up, and what a selective search does."""

from __future__ import annotations

from typing import Any

import numpy as np

from games import extend
from games.values import WIN
from search.alphabeta.techniques import Selective
from search.evaluators.linear import UnitTerms
from search.lookups.database import Database, Databases
from sticks.game import Sticks


def probe(tables: Any, position: Any) -> tuple[bool, float, int]:
    """Known are positions with few sticks: the plies to the end, negative where they lose."""
    if not 0 < position[0] < len(tables):
        return False, 0.0, 0
    plies = float(tables[position[0]])
    return True, WIN - plies if plies > 0 else -WIN - plies, 99


extend(
    Sticks,
    Databases({"table": Database("table of four", probe, lambda: np.array([0, 1, 1, 1, -2]))}),
    UnitTerms({"sticks": {"left": 1.0}}),
    Selective("late_moves=0.5"),
)

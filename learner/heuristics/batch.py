"""Batch fit: weights fitted to the solutions that known heuristics find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from learner.heuristics.bootstrap import Bootstrap
from search.evaluators.heuristic import LearnedHeuristic

__all__ = ["BatchFit"]


@dataclass(kw_only=True, eq=False, repr=False)
class BatchFit(Bootstrap):
    """As `Bootstrap`, but its searches never use what it has learned.

    With base heuristics that never overestimate and the weight 1 the costs are the least ones.
    """

    weight: float = 1.0

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        none = np.zeros(self.encoding_.size)
        self._known = LearnedHeuristic(self.game_, self.encoding_, none, base=self.base)

    def _searcher(self) -> Any:
        return self._known

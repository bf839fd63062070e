"""Making evaluators out of games played: `from learner import Samuel, TDLeaf, BatchFit`.

A name is imported when it is first asked for, because torch takes a second to import and most
learners do without it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from learner.arena import measure
    from learner.books.book_learner import BookPolynomial
    from learner.books.book_study import BookStudy
    from learner.books.signature import SignatureTables
    from learner.bootstrap.root_strap import RootStrap
    from learner.bootstrap.td_leaf import TDLeaf
    from learner.bootstrap.temporal_difference import TemporalDifference
    from learner.bootstrap.tree_strap import TreeStrap
    from learner.checking import check
    from learner.fit.logistic import LogisticFit
    from learner.frame import Learner, Progress
    from learner.game_learner import GameLearner
    from learner.models.convert import agreement, as_native
    from learner.online.least_mean_squares import LeastMeanSquares
    from learner.online.rote import Rote
    from learner.online.samuel1959 import Samuel1959
    from learner.positions.filters import Filter
    from learner.positions.shards import Rows
    from learner.positions.store import PositionStore
    from learner.rounds.batch import BatchFit
    from learner.rounds.comparison import Comparison
    from learner.rounds.network_fit import NetworkFit
    from learner.rounds.quantised_fit import QuantisedFit
    from learner.rounds.samuel import Samuel
    from learner.run.measured_run import MeasuredRun
    from learner.run.run import Run
    from learner.run.settings import RunSettings
    from learner.td_gammon.backup_fit import BackupFit
    from learner.td_gammon.td_gammon import TDGammon
    from play.workers import Workers

#: The modules that the names come from.
_MODULES = {
    "BackupFit": "learner.td_gammon.backup_fit",
    "BatchFit": "learner.rounds.batch",
    "BookPolynomial": "learner.books.book_learner",
    "BookStudy": "learner.books.book_study",
    "Comparison": "learner.rounds.comparison",
    "Filter": "learner.positions.filters",
    "GameLearner": "learner.game_learner",
    "Learner": "learner.frame",
    "LeastMeanSquares": "learner.online.least_mean_squares",
    "LogisticFit": "learner.fit.logistic",
    "MeasuredRun": "learner.run.measured_run",
    "NetworkFit": "learner.rounds.network_fit",
    "PositionStore": "learner.positions.store",
    "Progress": "learner.frame",
    "QuantisedFit": "learner.rounds.quantised_fit",
    "RootStrap": "learner.bootstrap.root_strap",
    "Rote": "learner.online.rote",
    "Rows": "learner.positions.shards",
    "Run": "learner.run.run",
    "RunSettings": "learner.run.settings",
    "Samuel": "learner.rounds.samuel",
    "Samuel1959": "learner.online.samuel1959",
    "SignatureTables": "learner.books.signature",
    "TDGammon": "learner.td_gammon.td_gammon",
    "TDLeaf": "learner.bootstrap.td_leaf",
    "TemporalDifference": "learner.bootstrap.temporal_difference",
    "TreeStrap": "learner.bootstrap.tree_strap",
    "Workers": "play.workers",
    "agreement": "learner.models.convert",
    "as_native": "learner.models.convert",
    "check": "learner.checking",
    "measure": "learner.arena",
}

__all__ = [
    "BackupFit",
    "BatchFit",
    "BookPolynomial",
    "BookStudy",
    "Comparison",
    "Filter",
    "GameLearner",
    "Learner",
    "LeastMeanSquares",
    "LogisticFit",
    "MeasuredRun",
    "NetworkFit",
    "PositionStore",
    "Progress",
    "QuantisedFit",
    "RootStrap",
    "Rote",
    "Rows",
    "Run",
    "RunSettings",
    "Samuel",
    "Samuel1959",
    "SignatureTables",
    "TDGammon",
    "TDLeaf",
    "TemporalDifference",
    "TreeStrap",
    "Workers",
    "agreement",
    "as_native",
    "check",
    "measure",
]


def __getattr__(name: str) -> Any:
    """Import what `learner` exports (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module 'learner' has no attribute {name!r}")
    exported = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = exported
    return exported


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])

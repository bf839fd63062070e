"""Making evaluators out of games played: `from learner import Samuel, TDLeaf, BatchFit`.

A name is imported when it is first asked for, because torch takes a second to import and few
learners need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from games.extras import companions
from programs.exports import exported

if TYPE_CHECKING:
    from learner.arena import measure as measure
    from learner.books.book_study import BookStudy as BookStudy
    from learner.books.signature import SignatureTables as SignatureTables
    from learner.checking import check as check
    from learner.frame import Learner as Learner
    from learner.frame import Progress as Progress
    from learner.game_learner import GameLearner as GameLearner
    from learner.gradient.root_strap import RootStrap as RootStrap
    from learner.gradient.td_leaf import TDLeaf as TDLeaf
    from learner.gradient.temporal_difference import TemporalDifference as TemporalDifference
    from learner.gradient.tree_strap import TreeStrap as TreeStrap
    from learner.models.convert import agreement as agreement
    from learner.models.convert import as_native as as_native
    from learner.online.rote import Rote as Rote
    from learner.online.samuel1959 import Samuel1959 as Samuel1959
    from learner.positions.filters import Filter as Filter
    from learner.positions.shards import Rows as Rows
    from learner.positions.store import PositionStore as PositionStore
    from learner.regression.logistic import LogisticFit as LogisticFit
    from learner.reports.worth import start_for as start_for
    from learner.rounds.batch import BatchFit as BatchFit
    from learner.rounds.network_fit import NetworkFit as NetworkFit
    from learner.rounds.quantised_fit import QuantisedFit as QuantisedFit
    from learner.rounds.samuel import Samuel as Samuel
    from learner.run.measured_run import MeasuredRun as MeasuredRun
    from learner.run.run import Run as Run
    from learner.run.settings import RunSettings as RunSettings
    from learner.td_gammon.backup_fit import BackupFit as BackupFit
    from learner.td_gammon.td_gammon import TDGammon as TDGammon

companions(f"{__name__}.extras")

__all__, __getattr__, __dir__ = exported(__name__, __file__)

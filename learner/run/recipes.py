"""Learners by name, and what a run of each does where nobody says otherwise.

Nothing is imported here before it is asked for: `train.py --help` has to be quick.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["RECIPES", "USUAL", "Recipe"]

#: The learner of a game, where nobody names one; of all others samuel.
USUAL = {"backgammon": "tdgammon"}


@dataclass(frozen=True)
class Recipe:
    """A learner, and a run of it for each game: settings of train.py, by their names there."""

    module: str
    kind: str
    summary: str
    #: plies of the matches that measure, where they are not those of learning
    match_depth: int | None = None
    runs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def load(self) -> Any:
        """The learner's class."""
        return getattr(importlib.import_module(f"learner.{self.module}"), self.kind)

    def run(self, game: str) -> dict[str, Any]:
        """The settings for a game; for games without a recipe a short run at five plies."""
        return dict(self.runs.get(game, {"games": 300, "depth": 5}))


def _checkers(games: int, **settings: Any) -> dict[str, dict[str, Any]]:
    return {"checkers": {"games": games, "depth": 5, "from": "material", **settings}}


def _backgammon(
    games: int, *, reads: str, terms: str = "linear", **options: Any
) -> dict[str, dict[str, Any]]:
    """A run from nothing: moves by static values, and snapshots over games enough for dice."""
    measured = {"snapshots": 8, "snapshot_games": 1000, "final_games": 2000, "match_games": 4000}
    read = {reads: terms}
    return {"backgammon": {"games": games, "depth": 0, **measured, "options": {**read, **options}}}


#: Of a value in points, squashed: an outcome of three is three quarters of the way.
_POINTS = 3.0
#: A game that no side brings home.
_MOST_PLIES = 400
#: What pips say is given, as the men are in checkers; weights of up to half a point join it.
_SAMUEL_POINTS: dict[str, Any] = {
    "fixed": {"lead": 1.0, "race": 1.0, "race_rolls": 0.5},
    "active": 21,
    "threshold": 0.0,
    "asymmetric": False,
    "longest_span": 4096,
    "top_power": 6,
    "unit": 2.0**-7,
    "trial": 100,
}

#: Beside the learners that correct weights after every move, a snapshot costs more than it tells.
_FEW = 8
#: In checkers from material on: the targets of RootStrap.
_SEARCH_ALONE = {"blend": 0.0, "K": 4 / 3, "loss": "squared"}

RECIPES: dict[str, Recipe] = {
    "samuel": Recipe(
        "online.samuel",
        "Samuel",
        "Samuel 1959: correlations with what search backs up",
        runs={
            "checkers": {"games": 600, "depth": 5},
            **_backgammon(2000, reads="features", **_SAMUEL_POINTS),
        },
    ),
    "lms": Recipe(
        "online.least_mean_squares",
        "LeastMeanSquares",
        "the same by least mean squares",
        runs={
            "checkers": {"games": 1000, "depth": 5},
            **_backgammon(3000, reads="features", rate=0.005),
        },
    ),
    "rote": Recipe(
        "online.rote",
        "Rote",
        "Samuel 1959: a memory of positions",
        runs={"checkers": {"games": 1200, "depth": 5, "from": "rote"}},
    ),
    "td": Recipe(
        "bootstrap.temporal_difference",
        "TemporalDifference",
        "TD(lambda): static values follow static values",
        runs={
            **_checkers(8000, depth=3, snapshots=_FEW),
            **_backgammon(
                8000, reads="inputs", scale=_POINTS, most_plies=_MOST_PLIES, games_per_update=16
            ),
        },
    ),
    "tdleaf": Recipe(
        "bootstrap.td_leaf",
        "TDLeaf",
        "TDLeaf(lambda): ends of principal variations follow one another",
        runs=_checkers(6000, snapshots=_FEW),
    ),
    "rootstrap": Recipe(
        "bootstrap.root_strap",
        "RootStrap",
        "positions follow their backed-up values",
        runs={
            **_checkers(6000, snapshots=_FEW),
            **_backgammon(2500, reads="inputs", scale=_POINTS, most_plies=_MOST_PLIES),
        },
    ),
    "treestrap": Recipe(
        "bootstrap.tree_strap",
        "TreeStrap",
        "all positions searched follow their values or bounds",
        runs=_checkers(2000, snapshots=_FEW),
    ),
    "batch": Recipe(
        "rounds.batch",
        "BatchFit",
        "weights fitted to stored positions by logistic regression",
        runs={
            **_checkers(6000, snapshots=4, options=_SEARCH_ALONE),
            **_backgammon(2500, reads="features", round_games=250, K=1.0, most_plies=_MOST_PLIES),
        },
    ),
    "comparison": Recipe(
        "rounds.comparison",
        "Comparison",
        "weights fitted to differences between the moves of one decision, with dice",
        runs=_backgammon(4000, reads="features", terms="pubeval"),
    ),
    "signature": Recipe(
        "rounds.signature_play",
        "SignaturePlay",
        "Samuel 1967: signature tables, learned from the moves that search prefers",
        runs={"checkers": {"games": 1500, "depth": 5, "snapshots": 3}},
    ),
    "book": Recipe(
        "books.book_study",
        "BookStudy",
        "Samuel 1967: moves of master games (--set book=FILE.pdn), or of a deep search",
        runs={"checkers": {"games": 400, "depth": 9, "snapshots": 3}},
        match_depth=5,
    ),
    "network": Recipe(
        "rounds.network_fit",
        "NetworkFit",
        "a small network, trained on stored positions in rounds of self-play",
        runs=_checkers(8000, snapshots=4, options={"blend": 0.2}),
    ),
    "quantised": Recipe(
        "rounds.quantised_fit",
        "QuantisedFit",
        "a network of small integers, in generations of self-play by a selective search: hours",
        runs={
            "checkers": {
                "games": 100_000,
                "depth": None,
                "nodes": 4000,
                "from": "classic",
                "snapshots": 4,
            }
        },
    ),
    "tdgammon": Recipe(
        "td_gammon.td_gammon",
        "TDGammon",
        "networks of outcomes for games with dice, by TD(lambda) in native self-play",
        runs={
            "backgammon": {
                "games": 500_000,
                "depth": 0,
                "snapshots": 4,
                "snapshot_games": 1000,
                "final_games": 1000,
                "match_games": 4000,
            }
        },
    ),
    "backups": Recipe(
        "td_gammon.backup_fit",
        "BackupFit",
        "the same from exact averages over all rolls; best --from what tdgammon learned",
        match_depth=0,
        runs={
            "backgammon": {
                "games": 100_000,
                "depth": 1,
                "snapshots": 4,
                "snapshot_games": 1000,
                "final_games": 1000,
                "match_games": 4000,
            }
        },
    ),
}

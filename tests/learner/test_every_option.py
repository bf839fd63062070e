"""Every option of every learner changes what is learned, or is read and changes how."""

from __future__ import annotations

import ast
import functools
import inspect
import json
import re
import textwrap
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from marks import compiled_only
from toys import CHECKERS_BLOCKS

from docs.examples.online_td import OnlineTD
from games.checkers import Checkers
from games.puzzles.sliding_tiles import SlidingTiles
from learner.rounds.network_fit import NetworkFitter
from learner.run.recipes import HEURISTICS, RECIPES
from learner.td_gammon.invent import InventWithDice

BOOK = Path(__file__).resolve().parents[2] / "docs" / "examples" / "samuel_nealy_1962.pdn"
CHECKERS = Checkers()

_SEARCHES = {"opening_plies": 2, "most_plies": 40, "depth": 2}
_BOOTSTRAP = {
    **_SEARCHES,
    "game": CHECKERS,
    "games": 8,
    "games_per_update": 4,
    "fixed": {"men": 1.0},
}
_ROUNDS = {**_SEARCHES, "game": CHECKERS, "games": 12, "round_games": 4}
_HEURISTIC = {"game": SlidingTiles(3, 2), "games": 48, "each": 12, "nodes": 40}
#: A run of each learner that takes a moment.
RUNS: dict[str, dict[str, Any]] = {
    "samuel": {**_ROUNDS, "games": 40, "round_games": 20},
    "samuel1959": {"game": CHECKERS, "games": 6, "depth": 2, "trial": 2},
    "rote": {"game": CHECKERS, "games": 8, "depth": 2, "openings": 4},
    "td": _BOOTSTRAP,
    "tdleaf": _BOOTSTRAP,
    "rootstrap": _BOOTSTRAP,
    "treestrap": _BOOTSTRAP,
    "solved": {"game": "connect_four", "games": 6, "games_per_update": 3, "rate": 0.1},
    "batch": {**_ROUNDS, "games": 40, "round_games": 20, "K": 1.0, "fixed": {"men": 1.0}},
    "samuel1967": {"book": str(BOOK), "games": 30},
    "network": {**_ROUNDS, "hidden": (6,), "rate": 0.01, "batch_size": 32},
    "invent": {**_ROUNDS, "games": 40, "round_games": 20, "hidden": (6,), "rate": 0.01},
    "quantised": {
        **_ROUNDS, "depth": None, "nodes": 60, "hidden": (6,), "rate": 0.01, "batch_size": 64,
        "endgame": 3,
    },
    "tdgammon": {
        "games": 60, "inputs": "points", "hidden": (12,), "round_games": 5,
    },
    "backups": {
        "games": 4, "round_games": 2, "hidden": (8,), "samples": 2, "batch_size": 32,
        "rate": 0.003, "inputs": "points", "bear_off": False, "most_positions": 100_000,
        "precision": "float32",
    },
    "heuristic bootstrap": _HEURISTIC,
    "heuristic admissible": {"game": SlidingTiles(3, 2)},
}  # fmt: skip
#: What an option is changed to, for all learners that have it or, as "LEARNER OPTION", for one.
CHANGES: dict[str, Any] = {
    "K": 2.0, "active": 5, "alpha": 0.5,
    "asymmetric": False, "base": ("misplaced",), "batch_size": 16, "bear_off": True,
    "black_first": False, "blend": 0.9, "book": None, "bounds": False, "candidates": 1,
    "capacity": 50, "decide": False, "depth": 3, "direction": 0.05, "each": 11,
    "encoding": None, "endgame": 0, "enough": 0.1, "epochs": 3, "every": 1,
    "explained": 20, "terms": 2,
    "fixed": {"men": 2.0}, "games": 7, "games_per_update": 2, "growing": 2,
    "held_out": 0.6, "hidden": (5,), "inputs": "samuel",
    "invent": 1, "keep_rounds": 1, "lambda_": 0.2,
    "last_rate": 0.0005, "library": None,
    "loss": "squared",
    "most_plies": 12, "most_positions": 300,
    "nodes": 25, "oldest": 1, "opening_plies": 1, "openings": 2,
    "percentile": 50.0, "phase": "long plans", "phases": (12,), "precision": "bfloat16",
    "rate": 0.05, "replacement_pause": 0,
    "round_games": 3, "samples": 3, "scale": 0.7,
    "seed": 5,
    "side": "winner",
    "tables": 1, "tallies": 1,
    "techniques": "exact", "threshold": 0.0, "tree_positions": 9, "trial": 1,
    "tuples": CHECKERS_BLOCKS, "weight": 4.0, "whole": 0.9, "width": 5,
    "samuel inputs": "classic", "samuel fixed": {"PIECES": 0.3},
    "samuel loss": "cross_entropy",
    "samuel library": ("ADV", "BACK", "CENT"),
    "samuel1959 inputs": "classic", "samuel1959 fixed": {"PIECES": 5.0},
    "samuel1959 library": ("ADV", "BACK", "CENT"),
    "quantised inputs": "phase_squares", "tdgammon inputs": "linear", "backups inputs": "linear",
}  # fmt: skip
#: Options by which a learner may be asked for the same in another way: results stay the same, so
#: that they only have to be read.
HOW = {"device", "fit_threads", "games_per_report", "store", "threads", "workers"}
#: Options of a run that make an option matter.
WITH: dict[str, dict[str, Any]] = {
    "hidden": {"fixed": None},
    "tuples": {"fixed": None},
    "decide": {"most_plies": 200, "depth": 3},
    "inputs": {"fixed": None},
    "samuel1959 inputs": {},
    "samuel inputs": {},
    "heuristic bootstrap weight": {"base": ("manhattan",)},
    "width": {"base": ("manhattan",)},
}


#: Options that only longer runs, or others than these, show: they have to be read.
UNSEEN = {
    "heuristic bootstrap encoding", "quantised endgame", "quantised techniques", "rote capacity",
    "rote direction", "rote games", "rote oldest", "tdgammon candidates", "tdleaf decide",
}  # fmt: skip
#: Options that are not read after the check of their range: it refuses all but one value, makes of
#: it what is read, or, of `samuel1967`, the limit is one of the matches that measure.
CHECKED = {
    "backups nodes", "quantised endgame", "quantised techniques", "samuel1967 nodes",
    "tdgammon nodes",
}  # fmt: skip
#: Classes that get all options of a learner.
PARTS = dict.fromkeys(("network", "invent"), (NetworkFitter,))
#: Packages whose classes do not count in the chain of a learner.
OUTSIDE = {"builtins", "sklearn"}
#: Learners of which no run here is small enough: their options have to be read.
LONG = {"heuristic admissible", "invent", "network", "samuel1967", "solved"}


def kinds() -> dict[str, Any]:
    """Returns the classes of all learners, by name; those of puzzles are "heuristic NAME"."""
    found = {name: recipe.load() for name, recipe in RECIPES.items()}
    return found | {f"heuristic {name}": recipe.load() for name, recipe in HEURISTICS.items()}


def options_of(name: str) -> list[str]:
    """Returns the options of a learner that are not what it learns about."""
    known = kinds()[name]().get_params(deep=False)
    return [option for option in known if option != "game"]


def names() -> list[str]:
    return [*RECIPES, *(f"heuristic {name}" for name in HEURISTICS)]


def learned(name: str, options: dict[str, Any]) -> str:
    """Returns all that a run has learned, as text."""
    learner = kinds()[name](**{**RUNS[name], **options}).fit()
    if name == "rote":
        return str(learner.memory_.records())
    return json.dumps(learner._get_state(), default=str)


@functools.cache
def read_by(part: type) -> set[str]:
    """Returns what the methods of a class read of self or options, but to check their range."""
    return {
        inner.attr
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(part))))
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_check")
        for inner in ast.walk(node)
        if isinstance(inner, ast.Attribute) and ast.unparse(inner.value) in ("self", "options")
    }


@pytest.mark.plain
@pytest.mark.parametrize("name", names())
def test_every_option_has_an_entry_and_is_read(name: str) -> None:
    parts = [p for p in kinds()[name].__mro__ if p.__module__.partition(".")[0] == "learner"]
    read = set().union(*map(read_by, [*parts, *PARTS.get(name, ())]))
    for option in options_of(name):
        known = option in HOW or option in CHANGES or f"{name} {option}" in CHANGES
        assert known, f"{name} {option}: expected an entry in CHANGES or HOW"
        assert option in read or f"{name} {option}" in CHECKED, f"{name} {option}: unread"


@pytest.mark.plain
@pytest.mark.parametrize(
    "kind", [*kinds().values(), InventWithDice, OnlineTD], ids=lambda k: k.__name__
)
def test_a_learner_is_a_short_chain_that_takes_every_option_of_its_bases(kind: Any) -> None:
    ours = [part for part in kind.__mro__ if part.__module__.split(".")[0] not in OUTSIDE]
    assert len(ours) <= 4, [part.__name__ for part in ours]
    options = set(inspect.signature(kind).parameters)
    for part in ours:
        assert set(inspect.signature(part).parameters) <= options, part.__name__
        fixed = {entry.name for entry in fields(part) if not entry.init}
        assert not [name for name in fixed if name[0] != "_" and name[-1] != "_"], part.__name__


@compiled_only
@pytest.mark.whole_run
@pytest.mark.parametrize("name", [name for name in names() if name not in LONG])
def test_every_option_changes_what_is_learned_or_is_refused(name: str) -> None:
    usual = learned(name, {})
    same = []
    for option in options_of(name):
        entry = f"{name} {option}"
        if option in HOW or entry in UNSEEN:
            continue
        needed = WITH.get(entry, WITH.get(option, {}))
        needed = {key: value for key, value in needed.items() if key in options_of(name) + ["game"]}
        change = CHANGES.get(entry, CHANGES.get(option))
        try:
            before = learned(name, needed) if needed else usual
            if learned(name, {**needed, option: change}) == before:
                same.append(option)
        except ValueError as error:
            if not re.match(r"(depth|inputs|phase): expected", str(error)):
                raise
    assert same == []

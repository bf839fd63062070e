"""Every number among the options of every learner is refused outside its range, before any game."""

from __future__ import annotations

import inspect
import math
import re
from typing import Any

import pytest

from learner.run.recipes import RECIPES

plain = pytest.mark.plain

#: A range as messages state it, and numbers outside it.
Range = tuple[str, tuple[float, ...]]

SEED: Range = ("at least 0", (-1,))
COUNT: Range = ("at least 1", (0, -1))
SHARE: Range = ("0 to 1", (-0.1, 1.5, math.nan, math.inf))
PART: Range = ("0 to below 1", (-0.1, 1.0, math.nan))
RATE: Range = ("more than 0 and at most 1", (0.0, 2.0, math.nan, math.inf))
STEP: Range = ("more than 0 and at most 10", (0.0, -1.0, 11.0, math.nan))
POSITIVE: Range = ("more than 0", (0.0, -1.0, math.nan, math.inf))

#: Options by name; also by learner, if a learner's range differs.
RANGES: dict[str, Range] = {
    "games": COUNT,
    "seed": SEED,
    "depth": ("1 to 30 plies", (0, -1, -3, 99)),
    "nodes": ("at least 10", (-1, 0, 3)),
    # online
    "active": COUNT,
    "tallies": COUNT,
    "trial": COUNT,
    "replacement_pause": SEED,
    "threshold": ("at least 0", (-1.0, math.nan)),
    "rate": RATE,
    "scale": POSITIVE,
    "openings": COUNT,
    "capacity": ("1 to 8388608", (0, -1, 10**12)),
    "oldest": COUNT,
    "direction": ("0 to 0.1", (-0.1, 1.5, math.nan)),
    # bootstrap
    "games_per_update": COUNT,
    "lambda_": SHARE,
    "samuel lambda_": PART,
    # rounds
    "round_games": COUNT,
    "keep_rounds": COUNT,
    "games_per_report": COUNT,
    "most_plies": ("more than the 4 of an opening", (0, -1)),
    "blend": SHARE,
    "alpha": ("at least 0", (-1.0, math.nan, math.inf)),
    "epochs": COUNT,
    "batch_size": COUNT,
    "last_rate": RATE,
    "last_epochs": SEED,
    "growing": SEED,
    "invent": SEED,
    "tree_positions": SEED,
    # invention
    "terms": ("1 to 1000", (0, 1001)),
    "every": COUNT,
    "explained": ("at least 20", (0, 19)),
    # books
    "K": POSITIVE,
    "held_out": PART,
    # TD-Gammon
    "tables": ("1 to 256", (0, 257)),
    "candidates": ("0 to 1024", (-1, 1025)),
    "most_positions": COUNT,
    "samples": ("more than 0 and at most 1000", (0, 2000.0, math.nan)),
    "threads": COUNT,
    "fit_threads": COUNT,
    "quantised most_plies": ("more than the 6 of an opening", (0, -1)),
    "whole": SEED,
    "solved most_plies": ("more than the 0 of an opening", (0, -1)),
    "tdgammon depth": ("0 (moves are chosen by static values)", (1, -1)),
    "tdgammon rate": STEP,
    "tdgammon last_rate": STEP,
    "tdgammon round_games": ("1 to 1000000", (0, 10**7)),
    "tdgammon games_per_report": ("1 to 10000000", (0, 10**8)),
    "backups depth": ("1 (backups look one ply ahead)", (0, 2)),
    "backups rate": STEP,
    "backups last_rate": STEP,
}
#: Messages with another beginning.
MESSAGES = {
    "tdgammon nodes": "depth: expected 0 (moves are chosen by static values), found -7 nodes",
    "backups nodes": "depth: expected 1 (backups look one ply ahead), found -7 nodes",
    "quantised endgame": "lookup of checkers: expected endgame, endgame2, ",
}
#: What is said of options of openings.
OPENINGS = {"opening_plies": "plies: expected 0 to 40, found -7"}
NUMBERS = ("int", "float", "int | None", "float | None")
#: What learners need that are tried on backgammon.
DICE: dict[str, dict[str, Any]] = {"tdgammon": {"depth": 0}, "backups": {"depth": 1}}
#: What an option needs to be looked at.
WITH: dict[str, dict[str, Any]] = {"quantised nodes": {"depth": None}}


def prepare(name: str, option: str, value: float) -> None:
    game = "backgammon" if name in DICE else "connect_four" if name == "solved" else "checkers"
    options = {"games": 2, **DICE.get(name, {}), **WITH.get(f"{name} {option}", {}), option: value}
    RECIPES[name].load()(game, **options).prepare()


def numbers(name: str) -> list[str]:
    """Returns the options of a learner that are numbers."""
    options = inspect.signature(RECIPES[name].load()).parameters.values()
    return [option.name for option in options if str(option.annotation) in NUMBERS]


@plain
@pytest.mark.parametrize("name", RECIPES)
def test_numbers_out_of_range_are_refused(name: str) -> None:
    for option in numbers(name):
        said = MESSAGES.get(f"{name} {option}") or OPENINGS.get(option)
        if said is not None:
            with pytest.raises(ValueError, match=re.escape(said)):
                prepare(name, option, -7)
            continue
        text, outside = RANGES.get(f"{name} {option}") or RANGES[option]
        for value in outside:
            message = rf"^{option}: expected {re.escape(text)}, found {value}"
            with pytest.raises(ValueError, match=message):
                prepare(name, option, value)


@plain
def test_ranges_are_those_of_options_that_exist() -> None:
    options = {f"{name} {option}" for name in RECIPES for option in numbers(name)}
    named = {*RANGES, *MESSAGES}
    assert named <= options | {option.partition(" ")[2] for option in options}


@plain
def test_whole_numbers_are_asked_for_where_an_option_is_one() -> None:
    with pytest.raises(ValueError, match=r"^games: expected at least 1, found 1\.5$"):
        prepare("samuel1959", "games", 1.5)
    with pytest.raises(ValueError, match=r"^seed: expected at least 0, found x$"):
        prepare("samuel1959", "seed", "x")  # type: ignore[arg-type]

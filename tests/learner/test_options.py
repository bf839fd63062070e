"""Every number among the options of every learner is refused outside its range, before any game."""

from __future__ import annotations

import math
from typing import Any

import pytest

from learner.options import Range, Setting, settings_of_class
from learner.run.recipes import RECIPES

plain = pytest.mark.plain

#: Ranges that depend on the game, on other options or on what receives them: a number outside, and
#: the beginning of what is said; by option, and by learner where it is another.
ELSEWHERE: dict[str, tuple[float, str]] = {
    "depth": (99, "depth: expected 1 to 30 plies, found 99"),
    "nodes": (3, "nodes: expected at least 10, found 3"),
    "opening_plies": (-7, "plies: expected 0 to 40, found -7"),
    "most_plies": (0, "most_plies: expected more than the 4 of an opening, found 0"),
    "solved most_plies": (0, "most_plies: expected more than the 0 of an opening, found 0"),
    "quantised most_plies": (0, "most_plies: expected more than the 6 of an opening, found 0"),
    "capacity": (0, "capacity: expected 1 to 8388608, found 0"),
    "oldest": (0, "oldest: expected at least 1, found 0"),
    "direction": (1.5, "direction: expected 0 to 0.1, found 1.5"),
    "endgame": (-7, "lookup of checkers: expected endgame, endgame2, "),
    "tdgammon depth": (1, "depth: expected 0 (moves are chosen by static values), found 1"),
    "tdgammon nodes": (9, "depth: expected 0 (moves are chosen by static values), found 9 nodes"),
    "backups depth": (2, "depth: expected 1 (backups look one ply ahead), found 2"),
    "backups nodes": (9, "depth: expected 1 (backups look one ply ahead), found 9 nodes"),
}
#: What learners need that are tried on backgammon.
DICE: dict[str, dict[str, Any]] = {"tdgammon": {"depth": 0}, "backups": {"depth": 1}}
#: What an option needs to be looked at.
WITH: dict[str, dict[str, Any]] = {"quantised nodes": {"depth": None}}


def refused(name: str, option: str, value: Any) -> str:
    """Returns what is said of an option before any game."""
    game = "backgammon" if name in DICE else "connect_four" if name == "solved" else "checkers"
    options = {"games": 2, **DICE.get(name, {}), **WITH.get(f"{name} {option}", {}), option: value}
    with pytest.raises(ValueError, match=": expected ") as caught:
        RECIPES[name].load()(game, **options).prepare()
    return str(caught.value)


def outside(allowed: Range) -> list[float]:
    """Returns numbers outside a range, at its ends and far from them."""
    ends = [end for end in (allowed.above, allowed.below) if end is not None]
    ends += [] if allowed.low is None else [allowed.low - 1, allowed.low - 1000]
    ends += [] if allowed.high is None else [allowed.high + 1, allowed.high * 1000 + 1000]
    return [*ends, math.nan]


def numbers(name: str) -> dict[str, Setting]:
    """Returns the options of a learner that are numbers."""
    settings = RECIPES[name].settings().items()
    return {n: s for n, s in settings if s.type.partition(" ")[0] in ("int", "float")}


@plain
@pytest.mark.parametrize("name", RECIPES)
def test_numbers_out_of_range_are_refused(name: str) -> None:
    for option, setting in numbers(name).items():
        special = ELSEWHERE.get(f"{name} {option}") or ELSEWHERE.get(option)
        if special is not None:
            assert refused(name, option, special[0]).startswith(special[1])
            continue
        rule = settings_of_class(RECIPES[name].load())[option].allowed
        assert isinstance(rule, Range)
        for value in outside(rule):
            said = refused(name, option, value)
            assert said in (
                f"{option}: expected {rule}, found {value}",
                f"{option}: expected {setting.type}, found {value!r}",
            )


@plain
def test_ranges_elsewhere_are_those_of_options_that_exist() -> None:
    options = {f"{name} {option}" for name in RECIPES for option in numbers(name)}
    assert ELSEWHERE.keys() <= options | {option.partition(" ")[2] for option in options}


@plain
@pytest.mark.parametrize(
    ("hint", "taken", "other"),
    [
        ("int", [0, -3], [True, 1.0, "1", None]),
        ("float | None", [1, 0.5, None], ["1", False]),
        ("tuple[int, ...]", [(1,), [1]], [1, {}]),
        ("bool", [True], [1, "yes"]),
        ("dict[str, float] | None", [{}, None], [7, []]),
        ("Any", ["x", 3, None], []),
    ],
)
def test_values_are_of_the_type_that_an_option_is_declared_with(
    hint: str, taken: list[Any], other: list[Any]
) -> None:
    for value in taken:
        Setting(hint).check("--set x", value)
    for value in other:
        with pytest.raises(ValueError, match=r"^--set x: expected .*, found"):
            Setting(hint).check("--set x", value)

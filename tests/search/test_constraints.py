"""Constraint satisfaction against brute force, known counts, and a trace."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from games.puzzles.queens import attacks
from search.textbook.constraints import (
    AUSTRALIA,
    Constraints,
    ac3,
    backtracking,
    colouring,
    min_conflicts,
    queens,
)

pytestmark = pytest.mark.plain

WAYS = [(first, inference) for first in (False, True) for inference in ("none", "forward", "arcs")]


def holds(problem: Constraints, values: dict[Any, Any]) -> bool:
    return not any(problem.conflicts(one, value, values) for one, value in values.items())


@pytest.mark.parametrize(("first", "inference"), WAYS)
def test_backtracking_finds_a_solution_exactly_where_brute_force_does(
    first: bool, inference: str
) -> None:
    chance = random.Random(5)
    solved = 0
    for _ in range(60):
        towns = "abcdef"
        borders = [pair for pair in itertools.combinations(towns, 2) if chance.random() < 0.6]
        problem = colouring([*borders, *zip(towns, towns, strict=True)], ["red", "green", "blue"])
        choices = itertools.product(["red", "green", "blue"], repeat=6)
        possible = any(all(c[ord(a) - 97] != c[ord(b) - 97] for a, b in borders) for c in choices)
        found = backtracking(problem, least_values_first=first, inference=inference)
        assert (found.values is not None) == possible
        assert found.values is None or (len(found.values) == 6 and holds(problem, found.values))
        solved += possible
    assert 10 < solved < 50  # both answers are met


def test_queens_take_as_many_tries_as_known() -> None:
    """Plain backtracking places 113 queens before the first solution (Gaschnig 1979)."""
    plain = backtracking(queens(8))
    assert (plain.values, plain.tried) == (dict(enumerate((0, 4, 7, 5, 2, 6, 1, 3))), 113)
    tried = [
        backtracking(queens(8), least_values_first=first, inference=inference).tried
        for first, inference in ((False, "forward"), (True, "forward"), (True, "arcs"))
    ]
    assert 113 > tried[0] > tried[1] > tried[2] >= 8
    assert backtracking(queens(3), inference="arcs").values is None


def test_arc_consistency_finds_that_two_colours_fixed_leave_none() -> None:
    """Western Australia red and Queensland green (Russell and Norvig, section 6.2)."""
    problem = colouring(AUSTRALIA, ["red", "green", "blue"])
    domains: Any = {state: list(colours) for state, colours in problem.domains.items()}
    assert ac3(problem, domains) and all(len(left) == 3 for left in domains.values())
    domains |= {"WA": ["red"], "Q": ["green"]}
    steps: list[str] = []
    assert not ac3(problem, domains, steps.append)
    assert steps[0] == "NT loses red: no value of WA allows it" and domains["SA"] == []


def test_min_conflicts_solves_many_queens() -> None:
    steps: list[str] = []
    found = min_conflicts(queens(30), seed=2, trace=steps.append)
    assert found.values is not None
    assert attacks(tuple(found.values[column] for column in range(30))) == 0
    assert len(steps) == found.tried + 1 and steps[-1].startswith("0 in conflict")
    assert min_conflicts(queens(3), steps=50).values is None


def test_a_trace_tells_what_is_taken_back() -> None:
    steps: list[str] = []
    square = colouring(itertools.combinations("abcd", 2), ["red", "green", "blue"])
    assert backtracking(square, inference="forward", trace=steps.append).values is None
    assert steps[:3] == ["a = red", "  b = green", "    c = blue"]
    assert "no value is left for d" in steps[3]
    with pytest.raises(ValueError, match="inference: expected none, forward or arcs, found 'x'"):
        backtracking(square, inference="x")

"""Admissible heuristics by linear programming: truth from breadth-first search, and the optimum."""

from __future__ import annotations

import re

import numpy as np
import pytest
from errors import errors_of

from games.kernels import kernel
from games.problem import Heuristic, Known
from games.puzzles.pancakes import Pancakes
from games.puzzles.sliding_tiles import SlidingTiles
from learner.frame import Progress
from learner.heuristics.admissible import Admissible
from learner.heuristics.costs import least_costs
from search import solve, textbook


def test_least_costs_are_those_of_breadth_first_search() -> None:
    problem = SlidingTiles(3, 2)
    costs = least_costs(problem)
    assert costs is not None and len(costs) == 360
    for seed in range(12):
        position = problem.random_position(seed)
        assert costs[position] == textbook.breadth_first(problem, position).cost
    assert max(costs.values()) == 21  # the farthest position of the 5-puzzle (Reinefeld 1993)
    assert least_costs(problem, most=359) is None
    for small in (problem, Pancakes(5)):
        assert small.reachable == len(least_costs(small) or ())


def test_a_problem_that_tells_its_size_is_not_explored_in_vain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = SlidingTiles(4, 4)
    monkeypatch.setattr(problem, "legal_moves", lambda position: pytest.fail("explored"))
    assert least_costs(problem) is None


def test_no_value_exceeds_the_least_cost_and_the_mean_is_the_largest() -> None:
    """Manhattan is among the heuristics over pairs, so that the largest one is above it."""
    problem = SlidingTiles(3, 2)
    reports: list[Progress] = []
    learner = Admissible(problem).fit(watch=reports.append)
    truth = least_costs(problem)
    assert truth is not None
    heuristic, manhattan = learner.evaluator_, problem.evaluators["manhattan"].value
    values = {position: heuristic(position) for position in truth}
    assert all(values[position] <= cost for position, cost in truth.items())
    assert heuristic.known is Known.BY_ENUMERATION and "360 positions" in heuristic.proved
    mean = float(np.mean(list(values.values())))
    assert mean > 1.2 * np.mean([manhattan(position) for position in truth])
    said = re.fullmatch(r"program \d+, mean ([\d.]+), above 0", reports[-1].summary())
    assert said is not None and float(said[1]) > mean
    assert reports[-1].game == reports[-1].games == 360
    # what breadth-first search calls solved is solved optimally, with far fewer expansions
    expanded = {"manhattan": 0, "learned": 0}
    for seed in range(40):
        position = problem.random_position(seed)
        for name, chosen in (("manhattan", "manhattan"), ("learned", heuristic)):
            found = solve(problem, position, chosen, memory_mib=2)
            assert found.cost == truth[position] and found.optimal
            expanded[name] += found.expanded
    assert expanded["learned"] < 0.3 * expanded["manhattan"]


def test_a_square_board_gets_mirrored_weights() -> None:
    problem = SlidingTiles(2, 2)
    heuristic = Admissible(problem).fit().evaluator_
    truth = least_costs(problem)
    assert truth is not None and len(truth) == 12
    mirror = problem.problem.mirror
    for position, cost in truth.items():
        assert heuristic(position) == heuristic(tuple(map(int, mirror(position)))) <= cost


def test_a_base_that_overestimates_is_refused() -> None:
    @kernel
    def too_much(position):  # type: ignore[no-untyped-def]
        return 100.0

    problem = SlidingTiles(2, 2)
    problem.evaluators["too_much"] = Heuristic(too_much, known=Known.BY_PROOF)
    with pytest.raises(ValueError, match="expected heuristics that never overestimate, found 12"):
        Admissible(problem, base=("too_much",)).fit()


test_errors = errors_of(globals())

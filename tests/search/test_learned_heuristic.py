"""Learned heuristics: native against plain, lower bounds, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from errors import errors_of

from games.puzzles.pancakes import Pancakes
from games.puzzles.sliding_tiles import Sliding8, SlidingTiles
from search.evaluators.heuristic import LearnedHeuristic

pytestmark = pytest.mark.plain


def some_heuristic(problem: Any, **options: Any) -> LearnedHeuristic:
    encoding = next(iter(problem.encodings.values()))
    weights = np.random.default_rng(5).normal(size=encoding.size)
    return LearnedHeuristic(problem, encoding, weights, offset=4.5, **options)


@pytest.mark.parametrize("problem", [SlidingTiles(3, 2), Sliding8(), Pancakes(6)])
def test_native_code_and_its_plain_twin_agree(problem: Any) -> None:
    base = [next(iter(problem.evaluators))]
    positions = [problem.random_position(seed) for seed in range(50)]
    for options in ({}, {"base": base}, {"rounded": False}):
        heuristic = some_heuristic(problem, **options)
        plain = heuristic.plain()
        assert list(heuristic.values(positions)) == [plain(position) for position in positions]


def test_values_are_whole_even_or_odd_and_not_below_the_base() -> None:
    problem = Sliding8()
    manhattan = problem.evaluators["manhattan"].value
    learned, with_base = some_heuristic(problem), some_heuristic(problem, base=["manhattan"])
    for seed in range(50):
        position = problem.random_position(seed)
        sums = float(learned.sums([position])[0]) + 4.5
        value = learned(position)
        assert value == 0 or sums - 2 < value <= sums + 0.01
        assert value == 0 or (value - manhattan(position)) % 2 == 0
        assert with_base(position) == max(value, manhattan(position))
        assert some_heuristic(problem, rounded=False)(position) == max(0.0, sums)


@pytest.mark.parametrize("problem", [Pancakes(5)])
def test_inputs_tell_positions_apart(problem: Any) -> None:
    encoding = next(iter(problem.encodings.values()))
    positions = sorted({problem.random_position(seed) for seed in range(60)})
    rows = encoding.active_rows(positions)
    assert len(np.unique(rows, axis=0)) == len(positions)
    assert rows.min() >= 0 and rows.max() < encoding.size


test_errors = errors_of(globals())

"""Heuristics that are learned from solutions: the fit against ridge regression, and a puzzle."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from errors import errors_of
from sklearn.linear_model import Ridge

import games
from games.problem import Problem
from games.puzzles.sliding_tiles import SlidingTiles
from learner.frame import Progress
from learner.heuristics.bootstrap import HeuristicBootstrap
from learner.heuristics.examples import Examples
from learner.heuristics.fit import fit_weights, follow_costs, packed_rows, sums_of
from search import solve


def test_a_fit_without_asymmetry_is_ridge_regression() -> None:
    chance = np.random.default_rng(1)
    rows = np.sort(chance.integers(0, 21, size=(300, 4)), axis=1)  # 20 stands for no input
    rows = np.array([np.pad(np.unique(row), (0, 4 - len(np.unique(row))), constant_values=20)
                     for row in rows])  # fmt: skip
    packed = packed_rows(rows, 20)
    costs = chance.normal(size=300)
    found = fit_weights(packed, costs, start=np.zeros(20), over=1.0, ridge=2.0, steps=200)
    inputs = np.zeros((300, 21))
    inputs[np.arange(300)[:, None], rows] = 1
    expected = Ridge(alpha=2.0, fit_intercept=False).fit(inputs[:, :20], costs).coef_
    np.testing.assert_allclose(found, expected, atol=1e-3)
    np.testing.assert_allclose(sums_of(packed, found), inputs[:, :20] @ found)


def test_overestimates_are_rarer_where_they_count_more() -> None:
    chance = np.random.default_rng(2)
    rows = chance.integers(0, 10, size=(500, 1))
    costs = 5 + chance.normal(size=500)
    shares = []
    for over in (1.0, 20.0):
        weights = np.zeros(10)
        for _ in range(30):
            weights = fit_weights(rows, costs, start=weights, over=over, ridge=1e-6)
        shares.append(float((sums_of(rows, weights) > costs).mean()))
    assert shares[0] > 0.4 and 0.02 < shares[1] < 0.25


def test_weights_follow_examples_one_after_the_other() -> None:
    chance = np.random.default_rng(3)
    rows = chance.integers(0, 8, size=(50, 3))  # 7 stands for no input
    costs, order = chance.normal(size=50), chance.permutation(50)
    found = np.append(chance.normal(size=7), 0.0)
    expected = found.copy()
    follow_costs(packed_rows(rows, 7), costs, order, 0.5, found)
    for i in order:
        inputs = np.bincount(rows[i], minlength=8)
        inputs[7] = 0
        expected += 0.5 / 3 * (costs[i] - expected @ inputs) * inputs
    np.testing.assert_allclose(found, expected)
    assert found[7] == 0.0


@pytest.mark.whole_run
def test_a_beam_learns_from_its_own_solutions_to_find_shorter_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("learner.heuristics.bootstrap.BEGINNING", 100)
    problem = games.load("sliding8")
    learner = HeuristicBootstrap(
        problem, base=("manhattan",), games=1500, each=50, width=8, nodes=2000, seed=1
    ).fit()
    learned = learner.evaluator_
    assert (learned.base, learned.offset, learned.whole) == ((), 0.0, False)
    # known heuristics solve the first positions, in the searches of which nothing is learned yet
    before = HeuristicBootstrap(problem, base=("manhattan",), games=100, each=50, width=8, seed=1)
    before.nodes = 2000
    assert before.fit().rounds_ == learner.rounds_[:2]
    positions = [problem.random_position(10**6 + seed) for seed in range(200)]
    costs = {
        name: sum(solve(problem, one, name, method="beam", width=8).cost for one in positions)
        for name in ("manhattan", learned)
    }
    least = sum(solve(problem, one).cost for one in positions)
    assert costs[learned] - least < 0.3 * (costs["manhattan"] - least)
    values = learned.values(positions)
    assert len({value % 1 for value in values.tolist()}) > 100


@pytest.mark.parametrize("base", [(), ("manhattan",)])
def test_a_heuristic_from_solutions_of_its_own_beats_manhattan(base: tuple[str, ...]) -> None:
    """Every position of a small puzzle: fewer expansions, and hardly a longer solution."""
    problem = SlidingTiles(3, 2)
    reports: list[Progress] = []
    learner = HeuristicBootstrap(problem, base=base, games=480, each=40, seed=1).fit(
        watch=reports.append
    )
    assert [one.game for one in reports] == list(range(40, 481, 40))
    first, *_, last = learner.rounds_
    assert last["solved"] == 1.0 and reports[-1].summary().startswith("round 12, steps ")
    if base:
        assert first["steps"] == 0 and first["weight"] == 2.5 and last["weight"] < 1.2
    else:
        assert last["steps"] > first["steps"] == 10
    expanded = {"manhattan": 0, "learned": 0}
    longer = 0.0
    for seed in range(60):
        position = problem.random_position(seed)
        best = solve(problem, position, "manhattan", memory_mib=2)
        mine = solve(problem, position, learner.evaluator_, memory_mib=2)
        expanded["manhattan"] += best.expanded
        expanded["learned"] += mine.expanded
        longer += mine.cost - best.cost
    assert expanded["learned"] < 0.7 * expanded["manhattan"]
    assert longer <= 10


@pytest.mark.whole_run
def test_walks_that_are_too_hard_become_shorter_until_they_are_learned() -> None:
    """Nine moves lead on from every stack, so that ten at random are as hard as any position."""
    problem = games.load("pancakes10")
    learner = HeuristicBootstrap(problem, games=1000, each=20, nodes=3000).fit()
    walks = [one["steps"] for one in learner.rounds_]
    for before, after in pairwise(learner.rounds_):
        assert (after["steps"] == before["steps"] - 1) == (before["solved"] < 0.849)
    assert walks[0] == 10 and min(walks) < 8 and walks[-1] > 20
    assert learner.rounds_[0]["solved"] < 0.2 < 0.6 < learner.rounds_[-1]["solved"]
    # what no example has had is neither as cheap as the goal nor of many prices
    goal = problem.encodings["pancake_pairs"].active_rows([problem.goal()])[0]
    unknown = np.flatnonzero(~learner._examples.seen)
    assert len(unknown) and not np.isin(goal, unknown).any()
    (price,) = set(learner.evaluator_.weights[unknown].tolist())
    assert price > 0.05


def test_examples_are_the_newest_positions_of_solutions_with_their_costs() -> None:
    problem = SlidingTiles(3, 3)
    encoding = problem.encodings["tile_pairs"]
    examples = Examples(problem, encoding, 50)
    lines = []
    for seed in range(2):
        position = problem.random_position(seed)
        found = solve(problem, position)
        assert found.moves is not None
        examples.add(position, found.moves, found.cost, aside=bool(seed))
        for number, move in enumerate(found.moves):
            mirrored = tuple(map(int, problem.problem.mirror(position)))
            assert solve(problem, mirrored).cost == found.cost - number
            for one in (position, mirrored):
                lines.append((encoding.active_rows([one])[0].tolist(), found.cost - number, seed))
            position = problem.play(position, move)
    rows, costs, aside = examples.known()
    assert len(examples) == len(rows) == 50 < len(lines)
    kept = sorted(zip(rows.tolist(), costs.tolist(), aside.tolist(), strict=True))
    assert kept == sorted(lines[-50:])


test_errors = errors_of(globals())


def test_a_problem_in_plain_python_is_named_by_its_name() -> None:
    problem = Problem()
    problem.name = "jugs"
    with pytest.raises(ValueError, match="expected a problem whose rules are kernels, found jugs$"):
        HeuristicBootstrap(problem, games=1).fit()

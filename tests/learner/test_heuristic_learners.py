"""Learners carried over from games to problems: against enumerated truth, resumed, in files."""

from __future__ import annotations

import functools
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from games import kernels
from games.contract import Position
from games.features import Encoding
from games.kernels import kernel
from games.puzzles.hanoi import Hanoi
from games.puzzles.sliding_tiles import SlidingTiles
from learner.heuristics.costs import least_costs
from learner.heuristics.root_strap import RootStrap
from learner.heuristics.rote import Rote
from learner.heuristics.temporal_difference import TemporalDifference
from learner.heuristics.tree_strap import Bounds
from learner.run.command_line import main
from learner.run.recipes import HEURISTICS
from play.workers import Workers
from search import load_evaluator, solve
from search.evaluators.heuristic import NetworkHeuristic

#: All learners in rounds.
LEARNERS = [name for name in HEURISTICS if name != "admissible"]


@functools.cache
def tiles() -> SlidingTiles:
    """Returns the 5-puzzle, which has 360 positions."""
    return SlidingTiles(3, 2)


@functools.cache
def truth() -> dict[Position, float]:
    found = least_costs(tiles())
    assert found is not None
    return found


def learner(name: str, problem: Any = None, **options: Any) -> Any:
    kind = HEURISTICS[name].load()
    if name in ("network", "quantised"):
        options = {"hidden": (16,), "sample": 500, "rate": 0.02, **options}
    return kind(problem or tiles(), **options)


@kernel
def place_of(position: Any, places: Any) -> Any:
    places[0] = position[0]
    return 1


class Towers(Hanoi):
    """Three disks on three pegs, with random positions that are quickly drawn."""

    def __init__(self) -> None:
        super().__init__(3, 3)

    def random_position(self, seed: int) -> Any:
        return self.parse_position(" ".join(random.Random(seed).choices("012", k=3)))


def test_rootstrap_over_a_table_becomes_exact() -> None:
    """LRTA*'s backups of all positions that walks visit end at the least costs (Korf 1990)."""
    problem = Towers()
    costs = least_costs(problem)
    assert costs is not None and len(costs) == 27
    table = Encoding("table", 64, 1, place_of)
    learned = RootStrap(
        problem, table, base=("away",), rounds=20, each=30, rate=0.01, passes=15, seed=1
    ).fit()
    estimate = learned.heuristic_.estimator()
    errors = [abs(estimate(position) - cost) for position, cost in costs.items() if cost]
    assert max(errors) < 0.1, errors
    far = problem.start()
    assert costs[far] == 7 and problem.evaluators["away"].value(far) == 3


@pytest.mark.parametrize(("weight", "nodes"), [(1.0, 1000), (1.0, 25), (1.5, 1000)])
def test_bounds_of_closed_positions_never_exceed_the_truth(weight: float, nodes: int) -> None:
    problem = tiles()
    exact = above = 0
    for seed in range(25):
        start = problem.random_position(seed)
        heuristic = NetworkHeuristic(problem, _silent(problem), base=["manhattan"])
        lesson = Bounds()(problem, heuristic, start, weight, nodes)
        assert lesson.target is not None
        for position, low, high in zip(*vars(lesson.target).values(), strict=True):
            assert low <= truth()[position] <= high
            exact += low == truth()[position]
            above += low > problem.evaluators["manhattan"].value(position)
    assert above > 200
    assert exact > 50 or weight > 1


def _silent(problem: Any) -> Any:
    from learner.heuristics.following import cost_network

    return cost_network(problem, problem.encodings["tile_pairs"], (), seed=0).evaluator


def test_rote_memory_answers_with_the_bounds_it_was_taught(tmp_path: Path) -> None:
    problem = tiles()
    learned = learner("rote", base=("manhattan",), rounds=4, each=10, seed=3).fit()
    heuristic, manhattan = learned.heuristic_, problem.evaluators["manhattan"].value
    values = heuristic.values(list(truth()))
    known = dict(zip(heuristic.keys.tolist(), heuristic.remembered.tolist(), strict=True))
    expected = [max(known.get(heuristic.key(p), 0.0), manhattan(p)) for p in truth()]
    assert values.tolist() == expected
    assert (values <= list(truth().values())).all()
    assert 100 < sum(value > manhattan(p) for value, p in zip(values, truth(), strict=True))
    start = problem.random_position(11)
    solution = solve(problem, start, heuristic)
    assert solution.cost == truth()[start] and solution.optimal
    assert solution.expanded < solve(problem, start).expanded
    heuristic.save(tmp_path / "memory.safetensors")
    again: Any = load_evaluator(tmp_path / "memory.safetensors", game=problem)
    assert again.values(list(truth())).tolist() == expected and again.known.admissible
    few = Rote(problem, base=("manhattan",), rounds=4, each=10, seed=3, capacity=20).fit()
    assert len(few.heuristic_.keys) == 20
    assert few.heuristic_.remembered.min() >= np.median(heuristic.remembered)


@pytest.mark.parametrize(("name", "most"), [("network", 0.8), ("quantised", 1.4), ("batch", 1.2)])
def test_what_is_fitted_to_solutions_is_near_the_truth(
    name: str, most: float, tmp_path: Path
) -> None:
    """The mean error without the offset, in moves, over all positions; and the file in a search."""
    options: dict[str, Any] = {"base": ("manhattan",), "rounds": 15, "each": 40, "over": 1.0}
    if name != "batch":
        options |= {"hidden": (32,), "rate": 0.01, "sample": 4000, "batch": 64}
    learned = learner(name, **options).fit()
    heuristic = learned.heuristic_
    heuristic.save(tmp_path / "h.safetensors")
    again: Any = load_evaluator(tmp_path / "h.safetensors", game=tiles())
    positions = list(truth())
    assert again.values(positions).tolist() == heuristic.values(positions).tolist()
    plain = heuristic.plain()
    assert [plain(position) for position in positions] == heuristic.values(positions).tolist()
    network = getattr(heuristic, "network", None)
    estimates = heuristic.sums(positions) if network is None else network.values(positions)
    assert np.abs(estimates - list(truth().values())).mean() < most
    starts = [tiles().random_position(seed) for seed in range(40)]
    mine = [solve(tiles(), start, tmp_path / "h.safetensors", memory_mib=2) for start in starts]
    usual = [solve(tiles(), start, memory_mib=2) for start in starts]
    assert sum(one.expanded for one in mine) < 0.9 * sum(one.expanded for one in usual)
    assert sum(one.cost for one in mine) < 1.02 * sum(one.cost for one in usual)


@pytest.mark.parametrize("lambda_", [0.0, 0.6, 1.0])
def test_td_follows_the_costs_of_its_walk(lambda_: float) -> None:
    """Against the definition: the mean of all n-step returns, weighted by lambda."""
    problem = tiles()
    heuristic = NetworkHeuristic(problem, _silent(problem), base=["manhattan"])
    manhattan = problem.evaluators["manhattan"].value
    solved = 0
    for seed in range(20):
        walk = TemporalDifference(lambda_=lambda_)._teacher()
        lesson = walk(problem, heuristic, problem.random_position(seed), 1.0, 12)
        assert lesson.target is not None
        positions = [*lesson.target.positions]
        assert len(set(positions)) == len(positions) <= 12
        ends = lesson.moves is not None
        solved += ends
        last = 0.0 if ends else lesson.target.low[-1] - 1.0
        values = [*(float(manhattan(position)) for position in positions[1:]), last]
        for place, target in enumerate(lesson.target.low):
            left = len(positions) - place
            steps = [n + values[place + n - 1] for n in range(1, left + 1)]
            shares = [(1 - lambda_) * lambda_ ** (n - 1) for n in range(1, left)]
            expected = float(np.dot(steps, [*shares, lambda_ ** (left - 1)]))
            assert target == pytest.approx(expected)
    assert 0 < solved < 20


@pytest.mark.parametrize("name", LEARNERS)
def test_resumed_or_with_workers_a_learner_ends_the_same(name: str) -> None:
    options: dict[str, Any] = {"base": ("manhattan",), "rounds": 4, "each": 9, "seed": 2}
    states: list[str] = []
    whole = learner(name, **options)
    whole.fit(watch=lambda one: states.append(json.dumps(whole.get_state())))
    resumed = learner(name, **options).fit(resume=json.loads(states[1]))
    with Workers(jobs=3) as workers:
        together = learner(name, **options, workers=workers).fit()
    other = learner(name, **{**options, "seed": 3}).fit()
    positions = list(truth())
    expected = whole.heuristic_.values(positions).tolist()
    assert resumed.heuristic_.values(positions).tolist() == expected
    assert together.heuristic_.values(positions).tolist() == expected
    ends = [one.get_state() for one in (whole, resumed, together, other)]
    for end in ends:
        for entry in end["rounds_done"]:
            del entry["seconds"]
    assert ends[0] == ends[1] == ends[2] != ends[3]
    with pytest.raises(ValueError, match="expected a state of this learner"):
        learner(name, **options).fit(resume={"rounds_done": []})


@pytest.mark.parametrize("name", LEARNERS)
def test_train_py_learns_by_name(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    command = ["tests.toys:SmallTiles", "--learner", name, "--games", "60", "--match-games", "5"]
    options = ["--set", "each=20", "--quiet", "--run", str(folder)]
    if name in ("network", "quantised"):
        options += ["--set", "hidden=(8,)"]
    assert main([*command, *options]) == 0
    assert f"{name}: " in capsys.readouterr().out
    report = json.loads((folder / "report.json").read_text())
    assert report["curves"][0]["points"][0]["solved"] == 1.0
    assert report["truth"]["positions"] == 360
    if name == "rote":
        assert report["truth"]["over"] == 0
        assert report["lines"][-1].startswith("proved admissible: ")
    assert main(["tests.toys:SmallTiles", "--learner", name, "--resume", str(folder)]) == 0
    assert "was finished before" in capsys.readouterr().out


@pytest.mark.plain
def test_code_in_plain_python_gives_the_same_estimates() -> None:
    """The estimates without rounding, which TD and RootStrap follow, are never below the base."""
    problem = tiles()
    network = _silent(problem)
    network.layers[0][0][:] = np.random.default_rng(4).normal(size=network.layers[0][0].shape) / 50
    heuristic = NetworkHeuristic(problem, network, base=["manhattan"], offset=-0.25)
    estimate = heuristic.estimator()
    manhattan = kernels.uncompiled(problem.evaluators["manhattan"].value)
    raised = 0
    for seed in range(30):
        position = problem.random_position(seed)
        expected = max(network.plain()(position) - 0.25, 0.0, float(manhattan(position)))
        assert estimate(position) == expected
        assert expected - 2 < heuristic(position) <= max(expected, manhattan(position))
        raised += expected > manhattan(position)
    assert 0 < raised < 30


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("td", {"lambda_": 1.5}, "lambda_: expected 0 to 1, found 1.5"),
        ("rootstrap", {"rate": 0.0}, "rate: expected more than 0"),
        ("treestrap", {"positions": 0}, "positions: expected at least 1, found 0"),
        ("rootstrap", {"passes": 0}, "passes: expected at least 1"),
        ("rote", {"capacity": 0}, "capacity: expected at least 1"),
        ("network", {"batch": 0}, "batch: expected at least 1"),
        ("network", {"rate": 2.0}, "rate: expected more than 0 and at most 1, found 2"),
        ("quantised", {"scale": 0.0}, "scale: expected more than 0, found 0"),
    ],
)
def test_options_out_of_range(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HEURISTICS[name].load()(tiles(), **options).fit()

"""Learners of heuristics in rounds: against enumerated truth, resumed, in files."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from games.contract import Position
from games.puzzles.sliding_tiles import SlidingTiles
from learner.heuristics.costs import least_costs
from learner.heuristics.rote import Rote, proved_bounds
from learner.run.command_line import main
from learner.run.recipes import HEURISTICS
from search import load_evaluator, solve
from search.evaluators.remembered import RememberedHeuristic

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
    return kind(problem or tiles(), **options)


@pytest.mark.parametrize(("weight", "nodes"), [(1.0, 1000), (1.0, 25), (1.5, 1000)])
def test_bounds_of_closed_positions_never_exceed_the_truth(weight: float, nodes: int) -> None:
    problem = tiles()
    exact = above = 0
    for seed in range(25):
        start = problem.random_position(seed)
        heuristic = RememberedHeuristic(problem, [], [], base=["manhattan"])
        lesson = proved_bounds(problem, heuristic, start, weight, nodes)
        assert lesson.bounds
        for position, low in lesson.bounds:
            assert low <= truth()[position]
            exact += low == truth()[position]
            above += low > problem.evaluators["manhattan"].value(position)
    assert above > 200
    assert exact > 50 or weight > 1


def test_rote_memory_answers_with_the_bounds_it_was_taught(tmp_path: Path) -> None:
    problem = tiles()
    learned = learner("rote", base=("manhattan",), games=40, each=10, seed=3).fit()
    heuristic, manhattan = learned.evaluator_, problem.evaluators["manhattan"].value
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
    few = Rote(problem, base=("manhattan",), games=40, each=10, seed=3, capacity=20).fit()
    assert len(few.evaluator_.keys) == 20
    assert few.evaluator_.remembered.min() >= np.median(heuristic.remembered)


def test_weights_fitted_to_solutions_are_near_the_truth(tmp_path: Path) -> None:
    """The mean error without the offset, in moves, over all positions; and the file in a search."""
    learned = learner("batch", base=("manhattan",), games=600, each=40, over=1.0).fit()
    heuristic = learned.evaluator_
    heuristic.save(tmp_path / "h.safetensors")
    again: Any = load_evaluator(tmp_path / "h.safetensors", game=tiles())
    positions = list(truth())
    assert again.values(positions).tolist() == heuristic.values(positions).tolist()
    plain = heuristic.plain()
    assert [plain(position) for position in positions] == heuristic.values(positions).tolist()
    assert np.abs(heuristic.sums(positions) - list(truth().values())).mean() < 1.2
    starts = [tiles().random_position(seed) for seed in range(40)]
    mine = [solve(tiles(), start, tmp_path / "h.safetensors", memory_mib=2) for start in starts]
    usual = [solve(tiles(), start, memory_mib=2) for start in starts]
    assert sum(one.expanded for one in mine) < 0.9 * sum(one.expanded for one in usual)
    assert sum(one.cost for one in mine) < 1.02 * sum(one.cost for one in usual)


@pytest.mark.parametrize("name", LEARNERS)
def test_train_py_learns_by_name(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    command = ["tests.toys:SmallTiles", "--learner", name, "--games", "60", "--match-games", "5"]
    options = ["--set", "each=20", "--quiet", "--run", str(folder)]
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


def test_a_memory_needs_room() -> None:
    with pytest.raises(ValueError, match="capacity: expected at least 1"):
        learner("rote", capacity=0).fit()

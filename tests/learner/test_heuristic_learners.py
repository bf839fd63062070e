"""Learners of heuristics in rounds: against enumerated truth, resumed, in files."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from games.contract import Position
from games.puzzles.sliding_tiles import SlidingTiles
from learner.heuristics.costs import least_costs
from learner.run.recipes import HEURISTICS
from search import load_evaluator, solve


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


def test_weights_fitted_to_solutions_are_near_the_truth(tmp_path: Path) -> None:
    """The mean error without the offset, in moves, over all positions; and the file in a search."""
    learned = learner("bootstrap", base=("manhattan",), games=600, each=40).fit()
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

"""A small network learns to rank moves as a large one does, and excludes the worst."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of

import games
from games import kernels
from learner.__main__ import main
from learner.td_gammon.prefilter import Decisions, collect
from learner.td_gammon.td_gammon import new_network
from search import Engine, load_evaluator
from search.lookups.database import DatabaseLookup

GAME: Any = games.load("backgammon")
POINTS = GAME.encodings["points"]
pytestmark = pytest.mark.skipif(not kernels.compiled, reason="nothing is compiled")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "large.safetensors"
    new_network(GAME, POINTS, (16,), spread=0.3, seed=3).save(path)
    return path


def test_costs_are_those_of_each_decision() -> None:
    random = np.random.default_rng(1)
    counts = random.integers(2, 30, 40)
    large, cheap = random.normal(size=(2, counts.sum()))
    decisions = Decisions(np.zeros((counts.sum(), 5), dtype=np.int64), counts, large)
    ends = np.cumsum(counts)
    for kept, lost, keep, margin in decisions.costs(cheap)[::37]:
        numbers, losses = [], []
        for end, count in zip(ends, counts, strict=True):
            values, ranks = large[end - count : end], cheap[end - count : end]
            order = [i for i in np.argsort(ranks)[:keep] if ranks[i] - ranks.min() <= margin]
            numbers.append(len(order))
            losses.append(values[order].min() - values.min())
        assert (kept, lost) == pytest.approx((np.mean(numbers), np.mean(losses)))


@pytest.mark.whole_run
def test_a_file_gets_a_prefilter_that_loses_little(file: Path) -> None:
    before: Any = load_evaluator(file)
    command = ["prefilter", "backgammon", str(file), *"--games 64 --units 8 --passes 2".split()]
    command += ["--lost", "2", "--seed", "4"]
    assert main(command) == 0
    found: Any = load_evaluator(file)
    assert set(found.prefilter.evidence) == {"natural", "wild"}
    test = collect(before, 20, (77, 5), wild=True)
    rows = test.positions[:500]
    assert np.array_equal(found.values(rows), before.values(rows))
    # on other decisions, by the large network
    lookup = DatabaseLookup(GAME, "bearoff")
    ranks = Engine(GAME, found.prefilter.evaluator, lookup=lookup).values(test.positions)
    costs = {cost[2:]: cost[:2] for cost in test.costs(ranks)}
    kept, lost = costs[found.prefilter.keep, found.prefilter.margin]
    assert kept < 0.8 * test.counts.mean()
    assert lost < 0.004
    # the same seed gives the same file, whether there was a prefilter or not
    content = file.read_bytes()
    assert main(command) == 0
    assert file.read_bytes() == content


def test_decisions_are_those_of_an_engine(file: Path) -> None:
    large: Any = load_evaluator(file)
    decisions = collect(large, 2, (5, 1), wild=False)
    assert decisions.counts.min() > 1
    engine = Engine(GAME, large, lookup=DatabaseLookup(GAME, "bearoff"))
    rows = decisions.positions[:200].tolist()
    expected = [engine.search(tuple(row), depth=0).value for row in rows]
    assert decisions.values[:200].tolist() == expected


test_errors = errors_of(globals())

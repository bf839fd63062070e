"""n-tuple networks that learn: each step by hand, and whole games of four learners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from toys import CHECKERS_BLOCKS

import games
from games import kernels
from games.checkers import Checkers
from games.connect_four import ConnectFour
from games.extras import extra
from games.features import Cells
from learner.gradient.temporal_difference import TemporalDifference
from learner.gradient.tree_strap import TreeStrap
from learner.models.tuple_model import tuple_model
from learner.run.learners import make_learner
from learner.run.settings import RunSettings
from learner.self_play import rows_of
from search import load_evaluator
from search.evaluators.samples import sample_positions
from search.evaluators.tuples import TupleEvaluator

FOUR, CHECKERS = ConnectFour(), Checkers()
OTHELLO = games.load("docs.examples.othello:Othello")


@pytest.mark.thorough
@pytest.mark.plain
def test_steps_are_those_of_the_published_rule() -> None:
    model = tuple_model(CHECKERS, CHECKERS_BLOCKS, scale=2.0)
    starts, offsets = model.evaluator.layout.lookups
    rows = rows_of(model.inputs, sample_positions(CHECKERS, 12))
    random = np.random.default_rng(3)
    low = random.uniform(-1, 0.5, size=12)
    high = low + np.array([0.0, 0.4] * 6)
    weights = np.zeros(model.evaluator.layout.size)
    sums, sizes, total = weights.copy(), weights.copy(), 0.0
    for epoch in range(3):
        order = np.random.default_rng(epoch).permutation(12)
        total = 0.0
        for i in order:
            indices = starts + offsets[rows[i]].sum(axis=0)
            value = np.tanh(weights[indices].sum() / 2.0)
            error = float(np.clip(value, low[i], high[i]) - value)
            change = error * (1 - 0.9 * value * value)
            total += error * error
            for index in indices:
                share = abs(sums[index]) / sizes[index] if sizes[index] else 1.0
                weights[index] += 0.5 * 2.0 * share * change / len(starts)
                sums[index] += change
                sizes[index] += abs(change)
        found = model.learn(rows, low, high, rate=0.5, random=np.random.default_rng(epoch))
        assert found == pytest.approx(total / 12, rel=1e-4)
    assert model.evaluator.weights == pytest.approx(weights, abs=1e-5)
    assert np.abs(weights).max() > 0.01


@pytest.mark.plain
def test_a_run_names_the_layout_alone() -> None:
    options = {"tuples": "lines", "rate": 1.0}
    settings = RunSettings(
        game="connect_four", learner="treestrap", games=2, depth=1, options=options,
        opponents=("random",), pacemakers=(),
    )  # fmt: skip
    learner = make_learner(FOUR, settings, None)
    learner.prepare()
    assert isinstance(learner.evaluator_, TupleEvaluator)


@pytest.mark.thorough
@pytest.mark.skipif(not kernels.compiled, reason="takes minutes uncompiled")
@pytest.mark.parametrize(
    ("kind", "options", "share"),
    [
        pytest.param(TreeStrap, {"games": 300, "depth": 4}, 0.9, marks=pytest.mark.whole_run),
        (TemporalDifference, {"games": 400}, 0.7),
    ],
)
def test_games_against_itself_teach_most_of_the_truth(
    kind: Any, options: dict[str, Any], share: float
) -> None:
    from play.judging.truth import judge_by_truth, known_values, random_positions
    from play.players.limits import Limits
    from play.players.player import Player

    learner = kind(
        FOUR, tuples="lines", rate=1.0, scale=1.0, opening_plies=8, seed=2, **options
    ).fit()
    positions = random_positions(FOUR, 150, seed=9, least_plies=18, most_plies=31)
    known = known_values(FOUR, "truth", positions)
    player = Player("learned", learner.evaluator_)
    found = judge_by_truth(FOUR, player, known, limits=Limits(depth=1))
    assert found.kept.value > share  # chance moves keep a third


# --- groups that are drawn ------------------------------------------------------------------------


@pytest.mark.parametrize("game", [CHECKERS, FOUR])
def test_walks_are_different_connected_groups_of_what_stands_on_the_board(game: Any) -> None:
    cells = extra(game, Cells)
    assert cells is not None
    layout = tuple_model(game, "walks:30,4", scale=1.0, seed=1).evaluator.layout
    squares = {bit: square for square, bit in cells.bits.items()}
    groups = [
        [divmod(squares[bit], cells.columns) for bit in group.cells] for group in layout.groups
    ]
    assert len({frozenset(group) for group in groups}) == 30
    for group in groups:
        for number, (row, column) in enumerate(group[1:], start=1):
            assert any(max(abs(row - r), abs(column - c)) == 1 for r, c in group[:number])
    for position in sample_positions(game, 12):
        held = cells.held(position)
        names = [side + kind for kind in cells.pieces() for side in ("", "their ")]
        places = [place for place in layout.encoding.places(position) if place >= 0]
        states = [divmod(place, layout.cells) for place in places]
        assert {squares[bit]: names[state] for state, bit in states} == held
    other = tuple_model(game, "walks:30,4", scale=1.0, seed=2).evaluator.layout
    assert other.groups != layout.groups


def turned(position: Any, way: Any) -> Any:
    """Returns a position of Othello whose square (row, column) lies at way(row, column)."""
    words = [
        sum(1 << 8 * r + c for s in range(64) if old >> s & 1 for r, c in [way(*divmod(s, 8))])
        for old in position[:2]
    ]
    return (*(kernels.word(one) for one in words), position[2])


def test_walks_share_tables_between_all_eight_images_but_not_between_phases(
    tmp_path: Path,
) -> None:
    layout = tuple_model(OTHELLO, "walks:5,4", scale=1.0).evaluator.layout
    weights = np.random.default_rng(1).normal(size=layout.size)
    evaluator = TupleEvaluator(OTHELLO, layout, weights)
    ways = [
        lambda r, c: (c, r), lambda r, c: (7 - r, c), lambda r, c: (r, 7 - c),
        lambda r, c: (7 - c, 7 - r), lambda r, c: (7 - r, 7 - c), lambda r, c: (c, 7 - r),
    ]  # fmt: skip
    positions = sample_positions(OTHELLO, 12)
    for position in positions:
        for way in ways:
            assert evaluator(turned(position, way)) == pytest.approx(evaluator(position), abs=1e-4)
            assert OTHELLO.outcome(turned(position, way)) == OTHELLO.outcome(position)
    assert evaluator.values(positions) == pytest.approx([evaluator.plain()(p) for p in positions])
    # only the tables of the second phase, from 14 discs on, are left
    size = layout.size // layout.phases
    assert layout.phases == 7
    evaluator.weights[:size] = evaluator.weights[2 * size :] = 0.0
    for position in positions:
        discs = sum(word.bit_count() for word in (bits % 2**64 for bits in position[:2]))
        assert (evaluator(position) != 0.0) == (14 <= discs < 24)
    evaluator.save(tmp_path / "phases.safetensors")
    again = load_evaluator(tmp_path / "phases.safetensors", game=OTHELLO)
    assert again.values(positions).tolist() == evaluator.values(positions).tolist()


def test_a_network_over_walks_learns_and_loads(tmp_path: Path) -> None:
    learner = TreeStrap(FOUR, games=4, depth=2, tuples="walks:12,3", rate=1.0, seed=3).fit()
    learner.evaluator_.save(tmp_path / "own.safetensors")
    again = load_evaluator(tmp_path / "own.safetensors", game=ConnectFour())
    assert np.any(learner.evaluator_.weights)
    for position in sample_positions(FOUR, 12):
        value = learner.evaluator_(position)
        assert (again(position), learner.evaluator_.plain()(position)) == pytest.approx(
            (value,) * 2
        )


test_errors = errors_of(globals())

"""Learning from exact backups: rounds that lower the error, growth, checkpoints bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from games import kernels
from games.backgammon import Backgammon
from games.checkers import Checkers
from learner.learner import Progress
from learner.positions.packing import packed, unpacked
from learner.td_gammon.backup import backed_up, lambda_returns
from learner.td_gammon.backup_fit import BackupFit
from learner.td_gammon.explore import explore
from learner.td_gammon.td_gammon import new_network
from search.evaluators.outcome_network import OutcomeNetwork

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="nothing is compiled")

GAME = Backgammon()
SMALL: dict[str, Any] = {
    "games": 40,
    "round_games": 10,
    "keep_rounds": 2,
    "hidden": (12,),
    "epochs": 2,
    "batch": 32,
    "rate": 0.003,
    "inputs": "points",
    "prefilter_units": 8,
    "bear_off": False,
    "first_share": 0.5,
    "threads": 1,
    "seed": 3,
}


def weights(learner: BackupFit) -> list[Any]:
    return [a.copy() for net in learner.evaluator_.nets for layer in net.layers for a in layer]


def same(one: BackupFit, two: BackupFit) -> bool:
    pairs = list(zip(weights(one), weights(two), strict=True))
    return all(np.array_equal(a, b) for a, b in pairs) and one.rounds_ == two.rounds_


def test_a_fit_comes_near_to_the_backups() -> None:
    options = {**SMALL, "games": 60, "round_games": 30, "epochs": 8}
    options |= {"rate": 0.04, "lambda_": 0.0}
    seen: list[Progress] = []
    learner = BackupFit(**options).fit(watch=seen.append)
    assert isinstance(learner.evaluator_, OutcomeNetwork)
    assert [progress.game for progress in seen] == [30, 60] and learner.games_played_ == 60
    first, second = learner.rounds_
    assert first["after"] < 0.7 * first["before"] and second["after"] < 0.9 * second["before"]
    sizes = [len(own) for own, _ in learner._kept]
    assert [found["positions"] for found in learner.rounds_] == sizes and min(sizes) > 1000
    assert seen[-1].record.outcome() is not None
    assert f"round 2: positions {sizes[1]}" in seen[-1].note
    assert seen[-1].updates == 8 * (2 * sizes[0] + sizes[1])


def test_targets_are_returns_of_backups() -> None:
    """One round by hand, starting from an existing network."""
    start = BackupFit(**{**SMALL, "games": 20}).fit().evaluator_
    options = {**SMALL, "games": 5, "round_games": 5, "lambda_": 0.7, "seed": 9, "share": 0.1}
    options |= {"candidates": 0}
    learner = BackupFit(**options).fit(start)
    played = explore(
        start, 5, seed=(9, 0), first_plies=8, first_share=SMALL["first_share"], share=0.1
    )
    (own, targets), *none = learner._kept
    assert not none and np.array_equal(own.positions, played.positions)
    static, backups = (backed_up(start, played.positions, depth=depth) for depth in (0, 1))
    expected = lambda_returns(GAME, static, backups, played.follows, 0.7)
    np.testing.assert_allclose(targets, expected, atol=1e-6)
    assert np.abs(targets - backups).max() > 0.01


def test_starts_from_a_network_which_stays_as_it_is() -> None:
    start = new_network(GAME, GAME.encodings["points"], (6,), spread=1.0, seed=2)
    before = start.nets[0].layers[0][0].copy()
    learner = BackupFit(**{**SMALL, "games": 10})
    learner.prepare(start)
    rows = [tuple(row) for row in explore(learner.evaluator_, 1, seed=(1,)).positions.tolist()]
    values = [list(map(one.plain(), rows[::5])) for one in (start, learner.evaluator_)]
    np.testing.assert_allclose(values[0], values[1], atol=1e-6)
    assert learner.evaluator_.nets[0].widths[1:-1] == (12,)
    learner.fit(start)
    assert np.array_equal(start.nets[0].layers[0][0], before)
    with pytest.raises(ValueError, match="can grow to"):
        BackupFit(**{**SMALL, "hidden": (5,)}).fit(start)
    with pytest.raises(ValueError, match="a network of outcomes to start from"):
        BackupFit(**SMALL).fit(lambda position: 0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nodes": 100}, "found 100 nodes"),
        ({"weight_decay": -1.0}, "weight_decay"),
        ({"hidden": ()}, "hidden"),
        ({"hidden": (0,)}, "hidden"),
        ({"hidden": ((8,), 9)}, "hidden"),
        ({"hidden": ((16,), (8,))}, "each stage to grow to the next"),
        ({"hidden": ((16,), (16, 4))}, "each stage to grow to the next"),
        ({"device": "tpu"}, "device"),
        ({"inputs": "nothing"}, "inputs"),
        ({"game": Checkers()}, "found checkers"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BackupFit(**{**SMALL, **options}).prepare()


def test_wrong_checkpoints() -> None:
    learner = BackupFit(**{**SMALL, "games": 10}).fit()
    state = learner.checkpoint()
    with pytest.raises(ValueError, match="the same learner, options"):
        BackupFit(**{**SMALL, "rate": 0.1}).fit(resume=state)
    sizes = {**state["kept"], "sizes": [7]}
    wrong = np.full((*state["kept"]["sizes"], 5), 2, dtype=np.float32)
    targets = {**state["kept"], "targets": [packed(wrong)]}
    for damaged in (
        {**state, "weights": state["weights"][:-8]},
        {**state, "weights": "%"},
        {**state, "small": ""},
        {**state, "kept": sizes},
        {**state, "kept": targets},
        {**state, "kept": {"sizes": []}},
        {**state, "rounds_done": {}},
    ):
        with pytest.raises(ValueError, match="expected a state of this learner"):
            BackupFit(**SMALL).fit(resume=damaged)


@pytest.mark.parametrize("level", [0, 6])
def test_packing(level: int) -> None:
    array = np.arange(100, dtype=np.int64) * 3
    text = packed(array, level=level)
    assert np.array_equal(unpacked(text, np.int64, size=100, compressed=level > 0), array)
    with pytest.raises(ValueError, match="expected 99 numbers"):
        unpacked(text, np.int64, size=99, compressed=level > 0)
    with pytest.raises(ValueError):
        unpacked(text[8:], np.int64, size=100, compressed=level > 0)

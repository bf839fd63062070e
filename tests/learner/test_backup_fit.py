"""Learning from exact backups: rounds that lower the error, starts, checkpoints bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of

from benchmarks.exploring import explore
from games import kernels
from games.backgammon import Backgammon
from games.backgammon.kinds import KINDS
from games.backgammon.phases import LONG, PHASES
from learner.models.outcome_model import OutcomeModel
from learner.positions.packing import packed, unpacked
from learner.td_gammon import backup_fit
from learner.td_gammon.backup import Backups, lambda_returns
from learner.td_gammon.backup_fit import BackupFit, single
from learner.td_gammon.backup_store import BackupStore
from learner.td_gammon.td_gammon import new_network

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="nothing is compiled")

GAME = Backgammon()
SMALL: dict[str, Any] = {
    "games": 40,
    "round_games": 10,
    "hidden": (12,),
    "samples": 2,
    "batch_size": 32,
    "rate": 0.003,
    "inputs": "points",
    "bear_off": False,
    "threads": 1,
    "seed": 3,
}


def test_targets_are_means_of_returns_and_backups(monkeypatch: pytest.MonkeyPatch) -> None:
    """One round by hand, starting from an existing network; no move is random."""
    monkeypatch.setattr(backup_fit, "_FIRST_SHARE", 0.0)
    monkeypatch.setattr(backup_fit, "_SHARE", 0.0)
    start = single(new_network(GAME, GAME.encodings["points"], (12,), spread=1.0, seed=2))
    start.nets[0].layers[-1][0][...] = np.random.default_rng(2).normal(0.0, 0.4, (12, 5))
    options = {**SMALL, "games": 5, "round_games": 5, "lambda_": 0.7, "seed": 9}
    learner = BackupFit(**{**options, "candidates": 0, "precision": "float32"})
    learner.fit(start)
    kept = learner._kept
    rows, random = kept._positions[: len(kept)], np.random.default_rng(1)
    model = OutcomeModel(start)
    backed = Backups(GAME, lambda rows: model.probabilities(rows))(rows)
    backups = backed.outcomes
    static = start.outcomes(rows)
    begins = np.flatnonzero((rows == GAME.start()).all(axis=1))
    assert len(begins) == 5
    follows = np.zeros(len(rows), dtype=bool)
    for i, after in enumerate(rows[1:].tolist()):
        follows[i] = after in backed.replies[backed.best[i]].tolist()
    assert 0.5 < follows.mean() < 1
    expected = (lambda_returns(GAME, static, backups, follows, 0.7) + backups) / 2
    drawn, targets = kept.draw(4000, random)
    places = [int(np.flatnonzero((rows == row).all(axis=1))[0]) for row in drawn]
    assert len(set(places)) > 0.8 * len(rows)
    once = (drawn != GAME.start()).any(axis=1)
    np.testing.assert_allclose(targets[once], expected[places][once], atol=2e-5)
    far = np.abs(targets - backups[places]).max(axis=1) > 0.001
    assert far.mean() > 0.7


def test_half_of_the_games_begin_with_positions_of_all_kinds() -> None:
    learner = BackupFit(**{**SMALL, "games": 10}).fit()
    starts = learner._kept.of_all_kinds(600, np.random.default_rng(1))
    own = learner._kept._positions[: len(learner._kept)]
    known = {tuple(row) for row in own.tolist()}
    assert len(starts) == 600 and all(tuple(row) in known for row in starts.tolist())
    met, played = (KINDS.of(rows) for rows in (own, starts))
    present = np.unique(met)
    assert len(present) > 4 and np.bincount(met, minlength=7).max() > len(met) / 4
    shares = np.bincount(played, minlength=7)[present] / 600
    assert np.abs(shares - 1 / len(present)).max() < 0.06


def test_the_last_positions_are_kept(tmp_path: Path) -> None:
    def round_of(number: int, count: int) -> tuple[Any, Any]:
        rows = np.arange(5 * count).reshape(count, 5) + 1000 * number
        return rows, np.full((count, 5), 0.001 * number)

    kept = BackupStore(tmp_path, GAME, 50)
    sizes = [20, 25, 30, 8]
    for number, size in enumerate(sizes):
        kept.add(*round_of(number, size))
    again = BackupStore(tmp_path, GAME, 50)
    again.load(sizes)
    for one in (kept, again):
        assert (one.added, one.sizes, len(one)) == (83, sizes, 50)
        rows, targets = one.draw(5000, np.random.default_rng(2))
        numbers = rows[:, 0] // 1000
        # the last rounds whole, and the last of the round before them; newer ones more often
        assert len(np.unique(rows[:, 0])) == 50 and set(numbers) == {1, 2, 3}
        assert np.bincount(numbers)[3] / 8 > np.bincount(numbers)[2] / 30
        np.testing.assert_allclose(targets[:, 2], 0.001 * numbers, atol=1e-5)
    again.load(sizes[:2])
    assert again.added == 45 and sorted(p.name for p in tmp_path.iterdir()) == [
        "round-000001.safetensors", "round-000002.safetensors",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="round-000002.safetensors: expected 24 positions"):
        again.load([20, 24])
    with pytest.raises(ValueError, match="expected the positions of a round, found no file"):
        again.load([20, 25, 3])


def test_the_net_of_the_phase_that_databases_value_is_kept() -> None:
    start = new_network(GAME, GAME.encodings["points"], (6,), spread=1.0, seed=2)
    learner = BackupFit(**{**SMALL, "games": 10, "bear_off": True}).fit(start)
    contact, long, race = learner.evaluator_.nets
    assert np.array_equal(race.layers[0][0], start.nets[2].layers[0][0])
    assert np.array_equal(contact.layers[1][0], long.layers[1][0])
    assert not np.array_equal(contact.layers[1][0], start.nets[0].layers[1][0])


def test_the_net_of_a_phase_learns_alone_from_positions_of_it() -> None:
    start = new_network(GAME, GAME.encodings["points"], (6,), spread=1.0, seed=2)
    options = {**SMALL, "games": 30, "phase": "long plans"}
    learner = BackupFit(**options).fit(start)
    for number, (net, before) in enumerate(zip(learner.evaluator_.nets, start.nets, strict=True)):
        equal = [np.array_equal(*pair) for pair in zip(net.arrays, before.arrays, strict=True)]
        assert all(equal) == (number != LONG)
    kept = learner._kept._positions[: len(learner._kept)]
    assert len(kept) > 100 and (PHASES.of(kept) == LONG).all()
    # games are played, and backed up, by the nets of all phases
    rows = explore(start, 4, seed=(1,))
    np.testing.assert_allclose(learner._values(rows), learner.evaluator_.outcomes(rows), atol=1e-5)
    for name in ("crashed", "race"):  # the databases value races
        with pytest.raises(ValueError, match=f"phase: .* contact, long plans, found '{name}'"):
            BackupFit(**{**options, "phase": name, "bear_off": True}).fit(start)
    with pytest.raises(ValueError, match="phase: expected a network to start from, found 'contact"):
        BackupFit(**{**options, "phase": "contact"}).fit()


def test_starts_from_a_network_which_stays_as_it_is() -> None:
    start = new_network(GAME, GAME.encodings["points"], (6,), spread=1.0, seed=2)
    before = start.nets[0].layers[0][0].copy()
    learner = BackupFit(**{**SMALL, "games": 10})
    learner.prepare(start)
    rows = [tuple(row) for row in explore(learner.evaluator_, 1, seed=(1,)).tolist()]
    values = [list(map(one.plain(), rows[::5])) for one in (start, learner.evaluator_)]
    np.testing.assert_allclose(values[0], values[1], atol=1e-6)
    assert learner.evaluator_.nets[0].widths[1:-1] == (6,)
    learner.fit(start)
    assert np.array_equal(start.nets[0].layers[0][0], before)


def test_wrong_checkpoints(tmp_path: Path) -> None:
    store = tmp_path / "store"
    learner = BackupFit(**{**SMALL, "games": 10, "store": store}).fit()
    state = learner.checkpoint()
    with pytest.raises(ValueError, match="store: expected an empty folder"):
        BackupFit(**{**SMALL, "games": 10, "store": store}).fit()
    (figures,) = state["rounds_done"]["rounds"]
    for damaged in (
        {**state, "net": {"steps": [1], "numbers": state["net"]["numbers"][:-8]}},
        {**state, "small": ""},
        {**state, "rounds_done": {"rounds": [{**figures, "positions": 7}]}},
        {**state, "rounds_done": {}},
    ):
        with pytest.raises(ValueError, match="expected a state of this learner"):
            BackupFit(**{**SMALL, "store": store}).fit(resume=damaged)
    store.joinpath("round-000001.safetensors").write_bytes(b"no file of arrays")
    with pytest.raises(ValueError, match="round-000001.safetensors: expected a whole"):
        BackupFit(**{**SMALL, "store": store}).fit(resume=state)


@pytest.mark.parametrize("level", [0, 6])
def test_packing(level: int) -> None:
    array = np.arange(100, dtype=np.int64) * 3
    text = packed(array, level=level)
    assert np.array_equal(unpacked(text, np.int64, size=100, compressed=level > 0), array)
    with pytest.raises(ValueError, match="expected 99 numbers"):
        unpacked(text, np.int64, size=99, compressed=level > 0)
    with pytest.raises(ValueError):
        unpacked(text[8:], np.int64, size=100, compressed=level > 0)


test_errors = errors_of(globals())

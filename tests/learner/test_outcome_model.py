"""Networks of outcomes in torch: the same probabilities as native code, and fits that fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from errors import errors_of
from numpy.typing import NDArray

from benchmarks.exploring import explore
from games import kernels
from games.backgammon import Backgammon
from games.features import FeatureSet
from games.kernels import kernel
from learner.models.outcome_model import OutcomeModel
from learner.td_gammon.backup_fit import single
from learner.td_gammon.td_gammon import new_network
from search import load_evaluator
from search.evaluators.outcome_network import OutcomeNetwork

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="nothing is compiled")

GAME = Backgammon()
POINTS = GAME.encodings["points"]


@kernel
def _off(position):
    return (position[0] & 15) / 15


@kernel
def _on_bar(position):
    return float(position[1] >> 48)


FEW = FeatureSet("few", {"off": _off, "on bar": _on_bar})


def network(*hidden: int, inputs: Any = POINTS, seed: int = 1) -> OutcomeNetwork:
    made = single(new_network(GAME, inputs, hidden, spread=1.0, seed=seed))
    random = np.random.default_rng(seed)
    for net in made.nets:
        weights, bias = net.layers[-1]
        weights[...] = random.normal(0.0, 0.1, weights.shape)
        bias[...] = 0.5, -3.0, -5.0, -3.0, -5.0  # so that gammons are as likely as they can be
    return made


@pytest.fixture(scope="module")
def positions() -> NDArray[np.int64]:
    return explore(network(12), 120, seed=(6,), first_plies=2000, first_share=1.0)[:10_000]


def largest_difference(evaluator: OutcomeNetwork, positions: Any) -> float:
    """Returns the largest difference between the probabilities of torch and of native code."""
    found = OutcomeModel(evaluator).probabilities(positions)
    return float(np.abs(found - evaluator.outcomes(positions)).max())


def equity_error(model: OutcomeModel, positions: Any, targets: Any) -> float:
    """Returns the root mean squared difference between the net's equities and the targets'."""
    found = GAME.outcomes.values(model.probabilities(positions))
    return float(np.sqrt(np.mean((found - GAME.outcomes.values(targets)) ** 2)))


@pytest.mark.parametrize(("inputs", "hidden"), [(POINTS, (12,)), ((POINTS, FEW), (10, 6))])
def test_torch_and_native_code_agree(positions: Any, inputs: Any, hidden: Any) -> None:
    assert len(positions) == 10_000
    assert largest_difference(network(*hidden, inputs=inputs), positions) < 1e-5


def test_a_difference_is_seen(positions: Any) -> None:
    net = network(12)
    rows = positions[:300]
    model = OutcomeModel(net)
    net.nets[0].layers[0][0][:, 3] += 0.5
    apart = np.abs(model.probabilities(rows) - net.outcomes(rows)).max()
    model.read()
    together = np.abs(model.probabilities(rows) - net.outcomes(rows)).max()
    assert apart > 1e-3 and together < 1e-5


def test_phases_and_what_can_be(positions: Any) -> None:
    rows = positions[::200]
    phase = kernels.uncompiled(GAME.phases.phase)
    assert GAME.phases.of(rows).tolist() == [phase(tuple(row)) for row in rows.tolist()]
    random = np.random.default_rng(2).random((len(rows), 5))
    slow = random.copy()
    for row, own in zip(rows.tolist(), slow, strict=True):
        kernels.uncompiled(GAME.outcomes.confine)(tuple(row), own)
    before = random.copy()
    assert np.array_equal(GAME.outcomes.confined(rows, random), slow)
    assert np.array_equal(random, before) and not np.array_equal(random, slow)
    impossible = GAME.outcomes.confined(rows, np.full((len(rows), 5), 0.5)) == 0
    assert 0 < impossible.sum() and not impossible[:, 0].any()


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_learning_what_another_network_says(positions: Any, share: float) -> None:
    rows = positions[:6000]
    targets = network(12, seed=5).outcomes(rows)
    pupil = single(new_network(GAME, POINTS, (12,), spread=0.5, seed=1))
    model = OutcomeModel(pupil, equity_share=share, batch_size=64)
    before = equity_error(model, rows, targets)
    random = np.random.default_rng(1)
    first = model.learn(rows, targets, rate=0.003, random=random)
    last = model.learn(rows, targets, rate=0.003, last_rate=1e-4, epochs=8, random=random)
    after = equity_error(model, rows, targets)
    assert 0 < last < 0.3 * first and after < 0.5 * before, (first, last, before, after)
    # the evaluator has learned it, natively too
    error = GAME.outcomes.values(pupil.outcomes(rows)) - GAME.outcomes.values(targets)
    assert np.sqrt(np.mean(error**2)) == pytest.approx(after, abs=1e-5)


def test_a_perfect_network_has_no_loss_and_a_seed_decides_all(
    positions: Any, tmp_path: Any
) -> None:
    rows = positions[:1500]
    net = network(12)
    targets = net.outcomes(rows)
    loss = OutcomeModel(net.copy()).learn(rows, targets, rate=1e-9, random=np.random.default_rng(1))
    assert abs(loss) < 1e-4
    results = []
    for _ in range(2):
        one = network(12, seed=3)
        OutcomeModel(one).learn(rows, targets, rate=0.01, epochs=2, random=np.random.default_rng(4))
        results.append(one)
    assert np.array_equal(results[0].outcomes(rows), results[1].outcomes(rows))
    results[0].save(tmp_path / "net.safetensors")
    read = load_evaluator(tmp_path / "net.safetensors", game=GAME)
    assert np.array_equal(read.outcomes(rows[:50]), results[1].outcomes(rows[:50]))


def test_steps_are_those_of_a_fit(positions: Any) -> None:
    """A pass over shuffled examples is a step for each batch, at rates that fall."""
    rows = positions[:256]
    targets = np.clip(network(9, seed=4).outcomes(rows), 0, 1)
    whole, single = network(12), network(12)
    one, two = (OutcomeModel(net, batch_size=256, equity_share=0.3) for net in (whole, single))
    losses = []
    for number in range(3):
        random = np.random.default_rng(number)
        losses.append(one.learn(rows, targets, rate=0.01, random=random))
        assert two.step(rows, targets, 0.01) == pytest.approx(losses[-1], rel=1e-4)
    two.write()
    np.testing.assert_allclose(whole.outcomes(positions[:50]), single.outcomes(positions[:50]),
                               atol=1e-5)  # fmt: skip
    assert losses[2] < losses[0]


def test_it_writes_an_average_of_the_weights_on_the_way(positions: Any) -> None:
    rows = positions[:128]
    targets = np.clip(network(9, seed=4).outcomes(rows), 0, 1)

    def weights(net: OutcomeNetwork) -> Any:
        return np.concatenate([a.ravel() for n in net.nets for layer in n.layers for a in layer])

    model, plain = OutcomeModel(network(12), averaging=0.9), OutcomeModel(network(12))
    ways = [weights(network(12))]
    for _ in range(6):
        model.step(rows, targets, 0.02)
        plain.step(rows, targets, 0.02)
        plain.write()
        ways.append(weights(plain.evaluator))
    model.write()
    mean = weights(model.evaluator)
    assert (mean >= np.min(ways, axis=0) - 1e-6).all()
    assert (mean <= np.max(ways, axis=0) + 1e-6).all()
    assert np.abs(mean - ways[-1]).max() > 1e-3


def test_bfloat16_is_near_to_float32(positions: Any) -> None:
    net = network(12, 8)
    full, half = (OutcomeModel(net, precision=name).probabilities(positions[:700])
                  for name in ("float32", "bfloat16"))  # fmt: skip
    assert 1e-5 < np.abs(full - half).max() < 0.01


def test_wrong_requests(positions: Any) -> None:
    net = network(12)
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="without a GPU"):
            OutcomeModel(net, device="cuda")
    model = OutcomeModel(net, device="auto")
    rows = positions[:10]
    random = np.random.default_rng(0)
    before = net.nets[0].layers[0][0].copy()
    with pytest.raises(FloatingPointError, match="learning rate"):
        model.learn(rows, np.zeros((10, 5)), rate=1e38, epochs=5, random=random)
    assert np.array_equal(net.nets[0].layers[0][0], before)


test_errors = errors_of(globals())

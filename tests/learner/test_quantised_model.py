"""Quantised networks that learn: torch and native code calculate the same."""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from errors import errors_of
from numpy.typing import NDArray
from twin import random_positions

from games.checkers import Checkers
from games.checkers.encoding import PIECE_SQUARES
from games.features import Encoding
from games.kernels import kernel
from games.nim import Nim
from learner.models.quantised_model import MOST_BIAS, QuantisedModel
from learner.positions.packing import packed, unpacked
from search.evaluators.quantised import UNIT

CHECKERS = Checkers()
POSITIONS = np.array([CHECKERS.start(), *random_positions(CHECKERS, 9, 299, plies=100)])


def model(*hidden: int, **options: Any) -> QuantisedModel:
    return QuantisedModel(CHECKERS, "piece_squares", hidden, **options)


def material() -> NDArray[np.float64]:
    """The expectation of a player that counts pieces, a king as two."""
    weights = np.repeat([1.0, 2.0, -1.0, -2.0], 32)
    ahead = PIECE_SQUARES.dense(POSITIONS).astype(np.float64) @ weights
    return np.asarray(1.0 / (1.0 + np.exp(-ahead / 2.0)))


def fitted(learner: QuantisedModel, epochs: int = 60, seed: int = 3) -> QuantisedModel:
    random = np.random.default_rng(seed)
    return learner.fit(
        POSITIONS, material(), random=random, epochs=epochs, rate=0.01, last_rate=0.001
    )


def whole(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.round(outputs * UNIT)


@pytest.mark.parametrize(
    ("hidden", "phases"), [((48,), ()), ((40, 9), (12,)), ((96, 32, 8), (8, 20))]
)
def test_torch_and_native_code_agree_to_the_last_bit(
    hidden: tuple[int, ...], phases: tuple[int, ...]
) -> None:
    learner = model(*hidden, phases=phases, scale=0.5, size=64)
    for _ in range(3):
        evaluator = learner.evaluator()
        exact = whole(evaluator.values(POSITIONS) / 0.5)
        np.testing.assert_array_equal(whole(learner.outputs(POSITIONS)), exact)
        assert len(set(exact)) > 100
        np.testing.assert_allclose(
            learner.expectations(POSITIONS), 1 / (1 + np.exp(-exact / UNIT)), atol=1e-6
        )
        fitted(learner, epochs=3)


def test_a_fit_learns_and_not_by_heart() -> None:
    learner = model(32, 8, phases=(12,), size=32)
    targets = material()
    before = learner.error(POSITIONS, targets)
    assert fitted(learner) is learner
    after = learner.error(POSITIONS, targets)
    assert after < 0.01 * np.var(targets) < before
    new = [CHECKERS.parse_position(t) for t in ("B:W18,24,31:B1,2,K9,10", "W:W18,24,31:B1,2,K9,10")]
    ahead, behind = learner.evaluator().values(new)
    assert ahead > 0.3
    assert behind < -0.3


def test_positions_with_several_targets_get_their_mean() -> None:
    positions = np.concatenate([POSITIONS[:40]] * 4)
    targets = np.repeat([0.0, 0.0, 0.0, 1.0], 40)
    learner = model(16, size=160)
    learner.fit(positions, targets, random=np.random.default_rng(0), epochs=300, rate=0.01)
    np.testing.assert_allclose(learner.expectations(POSITIONS[:40]), 0.25, atol=0.03)
    assert learner.error(positions, targets) == pytest.approx(0.25 * 0.75, abs=0.003)


def test_a_state_of_another_model_is_refused() -> None:
    learner = model(24, 8)
    state = learner.get_state()
    before = learner.outputs(POSITIONS)
    infinite = unpacked(state["numbers"], np.float32)
    infinite[0] = np.inf
    for change, message in (
        ({"numbers": packed(infinite[1:])}, "expected [0-9]* numbers of float32, found"),
        ({"numbers": packed(infinite)}, "state: expected 6 numbers of steps and [0-9]* finite"),
        ({"steps": [-1] * 6}, "state: expected 6 numbers of steps"),
        ({"steps": [0] * 5}, "state: expected 6 numbers of steps"),
        ({"steps": [0.5] * 6}, "state: expected 6 numbers of steps"),
        ({"steps": 0}, "state: expected 6 numbers of steps"),
    ):
        with pytest.raises(ValueError, match=message):
            learner.set_state(state | change)
    np.testing.assert_array_equal(learner.outputs(POSITIONS), before)


def test_it_starts_from_a_network() -> None:
    evaluator = fitted(model(24, 8, phases=(12,), size=50, scale=2.0), 2).evaluator()
    again = model(24, 8, phases=(12,), scale=2.0, seed=9, start=evaluator)
    assert again.evaluator().values(POSITIONS).tolist() == evaluator.values(POSITIONS).tolist()
    with pytest.raises(ValueError, match="start: expected a network over piece_squares"):
        model(24, 9, phases=(12,), start=evaluator)
    with pytest.raises(ValueError, match=r"phases among \(13,\)"):
        model(24, 8, phases=(13,), start=evaluator)


def test_phases_split_into_equal_ones_that_learn_apart() -> None:
    start = fitted(model(24, 8, phases=(12,), size=50, scale=2.0), 2).evaluator()
    finer = model(24, 8, phases=(7, 12, 20), size=50, scale=2.0, start=start)
    assert finer.evaluator().phases == (7, 12, 20)
    assert finer.evaluator().values(POSITIONS).tolist() == start.values(POSITIONS).tolist()
    weights, _ = fitted(finer, 2).evaluator().layers[1]
    assert all((weights[i] != weights[i + 1]).any() for i in range(3))


def test_weights_stay_where_integers_can_hold_them() -> None:
    """Steps as large as can be, towards what no network can say: nothing overflows."""
    learner = model(16, 8, size=300)
    random = np.random.default_rng(1)
    targets = (material() > 0.5).astype(float)
    learner.fit(POSITIONS, targets, random=random, epochs=60, rate=1.0)
    (first, bias), *others = learner.evaluator().layers
    assert np.abs(first).max() == (32767 - MOST_BIAS) // 32
    assert np.abs(bias).max() <= MOST_BIAS
    assert max(np.abs(weights).max() for weights, _ in others) == 127


@kernel
def pile_sizes(position, places):
    """List one input for each pile, chosen by its number of sticks."""
    for pile in range(3):
        places[pile] = 6 * pile + position[pile]
    return 3


def test_positions_of_another_game_as_a_list() -> None:
    nim = Nim((3, 4, 5))
    positions = [nim.start(), *random_positions(nim, 1, 60)]
    targets = [float((a ^ b ^ c) != 0) for a, b, c in (p[:3] for p in positions)]
    learner = QuantisedModel(nim, Encoding("piles", 24, 3, pile_sizes), (32, 16), size=61)
    random = np.random.default_rng(2)
    learner.fit(positions, targets, random=random, epochs=300, rate=0.01)
    assert ((learner.evaluator().values(positions) > 0) == np.array(targets, bool)).all()


def with_options(options: dict[str, Any]) -> None:

    given: dict[str, Any] = {"inputs": "piece_squares", "hidden": (8,), **options}
    QuantisedModel(CHECKERS, given.pop("inputs"), given.pop("hidden"), **given)


test_errors = errors_of(globals())

"""Models that follow targets: their gradients and steps, by finite differences and by torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from errors import errors_of
from numpy.typing import NDArray
from twin import torch_values

from games.checkers import Checkers
from games.features import Encoding
from games.nim import Nim
from games.tic_tac_toe import TicTacToe
from learner.models.model import Adam, LinearModel, Model, batches, squash
from learner.models.network_model import NetworkModel, network_model
from learner.self_play import rows_of
from search import WIN, LinearEvaluator, as_evaluator
from search.evaluators.samples import sample_positions

CHECKERS, TIC_TAC_TOE, NIM = Checkers(), TicTacToe(), Nim((3, 4, 5))
CLASSIC, PARITY = CHECKERS.features["classic"], NIM.features["parity"]
NIMS = sample_positions(NIM, 300)


def linear(weights: Any = None, *, scale: float = 2.0, learned: Any = None) -> LinearModel:
    """Returns a model over the four terms of nim."""
    start = LinearEvaluator(NIM, PARITY, np.zeros(4) if weights is None else weights)
    mask = np.ones(4, dtype=bool) if learned is None else np.array(learned)
    return LinearModel(start, learned=mask, scale=scale)


def small(inputs: Any = PARITY, hidden: tuple[int, ...] = (), **options: Any) -> NetworkModel:
    return network_model(NIM, inputs, hidden, **{"scale": 2.0, "seed": 0, **options})


def lesson(
    positions: Any, inputs: Any, seed: int = 1
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    """Returns rows with targets: some values, and some bounds of either kind."""
    random = np.random.default_rng(seed)
    values = np.tanh(random.normal(0, 1, len(positions)))
    kind = random.integers(3, size=len(positions))
    low, high = np.where(kind == 1, -1.0, values), np.where(kind == 2, 1.0, values)
    return rows_of(inputs, positions), low, high


def weights_of(model: Any) -> NDArray[np.float64]:
    if isinstance(model, LinearModel):
        return model.evaluator.weights.copy()
    return np.concatenate([part.ravel() for layer in model.evaluator.layers for part in layer])


def error_of(weights: Any, rows: Any, low: Any, high: Any, scale: float) -> float:
    """Returns half the mean squared distance from the intervals, one row at a time."""
    total = 0.0
    for row, least, most in zip(rows, low, high, strict=True):
        found = np.tanh(float(row @ weights) / scale)
        total += max(least - found, found - most, 0.0) ** 2
    return total / len(rows) / 2


# --- squashing, batches, Adam ----------------------------------------------------------------


def test_values_are_squashed_and_wins_are_one() -> None:
    found = squash(np.array([0.0, 1.5, -3.0, WIN, -WIN, WIN - 7]), 1.5)
    assert found.tolist() == [0.0, np.tanh(1.0), np.tanh(-2.0), 1.0, -1.0, 1.0]


def test_batches_hold_every_row_once() -> None:
    cut = batches(1000, 256, np.random.default_rng(0))
    assert sorted(np.concatenate(cut).tolist()) == list(range(1000))
    assert [len(one) for one in cut] == [250] * 4
    assert [one.tolist() for one in batches(3, 256, np.random.default_rng(0))] != [[0, 1, 2]]
    assert len(batches(3, 256, np.random.default_rng(0))) == 1
    assert batches(0, 256, np.random.default_rng(0)) == []


def test_adam_is_that_of_torch() -> None:
    random = np.random.default_rng(2)
    weights = random.normal(0, 1, 7)
    theirs = torch.tensor(weights, requires_grad=True)
    optimiser, adam = torch.optim.Adam([theirs]), Adam(7)
    for step in range(300):
        gradient = random.normal(0, 10.0 ** random.integers(-6, 3), 7)
        rate = 0.1 / (1 + step)
        for group in optimiser.param_groups:
            group["lr"] = rate
        theirs.grad = torch.tensor(gradient)
        optimiser.step()
        weights += adam.step(gradient, rate)
        np.testing.assert_allclose(weights, theirs.detach().numpy(), rtol=1e-9)


# --- weights over terms ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_gradient_is_that_of_finite_differences(seed: int) -> None:
    start = np.random.default_rng(seed).normal(0, 1, 4)
    rows, low, high = lesson(NIMS[:200], PARITY, seed)
    model = linear(start)
    taken: list[NDArray[np.float64]] = []

    class Watched(Adam):
        def step(self, gradient: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
            taken.append(gradient.copy())
            return super().step(gradient, rate)

    model._adam = Watched(4)
    before = error_of(start, rows, low, high, 2.0)
    found = model.learn(rows, low, high, rate=0.01, random=np.random.default_rng(0))
    assert found == pytest.approx(2 * before)
    (gradient,) = taken
    unit = np.sqrt(np.maximum((rows**2).mean(axis=0), 1e-4))
    for i, h in enumerate(1e-6 * np.eye(4)):
        up, down = (error_of(start + sign * h, rows, low, high, 2.0) for sign in (1, -1))
        # in units of the term's size and of the scale
        assert gradient[i] * unit[i] / 2.0 == pytest.approx((up - down) / 2e-6, abs=1e-8)
    # a first step of Adam is `rate` standard deviations long in every direction
    moved = (model.evaluator.weights - start) * unit
    np.testing.assert_allclose(moved, -0.01 * np.sign(gradient), rtol=1e-4)


def test_a_value_inside_its_interval_is_right_and_one_outside_goes_to_the_nearer_end() -> None:
    row = np.ones((1, 1))
    always = PARITY.only(["always"])
    for weight, low, high, direction in [
        (0.3, -1.0, 0.8, 0), (0.3, 0.1, 1.0, 0), (0.3, np.tanh(0.15), np.tanh(0.15), 0),
        (0.3, 0.5, 1.0, 1), (0.3, -1.0, -0.2, -1), (0.3, 0.5, 0.5, 1), (-4.0, -0.5, 0.9, 1),
    ]:  # fmt: skip
        start = LinearEvaluator(NIM, always, [weight])
        both: list[Any] = [
            LinearModel(start, learned=np.array([True]), scale=2.0),
            small(always, start=start),
        ]
        for model in both:
            before = weights_of(model)
            error = model.learn(
                row, np.array([low]), np.array([high]), rate=0.1, random=np.random.default_rng(0)
            )
            moved = weights_of(model) - before
            distance = max(low - np.tanh(weight / 2), np.tanh(weight / 2) - high, 0.0)
            assert error == pytest.approx(distance**2, abs=1e-6)
            if direction:
                np.testing.assert_allclose(moved, 0.1 * direction, rtol=1e-3)
            else:
                np.testing.assert_allclose(moved, 0.0, atol=1e-6 if model is both[0] else 0.11)


@pytest.mark.parametrize("kind", ["linear", "network"])
def test_weights_behind_consistent_targets_are_found(kind: str) -> None:
    truth = np.array([-0.7, 1.1, -1.3, 2.2])
    rows = rows_of(PARITY, NIMS)
    values = np.tanh(rows @ truth / 2.0)
    model: Any = linear() if kind == "linear" else small()
    for step in range(1500):
        error = model.learn(
            rows, values, values, rate=0.03 * 0.997**step, random=np.random.default_rng(step)
        )
    assert error < 1e-8
    np.testing.assert_allclose(model.evaluator.values(NIMS), rows @ truth, atol=2e-3)


# --- networks --------------------------------------------------------------------------------


def test_a_step_of_a_network_is_that_of_its_gradient() -> None:
    model = small(NIM.encodings["piles"], (5, 3), seed=4)
    for weights, bias in model.evaluator.layers:
        random = np.random.default_rng(len(bias))
        weights[:] += random.normal(0, 0.3, weights.shape)
        bias[:] = random.normal(0, 0.3, bias.shape)
    rows, low, _ = lesson(NIMS[:100], model.inputs)

    def error() -> float:
        return float(np.mean((np.tanh(model.evaluator.values(NIMS[:100]) / 2.0) - low) ** 2))

    first, bias = model.evaluator.layers[1]
    slopes = {}
    for place in [(0, 0), (2, 1), (4, 2)]:
        kept, ends = first[place], []
        for h in (2e-3, -2e-3):
            first[place] = kept + h
            ends.append(error())
        first[place] = kept
        slopes[place] = (ends[0] - ends[1]) / 4e-3
    before = error()
    found = model.learn(rows, low, low, rate=1e-9, random=np.random.default_rng(0))
    assert found == pytest.approx(before, rel=1e-4)
    steep: Any = model.layers[1][0].grad
    for place, slope in slopes.items():
        assert steep[place].item() == pytest.approx(slope, abs=5e-4, rel=0.05)


def test_material_is_passed_on_exactly_through_every_shape() -> None:
    positions = sample_positions(CHECKERS, 12_000)[9000:]
    expected = as_evaluator(CHECKERS, "material").values(positions)
    assert len(np.unique(expected)) > 5
    for hidden in [(), (2,), (16, 8), (8, 8, 4)]:
        model = network_model(
            CHECKERS, "piece_squares", hidden, scale=1.0, seed=3, start="material"
        )
        assert model.evaluator.widths == (128, *hidden, 1)
        np.testing.assert_allclose(
            model.evaluator.values(positions), expected, atol=1e-5, err_msg=str(hidden)
        )


def test_without_a_start_all_is_even_and_the_network_learns_all_the_same() -> None:
    for hidden in [(), (6,), (6, 4)]:
        model = small(NIM.encodings["piles"], hidden)
        assert not model.evaluator.values(NIMS).any()
        rows, low, high = lesson(NIMS, model.inputs)
        errors = [
            model.learn(rows, low, high, rate=0.02, random=np.random.default_rng(i))
            for i in range(60)
        ]
        assert errors[-1] < errors[0]
        assert model.evaluator.values(NIMS).any()


def test_a_network_of_the_same_layers_is_copied() -> None:
    given = small(NIM.encodings["piles"], (6, 4), seed=1).evaluator
    given.layers[-1][0][:] = 0.5
    given.scale = 3.0
    same = small(NIM.encodings["piles"], (6, 4), start=given).evaluator
    assert same.values(NIMS).tolist() == given.values(NIMS).tolist()
    same.layers[0][0][:] = 0.0
    assert given.layers[0][0].any()
    other = small(NIM.encodings["piles"], (6, 5), start=given).evaluator
    assert other.widths == (960, 6, 5, 1)


def test_rows_that_have_no_active_place() -> None:
    cells: Encoding = TIC_TAC_TOE.encodings["cells"]
    model = network_model(TIC_TAC_TOE, "cells", (4,), scale=1.0, seed=0)
    for weights, bias in model.evaluator.layers:
        weights[:], bias[:] = 0.5, np.arange(1.0, 1.0 + len(bias))
    empty, first = TIC_TAC_TOE.start(), TIC_TAC_TOE.parse_position("X........ O")
    assert cells.places(empty) == []
    for positions in ([empty], [empty, first, empty], [first]):
        found = torch_values(model, rows_of(cells, positions)).tolist()
        assert found == pytest.approx(model.evaluator.values(positions).tolist())


# --- state -----------------------------------------------------------------------------------


def models(kind: str) -> Any:
    made: dict[str, Any] = {
        "linear": lambda: linear([1.0, 0.0, 0.0, 0.0], learned=[False, True, True, True]),
        "table": lambda: small(NIM.encodings["piles"], ()),
        "network": lambda: small(NIM.encodings["piles"], (5, 3)),
        "terms": lambda: small(PARITY, (4,)),
    }
    return made[kind]()


def teach(model: Model, first: int, last: int) -> None:
    for seed in range(first, last):
        model.learn(
            *lesson(NIMS, model.inputs, seed), rate=0.02, random=np.random.default_rng(seed)
        )


@pytest.mark.parametrize("name", ["weights", "mean", "square"])
def test_states_of_weights_that_are_damaged(name: str) -> None:
    kind, model = "linear", models("linear")
    teach(model, 0, 2)
    good = model.get_state()
    for wrong in ([], good[name][:1], good[name][:-1], [*good[name], 0.0], "x", None,
                  [float("nan"), *good[name][1:]], ["x", *good[name][1:]]):  # fmt: skip
        with pytest.raises((ValueError, TypeError)):
            models(kind).set_state({**good, name: wrong})
    for steps in (-1, None, "x", float("nan"), float("inf")):
        with pytest.raises((ValueError, TypeError)):
            models(kind).set_state({**good, "steps": steps})


# --- encodings of the small games ------------------------------------------------------------


@pytest.mark.plain
def test_encodings_of_the_small_games() -> None:
    position = (0b100010001, 0b1000100, 0)
    table, cells = (TIC_TAC_TOE.encodings[name] for name in ("positions", "cells"))
    digits = "102010201"  # own squares 1, the other side's 2
    assert table.places(position) == [int(digits, 3)]
    assert cells.places(position) == [0, 4, 8, 9 + 2, 9 + 6]
    boards = sample_positions(TIC_TAC_TOE, 500)
    numbers = table.active_rows(boards)[:, 0].tolist()
    assert len(set(zip(numbers, boards, strict=True))) == len(set(numbers)) == len(set(boards))
    piles = NIM.encodings["piles"]
    assert piles.places((3, 0, 5, 1)) == [3, 64, 128 + 5]


test_errors = errors_of(globals())

"""Native gradient descent against torch's gradients in float64, position by position."""

from __future__ import annotations

import ctypes
import functools
import random
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from games import kernels
from games.backgammon import Backgammon
from games.backgammon.encoding import POINTS
from games.backgammon.outcomes import OUTCOMES
from games.backgammon.phases import phase
from games.backgammon.rules import MOST_MOVES, START, legal_moves, outcome, packed, play
from games.features import FeatureSet
from games.kernels import kernel, uncompiled
from learner.td_gammon.descent import NUMBERS, sweep_address
from search.evaluators.layers import padded
from search.evaluators.outcome_network import OutcomeNetwork

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="learning is native code")


@kernel
def turned(position):
    """Returns the same board with the other side to move."""
    return position[2], position[3], position[0], position[1], 1 - position[4]


@kernel
def gone(position):
    """Returns the share of the 15 checkers that are borne off."""
    return (position[0] & 15) / 15.0


@kernel
def low_bits(position):
    """Returns a meaningless number of either sign."""
    return 0.01 * (position[0] >> 4 & 255) - 0.02 * (position[2] >> 8 & 63)


SMALL = FeatureSet("small", {"low": low_bits, "gone": gone})
DIFFERENCES = FeatureSet("differences", {"gone": gone, "low": low_bits}, swap=turned)


class Whole(Backgammon):
    """Backgammon without phases."""

    phases = None


GAME, WHOLE = Backgammon(), Whole()
SHAPES: dict[str, tuple[Any, list[tuple[Any, tuple[int, ...]]]]] = {
    "one net": (WHOLE, [(POINTS, (17,))]),
    "three nets": (GAME, [((POINTS, SMALL), (9, 12)), (DIFFERENCES, (5,)), (SMALL, (3, 8, 2))]),
}
any_shape = pytest.mark.parametrize("shape", SHAPES)


def network(shape: str, seed: int = 2) -> OutcomeNetwork:
    game, kinds = SHAPES[shape]
    generator = np.random.default_rng(seed)
    nets = []
    for inputs, hidden in kinds:
        parts = inputs if isinstance(inputs, tuple) else (inputs,)
        widths = [sum(map(len, parts)), *hidden, 5]
        nets.append((inputs, [
            (generator.normal(0, 0.5, (a, b)), generator.normal(0.1, 0.3, b))
            for a, b in zip(widths, widths[1:], strict=False)
        ]))  # fmt: skip
    return OutcomeNetwork(game, nets)


def played(position: Any, seed: int) -> list[Any]:
    """Returns the positions of a random game, the last of them finished."""
    generator = random.Random(seed)
    moves = np.zeros(MOST_MOVES, dtype=np.int64)
    found = [position]
    while outcome(found[-1]) != outcome(found[-1]):
        count = legal_moves(found[-1], generator.randrange(21), moves)
        found.append(play(found[-1], int(moves[generator.randrange(count)])))
    return found


def board(*, points: dict[int, int]) -> tuple[int, int]:
    counts = [points.get(point, 0) for point in range(26)]
    counts[0] = 15 - sum(counts)
    return packed(tuple(counts))


@functools.cache
def a_game() -> list[Any]:
    """Returns the shortest of some games that go through all phases."""
    games = [played(START, seed) for seed in range(60)]
    return min((game for game in games if len(set(map(phase, game[:-1]))) == 3), key=len)


def teach(
    evaluator: OutcomeNetwork, positions: list[Any], rate: float, last_rate: float, lambda_: float
) -> float:
    """Learn from a game by one sweep of native code."""
    call = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_int64] * 4)(sweep_address(evaluator))
    rows = np.array(positions, dtype=np.int64)
    before = rows.copy()
    numbers = np.array([rate, last_rate, lambda_])
    assert len(numbers) == NUMBERS
    _, data, keep = evaluator.native_outcomes()
    error = call(data, rows.ctypes.data, len(rows) - 1, numbers.ctypes.data)
    assert (rows == before).all() and keep is not None
    return error


def weights_of(evaluator: OutcomeNetwork) -> list[list[NDArray[np.float64]]]:
    return [
        [array.astype(np.float64) for layer in net.layers for array in layer]
        for net in evaluator.nets
    ]


def seen(net: Any, position: Any) -> NDArray[np.float64]:
    """Returns all inputs of a net."""
    parts = [net.encoding.dense([position])[0].astype(float)] if net.encoding else []
    parts += [net.features.measure([position])[0]] if net.features else []
    return np.concatenate(parts)


def slow_sweep(
    evaluator: OutcomeNetwork, positions: list[Any], rate: float, last_rate: float, lambda_: float
) -> tuple[list[list[NDArray[np.float64]]], float]:
    """Returns the weights after a sweep by torch, position by position, and the squared errors."""
    nets = [[torch.tensor(array) for array in arrays] for arrays in weights_of(evaluator)]
    target = np.zeros(5)
    uncompiled(OUTCOMES.finished)(positions[-1], target)
    squares = 0.0
    for position in positions[-2::-1]:
        OUTCOMES.turn(target)
        which = int(phase(position)) if len(nets) > 1 else 0
        parameters = [array.requires_grad_(True) for array in nets[which]]
        values = torch.tensor(seen(evaluator.nets[which], position))
        for number in range(0, len(parameters), 2):
            values = values if number == 0 else torch.relu(values)
            values = values @ parameters[number] + parameters[number + 1]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            values, torch.tensor(target), reduction="sum"
        )
        steps = torch.autograd.grad(loss, parameters)
        nets[which] = [
            (one - (last_rate if i >= len(parameters) - 2 else rate) * step).detach()
            for i, (one, step) in enumerate(zip(parameters, steps, strict=True))
        ]
        probabilities = torch.sigmoid(values).detach().numpy().copy()
        squares += float(((target - probabilities) ** 2).sum())
        OUTCOMES.confine(position, probabilities)
        # the lambda-return: the outcome from here on, mixed with the earlier value of this position
        target = lambda_ * target + (1 - lambda_) * probabilities
    return [[array.numpy() for array in net] for net in nets], squares


@any_shape
@pytest.mark.parametrize("lambda_", [0.0, 0.5, 1.0])
def test_a_sweep_is_that_of_the_twin(shape: str, lambda_: float) -> None:
    evaluator = network(shape)
    first = weights_of(evaluator)
    positions = a_game()
    for rates in ((0.1, 0.03), (0.02, 0.0)):
        expected, squares = slow_sweep(evaluator, positions, *rates, lambda_)
        before = weights_of(evaluator)
        error = teach(evaluator, positions, *rates, lambda_)
        assert error == pytest.approx(squares, rel=1e-5)
        for net, wanted, was in zip(weights_of(evaluator), expected, before, strict=True):
            for i, (found, good, old) in enumerate(zip(net, wanted, was, strict=True)):
                assert np.abs(found - good).max() < 1e-5
                # and the weights changed clearly, except where nothing could be learned
                stays = rates[1] == 0 and i >= len(net) - 2
                assert (np.abs(good - old).max() > 1e-4) == (not stays)
    assert first[0][0].shape == before[0][0].shape


@any_shape
def test_what_pads_the_weights_stays_0(shape: str) -> None:
    evaluator = network(shape)
    positions = a_game()
    for _ in range(3):
        teach(evaluator, positions, 0.1, 0.1, 0.5)
    for net in evaluator.nets:
        for number, (weights, bias) in enumerate(net.layers):
            inputs, outputs = weights.shape
            whole = np.lib.stride_tricks.as_strided(bias, (padded(outputs),))
            assert (whole[outputs:] == 0).all()
            if number == len(net.layers) - 1:  # its rows are the columns
                rows = np.lib.stride_tricks.as_strided(weights.T, (outputs, padded(inputs)))
                assert (rows[:, inputs:] == 0).all() and (rows[:, :inputs] == weights.T).all()
            else:
                rows = np.lib.stride_tricks.as_strided(weights, (inputs, padded(outputs)))
                assert (rows[:, outputs:] == 0).all() and (rows[:, :outputs] == weights).all()


@any_shape
def test_other_phases_and_unseen_places_are_left_alone(shape: str) -> None:
    evaluator = network(shape)
    before = weights_of(evaluator)
    positions = [p for p in a_game() if phase(p) == 2][-6:]  # a race, or the end of one
    teach(evaluator, positions, 0.1, 0.1, 0.5)
    after = weights_of(evaluator)
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        touched = number == 2 or len(after) == 1
        assert all(map(np.array_equal, old, new)) == (not touched)
    if shape == "one net":
        rows = np.flatnonzero((before[0][0] != after[0][0]).any(axis=1))
        met = {place for position in positions[:-1] for place in POINTS.places(position)}
        assert set(rows.tolist()) <= met and len(rows) > 0


def test_a_game_without_plies_teaches_nothing() -> None:
    evaluator = network("one net")
    before = weights_of(evaluator)
    assert teach(evaluator, [START], 0.1, 0.1, 0.5) == 0.0
    assert all(map(np.array_equal, before[0], weights_of(evaluator)[0]))
    positions = a_game()
    assert teach(evaluator, positions, 0.0, 0.0, 0.5) > 0
    assert all(map(np.array_equal, before[0], weights_of(evaluator)[0]))

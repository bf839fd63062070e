"""Least mean squares: a step by hand, convergence, and the same bits again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from games.checkers import Checkers
from learner.online.frame import Step
from learner.online.least_mean_squares import LeastMeanSquares
from search import LinearEvaluator, Result

CHECKERS = Checkers()
CLASSIC = CHECKERS.features["classic"]
NAMES = CLASSIC.names
MEN = {"men": 1.0}


def prepared(evaluator: Any = None, **options: Any) -> LeastMeanSquares:
    """Returns a learner before its first game."""
    learner = LeastMeanSquares(CHECKERS, **{"fixed": MEN, "depth": 1, **options})
    learner.prepare(evaluator)
    return learner


def step(value: float, terms: Any) -> Step:
    return Step(None, np.array(terms, dtype=float), Result(None, value, (), 1, 1, 0.0), 0.0)


def test_one_step_by_hand() -> None:
    learner = prepared(rate=0.5, scale=2.0)
    terms = np.zeros(len(NAMES))
    terms[[0, 3, 5]] = 1.0, 2.0, -0.5
    assert learner._correct([step(0.0, terms)], step(3.0, terms))
    # 3 backed up, 1 expected: tanh(2 / 2) * 2; spread moves a thousandth from 1 towards the square
    difference = math.tanh(1.0) * 2.0
    expected = np.zeros(len(NAMES))
    expected[0] = 1.0  # fixed
    expected[3] = 0.5 * difference * 2.0 / 1.003
    expected[5] = 0.5 * difference * -0.5 / (1 - 0.00075)
    np.testing.assert_allclose(learner.evaluator_.weights, expected, rtol=1e-12)
    # the next error is measured with the current weights
    learner._correct([step(0.0, terms)], step(float(learner.evaluator_.weights @ terms), terms))
    np.testing.assert_allclose(learner.evaluator_.weights, expected, rtol=1e-12)


def test_a_win_in_sight_is_worth_what_is_said_or_the_static_value() -> None:
    terms = np.zeros(len(NAMES))
    terms[3] = 1.0
    for value in (1e12, -1e12):
        learner = prepared(rate=0.01, scale=3.0, win=4.5)
        learner._correct([step(0.0, terms)], step(value, terms))
        expected = math.copysign(0.01 * 3.0 * math.tanh(1.5), value)
        assert learner.evaluator_.weights[3] == pytest.approx(expected)
    terms[0] = 10.0  # ten men ahead already
    for value, difference in ((1e12, 0.0), (-1e12, -20.0)):
        learner = prepared(rate=0.01, scale=30.0, win=4.5)
        learner._correct([step(0.0, terms)], step(value, terms))
        expected = 0.01 * 30.0 * math.tanh(difference / 30.0)
        assert learner.evaluator_.weights[3] == pytest.approx(expected)


def test_the_rate_falls_to_a_tenth() -> None:
    terms = np.zeros(len(NAMES))
    terms[3] = 1.0
    steps = []
    for played in (0, 50, 100):
        learner = prepared(rate=0.01, scale=1.0, games=100)
        learner.games_played_ = played
        learner._correct([step(0.0, terms)], step(1e6, terms))
        steps.append(learner.evaluator_.weights[3])
    assert steps == pytest.approx([0.01, 0.0055, 0.001])


def test_weights_converge_to_those_behind_a_consistent_target() -> None:
    generator = np.random.default_rng(3)
    truth = generator.normal(0, 0.2, len(NAMES))
    truth[0] = 1.0
    sizes = np.exp(generator.normal(0, 1, len(NAMES)))  # terms of different units
    learner = prepared(rate=0.02, scale=50.0)
    for _ in range(6000):
        terms = generator.normal(0, 1, len(NAMES)) * sizes
        learner._correct([step(0.0, terms)], step(float(truth @ terms), terms))
    np.testing.assert_allclose(learner.evaluator_.weights, truth, atol=1e-3)
    assert learner.evaluator_.weights[0] == 1.0


def test_beta_follows_every_trial() -> None:
    learner = prepared(trial=2)
    learner.evaluator_.weights[3] = 0.5
    learner._after_game(-1.0)
    assert learner._beta.weights[3] == 0.0
    learner.games_played_ = 1
    learner._after_game(-1.0)
    assert learner._beta.weights[3] == 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fixed": {"PIECES": 1.0}}, "fixed: expected terms of classic, found PIECES"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LeastMeanSquares(CHECKERS, **{"fixed": MEN, **options}).fit()


def test_fixed_weights_hold_whatever_learning_starts_from() -> None:
    given = LinearEvaluator(CHECKERS, CLASSIC, np.arange(2.0, 2.0 + len(NAMES)))
    learner = prepared(given)
    # and the others are converted to its unit
    assert learner.evaluator_.weights.tolist() == (given.weights / 2.0).tolist()
    assert given.weights[0] == 2.0


def test_positions_are_valued_after_the_captures_that_are_pending() -> None:
    # Black must capture 18 from 14, and cannot be recaptured
    position = CHECKERS.parse_position("B:W18,32:B14,1")
    assert CHECKERS.noisy(position)
    men = NAMES.index("men")
    result = Result(None, 0.0, (), 1, 1, 0.0)
    assert prepared(settle=True)._step(position, result).terms[men] == 1.0
    assert prepared(settle=False)._step(position, result).terms[men] == 0.0

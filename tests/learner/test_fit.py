"""Fitting to stored positions: known weights come back, in every unit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from marks import compiled_only, plain
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from games.checkers import Checkers
from learner.positions.shards import Rows
from learner.regression.logistic import LogisticFit, measure
from learner.regression.targets import expectations, fit_scale, mean_loss
from learner.regression.validation import calibration, calibration_error
from search import LinearEvaluator

NAMES = ("men", "kings", "centre", "rare", "rows")
TRUE = np.array([1.0, 1.5, -0.2, 0.8, 0.03])
K = 0.7


def terms_of(rows: int, seed: int = 0) -> Any:
    """Returns whole numbers like those of terms: small, correlated, rare, and of another size."""
    random = np.random.default_rng(seed)
    men = random.integers(-3, 4, rows)
    return np.stack(
        [
            men,
            random.integers(-1, 2, rows),
            men + random.integers(-2, 3, rows),
            (random.random(rows) < 0.05) * random.choice([-1, 1], rows),
            random.integers(-20, 21, rows),
        ],
        axis=1,
    ).astype(np.float32)


def results_of(expected: Any, seed: int = 1) -> Any:
    """Returns wins (1), draws (0.5) and losses (0) with the given means."""
    random = np.random.default_rng(seed)
    two = random.random((2, len(expected))) < expected
    return two.mean(axis=0)


# --- losses and targets ----------------------------------------------------------------------


@plain
@pytest.mark.parametrize("loss", ["cross_entropy", "squared"])
def test_losses_are_what_the_formulas_say_and_slopes_their_derivatives(loss: str) -> None:
    logits = np.array([-3.0, -0.1, 0.0, 2.0])
    targets = np.array([0.0, 0.25, 0.5, 1.0])
    weights = np.array([1.0, 2.0, 0.5, 0.0])
    p = 1 / (1 + np.exp(-logits))
    by_hand = {
        "cross_entropy": -(targets * np.log(p) + (1 - targets) * np.log(1 - p)),
        "squared": (targets - p) ** 2,
    }[loss]
    mean, _, slopes = mean_loss(loss, logits, targets, weights)
    assert mean == pytest.approx(np.average(by_hand, weights=weights))
    step = 1e-6
    for i in range(4):
        moved = logits.copy()
        moved[i] += step
        rise = (mean_loss(loss, moved, targets, weights)[0] - mean) / step * weights.sum()
        assert rise == pytest.approx(slopes[i], abs=1e-5)
    assert np.isfinite(mean_loss(loss, np.array([-1e9, 1e9]), np.ones(2), np.ones(2))[0])


@plain
def test_expectations_blend_results_with_what_search_said() -> None:
    value, result = [0.0, 2.0, -2.0, 1e12, 2.0], [1, 0, -1, -1, 2]
    searched = [0.5, expit(1.0), expit(-1.0), 1.0, expit(1.0)]
    np.testing.assert_allclose(expectations(value, result, scale=0.5, blend=0.0), searched)
    np.testing.assert_allclose(
        expectations(value, result, scale=0.5, blend=1.0), [1, 0.5, 0, 0, expit(1.0)]
    )
    np.testing.assert_allclose(
        expectations(value, result, scale=0.5, blend=0.25)[:3],
        [0.25 + 0.375, 0.125 + 0.75 * searched[1], 0.75 * searched[2]],
    )
    with pytest.raises(ValueError, match="blend: expected 0 to 1, found 2"):
        expectations(value, result, scale=0.5, blend=2)


@plain
@pytest.mark.parametrize("loss", ["cross_entropy", "squared"])
@pytest.mark.parametrize("scale", [1e-5, 0.4, 30.0])
def test_the_scale_comes_back_in_any_unit_of_values(loss: str, scale: float) -> None:
    random = np.random.default_rng(0)
    value = random.normal(size=20_000) * 1.5 / scale
    result = 2 * results_of(expit(scale * value)) - 1
    found = fit_scale(value, result, loss=loss)
    assert found == pytest.approx(scale, rel=0.03)
    # unknown results, decided values and rows of weight 0 do not count
    more = np.concatenate([value, [1.0, 1e12, 5.0]]), np.concatenate([result, [2, -1, -1]])
    weight = np.ones(len(value) + 3)
    weight[-1] = 0
    assert fit_scale(*more, loss=loss, sample_weight=weight) == pytest.approx(found, rel=1e-6)
    # exact expectations give the exact scale, and no other scale is better
    exact = 2 * expit(scale * value) - 1
    assert fit_scale(value, exact, loss=loss) == pytest.approx(scale, rel=1e-4)
    best = mean_loss(loss, found * value, (result + 1) / 2, np.ones(len(value)))[0]
    for other in (0.97 * found, 1.03 * found):
        assert mean_loss(loss, other * value, (result + 1) / 2, np.ones(len(value)))[0] > best


# --- known weights come back -----------------------------------------------------------------


def test_fixed_terms_stay_beside_a_scale_that_is_given() -> None:
    terms = terms_of(4000)
    fixed = {"men": 1.0, "centre": -0.2}
    fit = LogisticFit(NAMES, scale=K, alpha=1e-9, fixed=fixed)
    fit.fit(terms, expit(K * terms @ TRUE))
    assert fit.K_ == K
    assert (fit.weights_[0], fit.weights_[2]) == (1.0, -0.2)
    np.testing.assert_allclose(fit.weights_, TRUE, atol=5e-4)
    # a wrong fixed weight also stays, and the others are the best ones beside it
    fit = LogisticFit(NAMES, scale=K, alpha=1e-9, fixed={"rare": 0.0})
    fit.fit(terms, expit(K * terms @ TRUE))
    assert fit.weights_[3] == 0.0
    np.testing.assert_allclose(fit.weights_[[0, 1, 2, 4]], TRUE[[0, 1, 2, 4]], atol=0.1)


@pytest.mark.parametrize("loss", ["cross_entropy", "squared"])
def test_weights_come_back_from_results_within_their_error(loss: str) -> None:
    terms = terms_of(40_000)
    results = results_of(expit(K * terms @ TRUE))
    fit = LogisticFit(NAMES, loss=loss, scale=K).fit(terms, results)
    # twice the standard error of the rarest term, whose information is 40,000 * 0.05 / 4 * 2 * K²
    np.testing.assert_allclose(fit.weights_, TRUE, atol=0.1)
    # no other weights are better
    for step in np.vstack([np.eye(5), -np.eye(5)]) * 0.01:
        other = mean_loss(loss, K * (terms @ (fit.weights_ + step)), results, np.ones(40_000))[0]
        assert other > fit.loss_ - 1e-12
    assert fit.loss_ == pytest.approx(-fit.score(terms, results))
    assert fit.loss_ == pytest.approx(
        mean_loss(loss, K * fit.values(terms), results, np.ones(40_000))[0], rel=1e-6
    )


def by_sklearn(terms: Any, targets: Any, weights: Any, *, alpha: float, spread: Any) -> Any:
    """Returns scikit-learn's weights, in logits: a row is a win and a loss with their shares."""
    model = LogisticRegression(
        C=1 / (max(alpha, 1e-15) * weights.sum()), fit_intercept=False, solver="newton-cholesky",
        tol=1e-10,
    )  # fmt: skip
    ends = np.repeat([1, 0], len(terms))
    shares = np.concatenate([weights * targets, weights * (1 - targets)])
    return model.fit(np.tile(terms / spread, (2, 1)), ends, shares).coef_[0] / spread


@pytest.mark.parametrize("fixed", [None, {"men": 1.0}])
def test_rows_doubled_and_weighted_have_the_optimum_of_fractional_targets(fixed: Any) -> None:
    terms = terms_of(3000)
    targets = results_of(expit(K * terms @ TRUE))
    targets[::3] = expit(K * terms @ TRUE)[::3]
    weights = np.random.default_rng(0).integers(1, 5, 3000)
    options: dict[str, Any] = {"alpha": 0.0, "fixed": fixed}
    whole = LogisticFit(NAMES, **options).fit(terms, targets, weights)
    both = np.concatenate([terms, terms])
    ends = np.repeat([1.0, 0.0], 3000)
    shares = np.concatenate([weights * targets, weights * (1 - targets)])
    doubled = LogisticFit(NAMES, **options).fit(both, ends, shares)
    np.testing.assert_allclose(doubled.weights_, whole.weights_, atol=2e-5)
    assert pytest.approx(whole.K_, rel=1e-5) == doubled.K_
    assert doubled.loss_ == pytest.approx(whole.loss_, rel=1e-8)
    theirs = by_sklearn(terms, targets, weights, alpha=0.0, spread=whole.spread_)
    np.testing.assert_allclose(theirs / whole.K_, whole.weights_, atol=2e-5)


def test_the_penalty_is_that_of_logistic_regression() -> None:
    terms = terms_of(3000)
    targets = results_of(expit(K * terms @ TRUE))
    sizes = []
    for alpha in (1e-3, 0.1, 1.0):
        one = LogisticFit(NAMES, alpha=alpha).fit(terms, targets)
        theirs = by_sklearn(terms, targets, np.ones(3000), alpha=alpha, spread=one.spread_)
        np.testing.assert_allclose(one.weights_, theirs, atol=1e-6)
        sizes.append(np.abs(one.weights_ * one.spread_).sum())
    assert sizes[0] > 1.2 * sizes[1] > 2.0 * sizes[2]


def test_the_unit_of_a_term_does_not_matter() -> None:
    terms = terms_of(2000).astype(np.float64)
    targets = expit(K * terms @ TRUE)
    sizes = np.array([1.0, 1000.0, 0.01, 1.0, 7.0])
    one = LogisticFit(NAMES, alpha=0.01).fit(terms, targets)
    other = LogisticFit(NAMES, alpha=0.01).fit(terms * sizes, targets)
    np.testing.assert_allclose(other.weights_ * sizes, one.weights_, rtol=1e-4, atol=1e-6)


def test_terms_that_say_nothing_or_the_same_do_no_harm() -> None:
    terms = terms_of(2000)
    targets = expit(K * terms @ TRUE)
    names = (*NAMES, "nothing", "men_again")
    wide = np.column_stack([terms, np.zeros(2000), terms[:, 0]])
    fit = LogisticFit(names, scale=K, alpha=1e-6).fit(wide, targets)
    assert fit.weights_[5] == 0
    together = fit.weights_[:5].copy()
    together[0] += fit.weights_[6]
    np.testing.assert_allclose(together, TRUE, atol=2e-3)
    assert fit.weights_[0] == pytest.approx(fit.weights_[6], abs=0.02)


# --- stored positions ------------------------------------------------------------------------

CHECKERS = Checkers()
CLASSIC = CHECKERS.features["classic"]


def stored_rows(count: int, weights: dict[str, float], scale: float) -> tuple[Rows, Any]:
    """Returns positions of random checkers play, with an evaluator's values and random results."""
    random = np.random.default_rng(3)
    positions, numbers, position, game = [], [], CHECKERS.start(), 0
    while len(positions) < count:
        positions.append(position)
        numbers.append(game)
        moves = CHECKERS.legal_moves(position)
        over = not moves
        game += over
        position = (
            CHECKERS.start()
            if over
            else CHECKERS.play(position, moves[int(random.integers(len(moves)))])
        )
    evaluator = LinearEvaluator(CHECKERS, CLASSIC, weights)
    values = evaluator.values(positions)
    result = 2 * results_of(expit(scale * values)) - 1
    return Rows.of(positions, value=values, result=result, game_number=numbers), evaluator


@compiled_only
def test_stored_positions_give_back_the_evaluator_that_valued_them() -> None:
    weights = {"men": 1.0, "kings": 1.6, "mobility": 0.1, "back_row": 0.2}
    rows, evaluator = stored_rows(20_000, weights, scale=0.8)
    np.testing.assert_array_equal(
        measure(CLASSIC, rows.positions), CLASSIC.measure(rows.positions).astype(np.float32)
    )
    fit = LogisticFit(CLASSIC, blend=0.0, alpha=1e-10).fit_rows(rows)
    assert pytest.approx(0.8, rel=0.05) == fit.K_  # found from the results
    np.testing.assert_allclose(fit.weights_, evaluator.weights, atol=0.01)
    # from the results alone, with a fixed term, as closely as they determine it
    fit = LogisticFit(CLASSIC, blend=1.0, fixed={"men": 1.0}, alpha=1e-3).fit_rows(rows)
    assert fit.weights_[0] == 1.0
    assert fit.weights_[1] == pytest.approx(1.6, abs=0.15)
    # values in another unit do not change the weight of a fixed term
    hundredths = replace(rows, value=100 * rows.value)
    other = LogisticFit(CLASSIC, fixed={"men": 1.0}).fit_rows(hundredths)
    same = LogisticFit(CLASSIC, fixed={"men": 1.0}).fit_rows(rows)
    np.testing.assert_allclose(other.weights_, same.weights_, atol=1e-3)
    # and without one they set the unit
    other = LogisticFit(CLASSIC, blend=0.0, alpha=1e-10).fit_rows(hundredths)
    np.testing.assert_allclose(other.weights_, 100 * evaluator.weights, atol=1.0)


@compiled_only
def test_counts_weigh_and_unknown_results_need_a_scale() -> None:
    rows, _ = stored_rows(2000, {"men": 1.0}, scale=0.8)
    doubled = Rows.concatenate([rows, rows], 4)
    counted = rows.take(slice(None))
    counted.count[:] = 2
    options: dict[str, Any] = {"alpha": 1e-3}
    one, two = (LogisticFit(CLASSIC, **options).fit_rows(each) for each in (doubled, counted))
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-6)
    unknown = Rows.of(rows.positions, value=rows.value)
    with pytest.raises(ValueError, match="expected rows with a known result"):
        LogisticFit(CLASSIC).fit_rows(unknown)
    fit = LogisticFit(CLASSIC, scale=0.5, alpha=1e-9).fit_rows(unknown)
    np.testing.assert_allclose(fit.weights_[0], 1.0, atol=1e-3)
    with pytest.raises(TypeError, match="expected a FeatureSet to measure positions"):
        LogisticFit(CLASSIC.names).fit_rows(rows)


# --- calibration -----------------------------------------------------------------------------


@plain
def test_calibration_by_hand() -> None:
    table = calibration([0.1, 0.2, 0.2, 0.9, 1.0], [0, 0.5, 1, 1, 1], bins=2)
    assert [(part.low, part.high, part.count) for part in table] == [(0, 0.5, 3), (0.5, 1, 2)]
    assert [part.predicted for part in table] == pytest.approx([0.5 / 3, 0.95])
    assert [part.found for part in table] == pytest.approx([0.5, 1.0])
    assert calibration_error(table) == pytest.approx((3 * (0.5 - 0.5 / 3) + 2 * 0.05) / 5)


@plain
def test_bins_in_which_all_games_end_alike_have_an_interval_still() -> None:
    for result in (0.0, 1.0):
        (part,) = calibration(np.full(50, 0.62), np.full(50, result), bins=10)
        assert (part.low, part.high) == pytest.approx((0.6, 0.7))
        assert 0.0 <= part.found_low <= result <= part.found_high <= 1.0
        assert part.found_high - part.found_low == pytest.approx(1 - 0.025**0.02)
    assert calibration([], []) == []


test_errors = errors_of(globals())

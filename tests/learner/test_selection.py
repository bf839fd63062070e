"""Which terms matter: those that make the value are found, and noise is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from games import Game, kernels
from games.features import FeatureSet
from games.kernels import kernel
from learner.fit.selection import report_text, select_terms, sign_correlations
from learner.positions.shards import Rows
from search import LinearEvaluator

plain = pytest.mark.plain
compiled_only = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")


class Numbers(Game):
    """Positions are eight numbers, and so are the terms."""

    def start(self) -> Any:
        return (0,) * 8


def read(place: int) -> Any:
    @kernel
    def term(position):  # type: ignore[no-untyped-def]
        return position[place]

    return term


GAME = Numbers()
NAMES = ("material", "strong", "weak", "noise_1", "noise_2", "noise_3", "copy", "nothing")
FEATURES = FeatureSet("numbers", {name: read(place) for place, name in enumerate(NAMES)})
TRUE = {"material": 1.0, "strong": 0.8, "weak": -0.3}


def stored(rows: int = 4000, seed: int = 0) -> Rows:
    """Values from three of the terms, with noise; `copy` repeats what `strong` and chance say."""
    random = np.random.default_rng(seed)
    positions = random.integers(-3, 4, (rows, 8))
    positions[:, 6] = positions[:, 1] + random.integers(-3, 4, rows)
    positions[:, 7] = 0
    weights = np.array([TRUE.get(name, 0.0) for name in NAMES])
    value = positions @ weights + random.normal(size=rows) * 0.5
    result = np.where(random.random(rows) < expit(0.8 * value), 1, -1)
    return Rows.of(positions, value=value, result=result, game_number=np.arange(rows) // 20)


def by_name(reports: Any) -> dict[str, Any]:
    return {report.term: report for report in reports}


@compiled_only
@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_terms_that_make_the_value_come_first_and_noise_last(unit: float) -> None:
    evaluator = LinearEvaluator(GAME, FEATURES, {n: unit * w for n, w in TRUE.items()})
    reports = select_terms(evaluator, stored(), fixed=["material"])
    assert [report.term for report in reports][:3] == ["material", "strong", "weak"]
    assert [report.fixed for report in reports] == [True] + [False] * 7
    found = by_name(reports)
    assert found["strong"].weight == 0.8 * unit
    # the sign of delta follows the strong term, against the weak, and its copy looks alike
    assert found["strong"].correlation > 0.7
    assert found["weak"].correlation < -0.15
    assert found["copy"].correlation > 0.3
    assert found["nothing"].correlation == 0
    # but the copy has no weight, and shuffling it changes nothing
    assert found["copy"].importance == 0
    assert found["strong"].importance > 5 * found["weak"].importance > 0
    assert found["weak"].importance > 5 * found["weak"].spread
    for name in ("noise_1", "noise_2", "noise_3"):
        assert abs(found[name].correlation) < 0.06


@compiled_only
def test_without_fixed_terms_delta_is_the_value_itself() -> None:
    found = by_name(select_terms(LinearEvaluator(GAME, FEATURES, TRUE), stored()))
    assert found["material"].correlation > 0.6


@compiled_only
def test_rows_count_as_often_as_they_stand_for() -> None:
    evaluator = LinearEvaluator(GAME, FEATURES, TRUE)
    some = stored(300)
    some.count[:] = np.arange(300) % 3
    repeated = some.take(np.arange(300).repeat(some.count))
    repeated.count[:] = 1
    counted, written_out = (by_name(select_terms(evaluator, r)) for r in (some, repeated))
    for name in NAMES:
        assert counted[name].correlation == pytest.approx(written_out[name].correlation)


@plain
def test_sign_correlations_agree_with_samuels_running_average_that_never_forgets() -> None:
    random = np.random.default_rng(0)
    terms = random.integers(-1, 2, (300, 4)).astype(float)
    terms[:, 3] = 0
    delta = random.normal(size=300) * (random.random(300) < 0.8) + terms[:, 0]
    slow = np.zeros(4)
    seen = np.zeros(4)
    for row, d in zip(terms, delta, strict=True):
        for j in range(4):
            if row[j] != 0 and d != 0:
                seen[j] += 1
                agreement = 1.0 if (row[j] > 0) == (d > 0) else -1.0
                slow[j] -= (slow[j] - agreement) / seen[j]
    np.testing.assert_allclose(sign_correlations(terms, delta), slow, atol=1e-12)


@compiled_only
def test_the_report_reads_like_a_table() -> None:
    reports = select_terms(LinearEvaluator(GAME, FEATURES, TRUE), stored(), fixed=["material"])
    lines = report_text(reports).splitlines()
    assert lines[0].split() == ["rank", "term", "weight", "correlation", "shuffled"]
    assert lines[1].split()[:3] == ["fix", "material", "1"]
    assert lines[2].split()[:3] == ["1", "strong", "0.8"]
    assert len({len(line.split("  +")[0].split("  -")[0]) for line in lines[1:3]}) == 1


@compiled_only
def test_an_evaluator_that_values_nothing_has_no_importance_to_measure() -> None:
    reports = by_name(select_terms(LinearEvaluator(GAME, FEATURES, {}), stored()))
    assert {report.importance for report in reports.values()} == {0.0}


@compiled_only
def test_wrong_input_is_refused() -> None:
    evaluator = LinearEvaluator(GAME, FEATURES, TRUE)
    rows = stored(50)
    with pytest.raises(ValueError, match="fixed: expected terms of material.*queens"):
        select_terms(evaluator, rows, fixed=["queens"])
    with pytest.raises(ValueError, match="rows: expected at least one"):
        select_terms(evaluator, rows.take(slice(0)))
    with pytest.raises(ValueError, match="expected results that rise with the values"):
        select_terms(LinearEvaluator(GAME, FEATURES, {"material": -1.0}), rows)

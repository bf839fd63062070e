"""Learning-rate schedules against the formulas that results by seed depend on."""

from __future__ import annotations

import numpy as np
import pytest

from learner.models.schedule import Schedule

pytestmark = pytest.mark.plain


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.3])
@pytest.mark.parametrize("total", [1, 7, 8000])
def test_linear_schedules_are_bit_for_bit_what_learners_used(rate: float, total: int) -> None:
    for done in range(total + 1):
        tenth = Schedule(rate, 0.1).at(done, total)
        assert tenth == rate * (1.0 - 0.9 * done / total)
        assert Schedule(rate, 0.01).at(done, total) == rate * (1.0 - 0.99 * done / total)
        assert Schedule(rate).at(done, total) == rate
        last = rate / 50
        between = Schedule.between(rate, last).at(done, total)
        # torch's steps are float32
        assert np.float32(between) == np.float32(rate + done / total * (last - rate))


@pytest.mark.parametrize("total", [1, 60, 9000])
def test_geometric_schedules_fall_by_one_factor(total: int) -> None:
    rate, last = 0.0004, 0.00002
    schedule = Schedule.between(rate, last, "geometric")
    expected = rate
    for done in range(total + 1):
        found = schedule.at(done, total)
        assert found == rate * (last / rate) ** (done / total)
        assert np.float32(found) == np.float32(expected)
        expected *= (last / rate) ** (1 / total)
    assert schedule.at(0, total) == rate
    assert np.isclose(schedule.at(total, total), last, rtol=1e-12)


def test_bad_schedules() -> None:
    for first, last in ((0.0, 0.1), (-1.0, None), (0.1, 0.0), (float("nan"), None)):
        with pytest.raises(ValueError, match="rate: expected a first and a last one above 0"):
            Schedule.between(first, last)
    with pytest.raises(ValueError, match="shape: expected one of linear, geometric, found 'step'"):
        Schedule(0.1, 0.5, "step")

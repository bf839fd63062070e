"""Error marks and accuracy, against values worked out by hand."""

from __future__ import annotations

import math

import pytest

from play.judging.marks import POINTS, RESULTS, accuracy, mark

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    ("lost", "results", "points"),
    [
        (0.0, "", ""),
        (0.019, "", ""),
        (0.02, "", "?!"),
        (0.04, "", "?"),
        (0.05, "?!", "?"),
        (0.08, "?!", "??"),
        (0.10, "?", "??"),
        (0.15, "??", "??"),
        (1.0, "??", "??"),
    ],
)
def test_marks_follow_the_limits(lost: float, results: str, points: str) -> None:
    assert (mark(lost, RESULTS), mark(lost, POINTS)) == (results, points)


def test_accuracy_is_a_mean_that_falls_by_half_with_every_sixth_of_a_result() -> None:
    half = math.log(2) / 4.354
    assert accuracy([]) is None
    assert accuracy([0.0, 0.0]) == 100.0
    assert accuracy([half]) == pytest.approx(50.0)
    assert accuracy([0.0, 2 * half]) == pytest.approx(62.5)

"""Chance in native code: streams against a twin in plain integers, and rolls against their odds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from games import kernels
from games.backgammon import Backgammon
from games.backgammon.rules import FIRST_PROBABILITIES, PROBABILITIES, ROLLS
from games.kernels import kernel
from games.kernels.chance import cumulative, drawn, next_state, scrambled, stream, uniform

pytestmark = pytest.mark.plain

MASK = (1 << 62) - 1
COUNT = 200_000 if kernels.compiled else 20_000


def twin(state: int) -> tuple[int, float]:
    """Returns the next state and its number: SplitMix64 with 62 bits, in unbounded integers."""
    state = (state + 0x1E3779B97F4A7C15) & MASK
    bits = ((state ^ (state >> 30)) * 0x3F58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x14D049BB133111EB) & MASK
    bits ^= bits >> 31
    return state, (bits >> 9) / 2**53


@kernel
def tally(state, limits, count, counts):
    """Count the rolls of a stream by the roll before each; returns the last state."""
    before = limits.size - 1
    for _ in range(count):
        state = next_state(state)
        roll = drawn(uniform(state), limits)
        counts[before, roll] += 1
        before = roll
    return state


def rolled(probabilities: Any, count: int, seed: int) -> np.ndarray[Any, Any]:
    """Returns how often a roll followed another, [before, roll]."""
    counts = np.zeros((len(probabilities),) * 2, dtype=np.int64)
    tally(stream(seed), cumulative(probabilities), count, counts)
    assert counts.sum() == count
    return counts


def is_likely(found: Any, expected: Any) -> bool:
    """Whether counts agree with their expectations, as chance makes them in 999 of 1000 cases."""
    found, expected = np.ravel(found), np.ravel(expected)
    squares = float(((found - expected) ** 2 / expected).sum())
    return bool(chi2.ppf(0.0005, len(found) - 1) < squares < chi2.ppf(0.9995, len(found) - 1))


def test_a_stream_is_that_of_the_twin() -> None:
    states = [0, 1, MASK, MASK - 1, 1 << 61, 0x1E3779B97F4A7C15, *map(stream, range(50))]
    for state in states:
        for _ in range(20):
            after = int(next_state(state))
            assert (after, uniform(after)) == twin(state)
            assert 0 <= scrambled(after) <= MASK and 0.0 <= uniform(after) < 1.0
            state = after


def test_known_streams() -> None:
    assert [stream(0), stream(1, 2)] == [3948308845846928943, 3882474721354930474]


def test_streams_of_other_seeds_are_others() -> None:
    seeds = [(a, b) for a in range(40) for b in range(40)]
    states = {stream(*seed) for seed in seeds}
    assert len(states) == len(seeds)
    # their numbers differ as well, however close the seeds
    firsts = [uniform(next_state(stream(seed))) for seed in range(2000)]
    assert is_likely(np.histogram(firsts, bins=20, range=(0, 1))[0], np.full(20, 100.0))
    assert stream(7) == stream(7, 0) != stream(7, 1)  # as the docstring says
    with pytest.raises(ValueError):
        stream(-1)


@pytest.mark.parametrize("seed", range(3))
def test_rolls_come_as_often_as_they_should(seed: int) -> None:
    counts = rolled(PROBABILITIES, COUNT, seed)
    assert is_likely(counts.sum(axis=0), COUNT * np.array(PROBABILITIES))
    # and independent of the previous roll
    pairs = COUNT * np.outer(PROBABILITIES, PROBABILITIES)
    assert is_likely(counts, pairs)


def test_first_rolls_are_never_doubles() -> None:
    counts = rolled(FIRST_PROBABILITIES, COUNT, 5).sum(axis=0)
    for (high, low), count in zip(ROLLS, counts, strict=True):
        assert (count == 0) == (high == low)
    unequal = [high != low for high, low in ROLLS]
    assert is_likely(counts[unequal], np.full(15, COUNT / 15))
    assert Backgammon().dice.first == FIRST_PROBABILITIES


def test_the_ends_of_the_scale() -> None:
    below = float(np.nextafter(1.0, 0.0))
    for probabilities, first, last in (
        (PROBABILITIES, 0, 20),
        (FIRST_PROBABILITIES, 1, 19),  # 21 and 65
        ((0.0, 0.0, 1.0, 0.0), 2, 2),
        ((0.5, 0.5), 0, 1),
        ((0.1,) * 10, 0, 9),  # whose sum is below 1
    ):
        limits = cumulative(probabilities)
        assert limits.dtype == np.float64 and len(limits) == len(probabilities)
        assert (drawn(0.0, limits), drawn(below, limits)) == (first, last)
    limits = cumulative((0.25, 0.0, 0.5, 0.25))
    found = [int(drawn(chance, limits)) for chance in (0.2499, 0.25, 0.7499, 0.75, 0.99)]
    assert found == [0, 2, 2, 3, 3]

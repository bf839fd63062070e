"""Noise on evaluators: its distribution, and the same value at every visit."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from twin import Twin, random_positions

from games import kernels
from games.checkers import Checkers
from games.kernels import kernel
from games.kernels import memory as native
from play.workers.transport import pack, unpack
from search import Engine, PythonEvaluator, as_evaluator
from search.evaluators.network import NetworkEvaluator
from search.evaluators.noise import NoisyEvaluator, noise

plain = pytest.mark.plain
native_only = pytest.mark.skipif(not kernels.compiled, reason="about native code")
CHECKERS = Checkers()
POSITIONS = list(random_positions(CHECKERS, seed=5, count=300))
HERE = CHECKERS.start()


@kernel
def pieces(position):
    return float(position[0] % 977) / 7.0


def network() -> NetworkEvaluator:
    generator = np.random.default_rng(3)
    inputs = CHECKERS.features["classic"]
    shapes = [(len(inputs), 8), (8, 1)]
    layers = [(generator.normal(size=shape), generator.normal(size=shape[1])) for shape in shapes]
    return NetworkEvaluator(CHECKERS, inputs, layers)


INNER = {
    "linear": lambda: as_evaluator(CHECKERS, "classic"),
    "kernel": lambda: as_evaluator(CHECKERS, pieces),
    "network": network,
    "python": lambda: PythonEvaluator(CHECKERS, lambda position: position[1] / 3.0),
    "noisy": lambda: NoisyEvaluator(as_evaluator(CHECKERS, "classic"), amplitude=1.0, seed=99),
}


def slow_noise(position: tuple[int, ...], seed: int) -> float:
    """Returns the same noise by unsigned arithmetic."""
    whole = (1 << 64) - 1
    mixed = seed * 0x1E3779B97F4A7C15 & whole
    for word in position:
        mixed ^= mixed >> 31
        mixed = (mixed ^ word % (1 << 64)) * 0x3C79AC492BA7B653 & whole
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & whole
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & whole
    mixed ^= mixed >> 31
    parts = mixed.to_bytes(8, "little")
    total = sum(int.from_bytes(parts[i : i + 2], "little") for i in (0, 2, 4, 6))
    return (total - 4 * 65535 / 2) * float(np.sqrt(12 / 4 / (65536**2 - 1)))


@plain
def test_against_unsigned_arithmetic() -> None:
    generator = random.Random(1)
    edges = [0, 1, -1, (1 << 63) - 1, -(1 << 63)]
    for _ in range(500):
        position = tuple(
            generator.choice([*edges, generator.getrandbits(63), -generator.getrandbits(40)])
            for _ in range(4)
        )
        seed = generator.choice([0, 1, (1 << 63) - 1, generator.getrandbits(63)])
        assert noise(position, seed) == slow_noise(position, seed)


@pytest.mark.slow
@plain
def test_it_is_like_chance() -> None:
    n = 4000
    evaluator = NoisyEvaluator(
        PythonEvaluator(CHECKERS, lambda position: 0.0), amplitude=0.5, seed=0
    )
    drawn = evaluator.plain()
    positions = list(random_positions(CHECKERS, seed=8, count=n, plies=40))
    values = {}
    for seed in (0, 1):
        evaluator.seed = seed
        values[seed] = np.array([drawn(position) for position in positions]) / 0.5
    after = []
    for position in positions:
        after.append(drawn(CHECKERS.play(position, CHECKERS.legal_moves(position)[0])) / 0.5)
    distinct = dict(zip(positions, values[0], strict=True))
    first = np.array(list(distinct.values()))
    room = 4.5 / np.sqrt(len(first))
    assert len(first) > n / 2
    assert abs(first.mean()) < room
    assert abs(first.var() - 1.0) < 1.5 * room
    assert abs((first**3).mean()) < 4 * room
    assert (first**4).mean() == pytest.approx(2.7, abs=0.25)  # Irwin-Hall of four: 3 - 6 / (5 * 4)
    assert np.abs(first).max() < 3.47
    for other in (values[1], np.array(after)):
        # another seed and the next position are uncorrelated with it
        assert abs(np.corrcoef(values[0], other)[0, 1]) < room
    swapped = np.array([slow_noise((b, a, k, 1 - s), 0) for a, b, k, s in distinct])
    assert abs(np.corrcoef(first, swapped)[0, 1]) < room


@native_only
@pytest.mark.parametrize("kind", INNER)
def test_native_values_are_the_plain_ones_bit_for_bit(kind: str) -> None:
    evaluator = NoisyEvaluator(INNER[kind](), amplitude=0.3, seed=17)
    value = evaluator.plain()
    expected = np.array([value(position) for position in POSITIONS])
    np.testing.assert_array_equal(evaluator.values(POSITIONS), expected)
    assert np.ptp(expected - evaluator.evaluator.values(POSITIONS)) > 0.3


@plain
def test_amplitude_and_seed_are_numbers_that_may_change() -> None:
    inner = PythonEvaluator(CHECKERS, lambda position: 0.0)
    evaluator = NoisyEvaluator(inner, amplitude=1.0, seed=3)
    value = evaluator.plain()
    before = evaluator(HERE)
    assert before == value(HERE) == noise(HERE, 3)
    compiled = native._compile.cache_info().misses
    evaluator.amplitude = 2.0
    assert evaluator(HERE) == value(HERE) == 2.0 * before
    evaluator.seed = 4
    assert evaluator(HERE) == value(HERE) == 2.0 * noise(HERE, 4) != 2.0 * before
    assert native._compile.cache_info().misses == compiled
    assert (evaluator.amplitude, evaluator.seed) == (2.0, 4)


@native_only
@pytest.mark.parametrize("seed", [0, 1])
def test_searches_find_what_minimax_finds(seed: int) -> None:
    """Table, move ordering and pruning rely on a position having the same value at each visit."""
    evaluator = NoisyEvaluator(as_evaluator(CHECKERS, "material"), amplitude=0.4, seed=seed)
    twin = Twin(CHECKERS, evaluator.plain())
    engine = Engine(CHECKERS, evaluator, repetition=False, equal_depth=True, table_mib=1)
    for position in POSITIONS[:12]:
        assert engine.search(position, depth=3).value == twin.value(position, 3)


@plain
def test_it_travels() -> None:
    evaluator = NoisyEvaluator(as_evaluator(CHECKERS, "classic"), amplitude=0.25, seed=1 << 62)
    arrived = unpack(pack(evaluator))
    np.testing.assert_array_equal(arrived.values(POSITIONS[:20]), evaluator.values(POSITIONS[:20]))
    assert (arrived.amplitude, arrived.seed) == (0.25, 1 << 62)


@plain
def test_an_evaluator_that_fails_within() -> None:
    def fails(position: Any) -> float:
        raise RuntimeError("broken")

    evaluator = NoisyEvaluator(PythonEvaluator(CHECKERS, fails), amplitude=0.1)
    with pytest.raises(RuntimeError, match="broken"):
        evaluator(HERE)
    with pytest.raises(RuntimeError, match="broken"):
        Engine(CHECKERS, evaluator).search(HERE, depth=2)


test_errors = errors_of(globals())

"""Every 95 % interval that a program prints holds the truth in at least 94 % of simulated cases.

A kind of interval is simulated in cells: true strengths, numbers of units, draws, and whatever else
it depends on. The suite takes few cases of some cells, `make proofs` ten thousand of each.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from play.ratings.statistics import (
    ELO_PER_DEVIATION,
    Estimate,
    Tally,
    elo,
    elo_interval,
    normalised_elo_interval,
    score_interval,
)

#: Cases of a cell in the suite and in the proofs.
FEW, MANY = 400, 10_000
#: Share of the cases that hold the truth.
HELD = 0.94
#: The mean width in widths of the bootstrap's interval, at most; cases and draws of the bootstrap.
WIDTH, RESAMPLED, DRAWS = 1.3, 100, 400

#: Intervals of simulated cases, and the true value.
Simulated = tuple[list[Estimate], float]


@dataclass(frozen=True)
class Kind:
    """A kind of interval.

    cells: the circumstances, each a tuple of the arguments of `simulate`.
    simulate: returns intervals of a number of cases and the truth.
    sparse: the suite takes every cell of this number.
    """

    cells: list[tuple[Any, ...]]
    simulate: Callable[..., Simulated]
    sparse: int = 1


def pair_chances(score: float, draws: float, repeated: float) -> np.ndarray:
    """Returns the chances of the five scores of a pair.

    draws: number of draws in shares of the greatest.
    repeated: probability that the second game ends as the first.
    """
    drawn = 2 * draws * min(score, 1 - score)
    game = np.array([1 - score - drawn / 2, drawn, score - drawn / 2])
    chances = (1 - repeated) * np.convolve(game, game)
    chances[::2] += repeated * game
    return chances


def true_normalised(chances: np.ndarray) -> float:
    """Returns normalised Elo by the definition."""
    scores = np.linspace(0, 1, len(chances))
    mean = chances @ scores
    games = len(chances) // 2
    variance = float(chances @ (scores - mean) ** 2)
    return float(mean - 0.5) / math.sqrt(games * variance) * ELO_PER_DEVIATION


def true_score(chances: np.ndarray) -> float:
    """Returns points per game."""
    return float(chances @ np.linspace(0, 1, len(chances)))


def matches(
    interval: Callable[[Tally], Estimate], truth: Callable[[np.ndarray], float]
) -> Callable[..., Simulated]:
    """Returns the simulation of an interval of a match's tally."""

    def simulate(
        random: np.random.Generator, cases: int, score: float, pairs: int, *rest: float
    ) -> Simulated:
        chances = pair_chances(score, *rest)
        drawn = map(tuple, random.multinomial(pairs, chances, cases).tolist())
        known: dict[tuple[int, ...], Estimate] = {}
        tallies = [*drawn]
        for counts in tallies:
            if counts not in known:
                known[counts] = interval(Tally(counts))
        return [known[counts] for counts in tallies], truth(chances)

    return simulate


MATCHES = [*itertools.product((0.5, 0.6, 0.75, 0.87, 0.95, 0.99), (50, 100, 400), (0.0, 0.5, 0.9),
                              (0.0, 0.5, 1.0))]  # fmt: skip
SHORT = [*itertools.product((0.5, 0.8), (1, 2, 5, 10, 20), (0.0, 0.9), (0.0, 1.0))]

KINDS = {
    "score": Kind(MATCHES + SHORT, matches(score_interval, true_score), 5),
    "Elo": Kind(
        MATCHES + SHORT, matches(elo_interval, lambda chances: elo(true_score(chances))), 11
    ),
    "normalised Elo": Kind(MATCHES + SHORT, matches(normalised_elo_interval, true_normalised), 5),
}


def held(kind: Kind, cells: list[tuple[Any, ...]], cases: int) -> Iterator[tuple[float, Any]]:
    """Yields the share of the cases in which the interval holds the truth, and the cell."""
    for number, cell in enumerate(cells):
        intervals, truth = kind.simulate(np.random.default_rng(number), cases, *cell)
        yield float(np.mean([one.low <= truth <= one.high for one in intervals])), cell


@pytest.mark.parametrize("name", KINDS)
def test_some_simulated_cases(name: str) -> None:
    kind = KINDS[name]
    few = HELD - 3 * math.sqrt(HELD * (1 - HELD) / FEW)
    assert min(held(kind, kind.cells[:: kind.sparse], FEW)) > (few,)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_all_simulated_cases(name: str) -> None:
    kind = KINDS[name]
    assert min(held(kind, kind.cells, MANY)) >= (HELD,)

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
from scipy.special import expit

from benchmarks.groups import rate_groups
from games.backgammon import Backgammon
from learner.regression.matrix import Matrix
from learner.regression.validation import students_quantile
from learner.traces.fit import Settings, fit_traces
from learner.traces.traces import Traces
from play.ratings.bradley_terry import ELO_PER_NAT, rate, rate_rounds
from play.ratings.places import PlaceSummary
from play.ratings.ratios import ratio_interval
from play.ratings.statistics import (
    ELO_PER_DEVIATION,
    Estimate,
    Tally,
    elo,
    elo_interval,
    expected_score,
    mean_interval,
    normalised_elo_interval,
    score_interval,
)
from play.rollout.dice import RolloutDice, half_widths, mean_and_error

#: Cases of a cell in the proofs.
MANY = 10_000
#: Share of the cases that hold the truth.
HELD = 0.94
#: The mean width of a match's intervals in widths of the bootstrap's, at most, where that holds the
#: truth as often; cases and draws of the bootstrap.
WIDTH, RESAMPLED, DRAWS = 1.3, 100, 400

#: Intervals of simulated cases, and the true value.
Simulated = tuple[list[Estimate], float]


@dataclass(frozen=True)
class Kind:
    """A kind of interval.

    cells: the circumstances, each a tuple of the arguments of `simulate`.
    simulate: returns intervals of a number of cases and the truth.
    sparse: the suite takes every cell of this number.
    few: cases of a cell in the suite.
    """

    cells: list[tuple[Any, ...]]
    simulate: Callable[..., Simulated]
    sparse: int = 1
    few: int = 400


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


def means(values: Callable[..., np.ndarray], truth: Callable[..., float]) -> Any:
    """Returns the simulation of the mean of values.

    values: returns [cases, units] for the arguments of a cell behind `bounds`.
    """

    def simulate(
        random: np.random.Generator, cases: int, bounds: tuple[float, float], *rest: Any
    ) -> Simulated:
        drawn = values(random, cases, *rest)
        return [mean_interval(row, bounds=bounds) for row in drawn], truth(*rest)

    return simulate


def points_of(random: np.random.Generator, cases: int, pairs: int, chances: Any) -> np.ndarray:
    """Returns points a game of pairs of games of backgammon."""
    points = random.choice([-3, -2, -1, 1, 2, 3], (cases, pairs, 2), p=chances)
    return np.asarray(points.mean(axis=2))


def noise_of(random: np.random.Generator, cases: int, units: int, tails: float) -> np.ndarray:
    """Returns values whose mean is 0, such as points without luck, or shares of seeds."""
    return random.normal(size=(cases, units)) + tails * random.laplace(size=(cases, units))


def ratios(most: float, groups: Callable[..., tuple[np.ndarray, np.ndarray, float]]) -> Any:
    """Returns the simulation of a mean over groups, whose sums and sizes are [cases, groups]."""

    def simulate(random: np.random.Generator, cases: int, *rest: Any) -> Simulated:
        sums, sizes, truth = groups(random, cases, *rest)
        rows = zip(sums, sizes, strict=True)
        return [ratio_interval(*row, most=most) for row in rows], truth

    return simulate


def losses_of(
    random: np.random.Generator, cases: int, games: int, decisions: int, rate: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Returns losses of decisions in games, of exponential size at a rate."""
    shape = (cases, games)
    sizes = np.maximum(random.poisson(decisions, shape), 1) if decisions > 1 else np.ones(shape)
    wrong = random.binomial(sizes.astype(int), rate)
    sums = np.where(wrong > 0, random.gamma(np.maximum(wrong, 1)), 0.0)
    return sums, sizes, rate


def shares_of(
    random: np.random.Generator, cases: int, games: int, rows: int, share: float, spread: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Returns rows of games of which a share is right; games differ, or decide all their rows."""
    shape = (cases, games)
    sizes = random.integers(1, 2 * rows, shape)
    if math.isinf(spread):
        return sizes * (random.random(shape) < share), sizes, share
    own = random.beta(share / spread, (1 - share) / spread, shape) if spread else share
    return random.binomial(sizes, own), sizes, share


def first_places(
    random: np.random.Generator, cases: int, rounds: int, ahead: float, name: str
) -> Simulated:
    """Returns what the standing of the first of three players has of `name`."""
    own = random.gumbel(size=(cases, rounds, 3, 3)) + ahead * np.array([1, 0, 0])
    outcomes = np.where(own == own.max(axis=3, keepdims=True), 1.0, -0.5)
    won = math.exp(ahead) / (math.exp(ahead) + 2)
    truth = {"first": won, "place": won + 2.5 * (1 - won), "points": 1.5 * won - 0.5}[name]
    played = [PlaceSummary(("a", "b", "c"), one.tolist()).standings()[0] for one in outcomes]
    return [getattr(standing, name) for standing in played], truth


def ladder_of(random: np.random.Generator, cases: int, pairs: int, elo: float) -> Simulated:
    """Returns ratings of the second player of three, who lies above the first by `elo`."""
    strengths = {"a": 0.0, "b": elo, "c": 60.0}
    drawn = {
        (one, other): random.multinomial(
            pairs, pair_chances(expected_score(strengths[one] - strengths[other]), 0.4, 0.2), cases
        )
        for one, other in itertools.combinations(strengths, 2)
    }
    found = []
    for case in range(cases):
        table = {pairing: Tally(tuple(counts[case])) for pairing, counts in drawn.items()}
        found += [one.elo for one in rate(table, anchor="a") if one.name == "b"]
    return found, elo


def rounds_of(random: np.random.Generator, cases: int, rounds: int, ahead: float) -> Simulated:
    """Returns ratings of the second of three players who play each round at one board."""
    found = []
    for _ in range(cases):
        own = random.gumbel(size=(rounds, 3)) + ahead * np.array([0, 1, 0])
        table = [
            {pair: (float(row[pair[0]] > row[pair[1]]), 1) for pair in ((0, 1), (0, 2), (1, 2))}
            for row in own
        ]
        named = [{tuple("abc"[i] for i in pair): won for pair, won in one.items()} for one in table]
        found += [one.elo for one in rate_rounds(named, anchor="a") if one.name == "b"]
    return found, ahead * ELO_PER_NAT


def groups_of(random: np.random.Generator, cases: int, members: int, spread: float) -> Simulated:
    """Returns the mean rating of players who differ, each by games against one opponent."""
    found = []
    for _ in range(cases):
        names = [f"player {i}" for i in range(members)]
        table = {
            (name, "a"): Tally(tuple(random.multinomial(
                100, pair_chances(expected_score(80.0 + spread * random.normal()), 0.4, 0.2))))
            for name in names
        }  # fmt: skip
        found.append(rate_groups(table, {"all": names}, anchor="a")["all"])
    return found, 80.0


def weights_of(random: np.random.Generator, cases: int, games: int, weight: float) -> Simulated:
    """Returns the weight of one of three terms fitted to games of three equal rows."""
    found = []
    for _ in range(cases):
        rows = random.normal(size=(games, 3))
        won = random.random(games) < expit(rows @ [weight, 0.5, 0.0])
        game = np.repeat(np.arange(games), 3)
        matrix, results = Matrix(3, rows[game]), won[game].astype(float)
        traces = Traces(("a", "b", "c"), matrix, results, None, game, np.ones(len(game)), True)
        fitted = fit_traces(traces, {}, Settings())
        term = fitted.terms[0]
        half = students_quantile(fitted.games) * term.error + term.pull
        found.append(Estimate(term.weight, term.weight - half, term.weight + half))
    return found, weight


def rollouts_of(random: np.random.Generator, cases: int, games: int, share: float) -> Simulated:
    """Returns values of rollouts of which the first two rolls explain a share of the variance."""
    game = Backgammon()
    rolls, chances = RolloutDice(game, 5).rolls(games), np.array(game.rolls)
    effects = random.normal(size=(2, len(chances))) * math.sqrt(share / 2)
    found = []
    for _ in range(cases):
        samples = random.normal(size=games) * math.sqrt(1 - share)
        samples += effects[0][rolls[:, 0]] + effects[1][rolls[:, 1]]
        mean, error = mean_and_error(samples[:, None], rolls)
        half = half_widths(error, games)
        found.append(Estimate(*(float(end[0]) for end in (mean, mean - half, mean + half))))
    return found, float((effects @ chances).sum())


MATCHES = [*itertools.product((0.5, 0.6, 0.75, 0.87, 0.95, 0.97, 0.985, 0.99), (50, 100, 400),
                              (0.0, 0.5, 0.9), (0.0, 0.5, 1.0))]  # fmt: skip
SHORT = [*itertools.product((0.5, 0.8), (1, 2, 5, 10, 20), (0.0, 0.9), (0.0, 1.0))]
UNITS = (2, 3, 5, 10, 20, 50, 100, 400)
EVEN, AHEAD = (0.01, 0.12, 0.37, 0.37, 0.12, 0.01), (0.0, 0.02, 0.11, 0.5, 0.32, 0.05)
POINTS = np.array([-3, -2, -1, 1, 2, 3])
OPEN, LEVEL = (-math.inf, math.inf), (0.0, 1.0)

KINDS = {
    "score": Kind(MATCHES + SHORT, matches(score_interval, true_score), 5),
    "Elo": Kind(MATCHES, matches(elo_interval, lambda chances: elo(true_score(chances))), 11),
    "normalised Elo": Kind(MATCHES + SHORT, matches(normalised_elo_interval, true_normalised), 5),
    "points a game": Kind(
        [*itertools.product([(-3, 3)], UNITS, (EVEN, AHEAD))],
        means(points_of, lambda _, chances: float(POINTS @ chances)), 3,
    ),
    "points without luck, and seeds": Kind(
        [*itertools.product([OPEN], UNITS, (0.0, 0.7))], means(noise_of, lambda *_: 0.0), 3
    ),
    "equity lost": Kind([*itertools.product(UNITS[2:], (25,), (0.3, 0.1, 0.02))],
                        ratios(math.inf, losses_of), 4),
    "value lost by truth": Kind([*itertools.product(UNITS[2:], (1,), (0.3, 0.1, 0.03))],
                                ratios(math.inf, losses_of), 4),
    "moves agreed": Kind([*itertools.product(UNITS, (12,), (0.3, 0.6, 0.9, 0.98), (0.0, 0.1))],
                         ratios(1.0, shares_of), 7),
    "results found": Kind([*itertools.product(UNITS, (1, 8), (0.5, 0.9, 0.97), (math.inf,))],
                          ratios(1.0, shares_of), 7),
    "places": Kind(
        [*itertools.product((5, 20, 100), (0.0, 2.0, 4.0), ("first", "place", "points"))],
        first_places, 7, 100,
    ),
    "ratings": Kind([*itertools.product((10, 40, 200), (-120.0, 0.0, 400.0))], ladder_of, 5, 30),
    "rounds": Kind([*itertools.product((40, 200), (0.0, 1.5))], rounds_of, 3, 30),
    "groups": Kind([*itertools.product((2, 4, 10), (0.0, 30.0))], groups_of, 4, 30),
    "weights": Kind([*itertools.product((150, 600), (0.0, 0.5, 2.0))], weights_of, 5, 40),
    "rollouts": Kind([*itertools.product((4, 36, 324), (0.0, 0.6))], rollouts_of, 3),
}  # fmt: skip


def held(kind: Kind, cells: list[tuple[Any, ...]], cases: int) -> Iterator[tuple[float, Any]]:
    """Yields the share of the cases in which the interval holds the truth, and the cell."""
    for number, cell in enumerate(cells):
        intervals, truth = kind.simulate(np.random.default_rng(number), cases, *cell)
        yield float(np.mean([one.low <= truth <= one.high for one in intervals])), cell


@pytest.mark.parametrize("name", KINDS)
def test_some_simulated_cases(name: str) -> None:
    kind = KINDS[name]
    least = HELD - 3 * math.sqrt(HELD * (1 - HELD) / kind.few)
    assert min(held(kind, kind.cells[:: kind.sparse], kind.few)) > (least,)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_all_simulated_cases(name: str) -> None:
    kind = KINDS[name]
    assert min(held(kind, kind.cells, MANY)) >= (HELD,)


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [50, 100, 400])
@pytest.mark.parametrize("score", [0.5, 0.6, 0.75, 0.87, 0.95, 0.99])
def test_intervals_of_matches_are_hardly_wider_than_bootstraps(score: float, pairs: int) -> None:
    random = np.random.default_rng(pairs)
    for draws, repeated in itertools.product((0.0, 0.5, 0.9), (0.0, 0.5, 1.0)):
        chances = pair_chances(score, draws, repeated)
        for interval, truth in (
            (score_interval, true_score), (normalised_elo_interval, true_normalised)
        ):  # fmt: skip
            widths, inside = [], 0
            for counts in random.multinomial(pairs, chances, RESAMPLED):
                drawn = random.multinomial(pairs, counts / pairs, DRAWS) / pairs
                drawn = drawn[(drawn > 0).sum(axis=1) > 1]
                if len(drawn) < 0.999 * DRAWS:
                    continue
                low, high = np.quantile([truth(one) for one in drawn], [0.025, 0.975])
                found = interval(Tally(tuple(counts.tolist())))
                widths.append((found.high - found.low, high - low))
                inside += low <= truth(chances) <= high
            if len(widths) == RESAMPLED and inside >= HELD * RESAMPLED:
                mine, others = np.mean(widths, axis=0)
                assert mine < WIDTH * others, (draws, repeated, truth)

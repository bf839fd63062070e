"""Arithmetic of match results, checked by published figures, slow twins and symmetries."""

import math

import numpy as np
import pytest
from errors import errors_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from play.ratings.sprt import RunningSprt, Sprt, likely_counts
from play.ratings.statistics import (
    ELO_PER_DEVIATION,
    SMALL_SAMPLE,
    MatchSummary,
    Tally,
    elo,
    elo_interval,
    expected_score,
    mean_interval,
    normalised_elo_interval,
    score_interval,
    superiority,
)

counts = st.one_of(st.tuples(*[st.integers(0, 400)] * 5), st.tuples(*[st.integers(0, 400)] * 3))
tallies = counts.map(Tally)
elos = st.floats(-300, 300)


@st.composite
def sprts(draw):
    low, high = sorted((draw(elos), draw(elos)))
    assume(high - low > 0.1)
    return Sprt(low, high)


def mirrored(estimate):
    return (-estimate.value, -estimate.high, -estimate.low)


# Published figures.


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "expected"),
    [
        ((365, 16618, 36029 + 200, 16974, 390), 0, 2, 2.25),
        ((127, 4883, 10311 + 401, 5150, 104), -1.75, 0.25, 3.01),
        ((39, 8843, 26675, 9240, 44), 0.5, 2.5, 2.94),
    ],
)
def test_likelihood_ratio_as_published(counts, elo0, elo1, expected):
    assert round(Sprt(elo0, elo1).llr(Tally(counts)), 2) == expected


def test_elo_of_a_long_match_as_published():
    estimate = elo_interval(Tally((39, 8843, 26675, 9240, 44)))
    found = [estimate.value, estimate.low, estimate.high]
    assert found == pytest.approx([1.577, 0.546, 2.607], abs=0.002)


def test_elo_and_normalised_elo_as_published():
    tally = Tally((34, 54, 31 + 32, 64, 75))
    difference, normalised = elo_interval(tally), normalised_elo_interval(tally)
    assert (round(difference.value, 2), round(normalised.value, 2)) == (55.58, 57.94)
    # the published ones are normal and take the deviation as known, ours are more cautious
    assert 27.65 < difference.margin < 1.03 * 27.65
    assert 28.28 < normalised.margin < 1.1 * 28.28


def test_single_games_as_published():
    tally = Tally((96, 111, 136))
    estimate = elo_interval(tally)
    assert round(estimate.value, 2) == 40.70 and 30.43 < estimate.margin < 1.03 * 30.43
    assert round(100 * superiority(tally), 2) == 99.60


def test_bounds_and_verdicts():
    sprt = Sprt(0, 2, alpha=0.05, beta=0.1)
    assert sprt.lower == pytest.approx(math.log(0.1 / 0.95))
    assert sprt.upper == pytest.approx(math.log(0.9 / 0.05))
    published = Tally((127, 4883, 10311 + 401, 5150, 104))
    assert Sprt(-1.75, 0.25).verdict(published) == "accept H1"
    assert Sprt(-1.75, 0.25, alpha=0.04).verdict(published) == "continue"
    assert Sprt(-0.25, 1.75).verdict(published.mirrored()) == "accept H0"


# Elo and score.


def test_elo_at_the_ends():
    assert (elo(0), elo(1)) == (-math.inf, math.inf)
    assert (expected_score(-math.inf), expected_score(math.inf)) == (0, 1)
    assert expected_score(-1e6) == 0


@given(st.floats(0.001, 0.999))
def test_expected_score_inverts_elo(score):
    assert expected_score(elo(score)) == pytest.approx(score)


@given(tallies)
def test_score_and_variance_agree_with_every_unit_written_out(tally):
    units = np.repeat(np.linspace(0, 1, len(tally.counts)), tally.counts)
    assume(units.size)
    assert tally.score == pytest.approx(units.mean())
    assert tally.variance == pytest.approx(units.var())
    assert tally.games == units.size * tally.games_per_unit
    assert tally.points == pytest.approx(units.sum() * tally.games_per_unit)


# Symmetry, order and width of the intervals.


@given(tallies)
def test_swapping_the_players_mirrors_everything(tally):
    swapped = tally.mirrored()
    for interval in (elo_interval, normalised_elo_interval):
        estimate = interval(tally)
        assert mirrored(interval(swapped)) == pytest.approx(
            (estimate.value, estimate.low, estimate.high), abs=1e-6, rel=1e-9
        )
    assert superiority(swapped) == pytest.approx(1 - superiority(tally))


@given(tallies)
def test_intervals_contain_their_estimates(tally):
    for interval in (score_interval, elo_interval, normalised_elo_interval):
        estimate = interval(tally)
        assert estimate.low <= estimate.value <= estimate.high
    score = score_interval(tally)
    assert 0 <= score.low < score.high <= 1


# All results alike, one result, no results.


@pytest.mark.parametrize("units", [1, 5, 500])
def test_all_won_is_open_above_and_bounded_below_by_clopper_and_pearson(units):
    tally = Tally((0, 0, 0, 0, units))
    estimate = elo_interval(tally)
    assert (estimate.value, estimate.high) == (math.inf, math.inf)
    # At this expected score, winning all units has a chance of 1 in 40.
    assert expected_score(estimate.low) ** units == pytest.approx(0.025)
    assert superiority(tally) == pytest.approx(1 - 0.5 ** (units + 1))
    normalised = normalised_elo_interval(tally)
    assert (normalised.value, normalised.low) == (math.inf, -math.inf)


def test_all_drawn_is_level_but_not_certain():
    estimate = elo_interval(Tally((0, 0, 100, 0, 0)))
    assert estimate.value == 0
    most = pytest.approx(elo(0.5 + (1 - 0.025**0.01) / 2))
    assert (-estimate.low, estimate.high) == (most, most)
    assert superiority(Tally((0, 0, 100, 0, 0))) == 0.5
    assert normalised_elo_interval(Tally((0, 0, 100, 0, 0))).value == 0


@pytest.mark.parametrize("tally", [Tally((0,) * 5), Tally((0,) * 3)])
def test_nothing_played(tally):
    estimate = elo_interval(tally)
    assert (estimate.value, estimate.low, estimate.high) == (0, -math.inf, math.inf)
    assert (tally.score, superiority(tally), tally.variance) == (0.5, 0.5, 0)
    assert Sprt(0, 5).llr(tally) == 0
    assert Sprt(0, 5).verdict(tally) == "continue"


def test_two_pairs_are_judged_more_carefully_than_many():
    """Their margin is 12.7 deviations, Student's quantile for two values, instead of 1.96."""
    values = [0.4, 0.6]
    assert mean_interval(values).margin == pytest.approx(12.7062 * 0.1, rel=1e-5)
    many = values * (SMALL_SAMPLE // 2)
    assert mean_interval(many).margin == pytest.approx(1.959964 * 0.1 / math.sqrt(SMALL_SAMPLE))


def test_superiority_in_two_pairs_follows_students_t():
    """One standard error ahead, with one degree of freedom: ¾ by Cauchy's distribution."""
    assert superiority(Tally((0, 0, 1, 1, 0))) == pytest.approx(0.75)


# Means of points.


def test_mean_interval_of_values_all_alike():
    open_ended = mean_interval([0.1, 0.1, 0.1])
    assert (open_ended.value, open_ended.low, open_ended.high) == (0.1, -math.inf, math.inf)
    bounded = mean_interval([1.0] * 10, bounds=(-3, 3))
    share = 0.025**0.1
    assert (bounded.low, bounded.high) == pytest.approx((4 * share - 3, 3 - 2 * share))


def test_mean_interval_keeps_within_bounds():
    estimate = mean_interval([0.0, 1.0], bounds=(0, 1))
    assert 0 < estimate.low < 0.02 and estimate.high == pytest.approx(1 - estimate.low)
    assert mean_interval([0.0, 1.0], bounds=(0, math.inf)).low == 0


def test_mean_interval_of_nothing():
    estimate = mean_interval([], bounds=(-3, 3))
    assert math.isnan(estimate.value)
    assert (estimate.low, estimate.high) == (-3, 3)


@given(counts.filter(lambda counts: sum(counts) > 0))
def test_mean_interval_is_the_score_interval_of_a_tally(counts):
    values = np.repeat(np.linspace(0, 1, len(counts)), counts)
    mean, score = mean_interval(values, bounds=(0, 1)), score_interval(Tally(counts))
    assert (mean.value, mean.low, mean.high) == pytest.approx(
        (score.value, score.low, score.high), abs=1e-12
    )


# The sequential test.


@pytest.mark.parametrize("counts", [(0, 0, 0, 0, 1), (0, 0, 0, 0, 10**9), (0, 0, 10**9)])
def test_likelihood_ratio_of_wins_only_is_finite_and_positive(counts):
    assert 0 < Sprt(-100, 100).llr(Tally(counts)) < math.inf


def likeliest(frequencies, condition):
    """The greatest Σ p̂ ln p under condition(p) = 0, by a general solver from many starts."""
    rng = np.random.default_rng(3)
    size = len(frequencies)
    # A lead far from the observed one is reached with nearly all units in one class.
    concentrated = 0.8 * np.eye(size) + 0.2 / size
    starts = [frequencies, np.full(size, 1 / size), *concentrated, *rng.dirichlet([1] * size, 6)]
    best = -math.inf
    for start in starts:
        found = minimize(
            lambda p: -frequencies @ np.log(p),
            start,
            jac=lambda p: -frequencies / p,
            bounds=[(1e-12, 1)] * size,
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1},
                {"type": "eq", "fun": condition},
            ],
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        # The solver may stop short of its own tolerance; what counts is that the conditions hold.
        if abs(condition(found.x)) + abs(found.x.sum() - 1) < 1e-8:
            best = max(best, -found.fun)
    return best


def slow_ratio(sprt, tally):
    """Twin of Sprt.llr that maximises each likelihood directly, for tallies without a 0."""
    frequencies = np.array(tally.counts) / tally.units
    scores = np.linspace(0, 1, len(frequencies))

    def condition(bound):
        lead = bound / ELO_PER_DEVIATION * math.sqrt(tally.games_per_unit)
        return lambda p: (
            p @ scores - 0.5 - lead * math.sqrt(max(p @ (scores - p @ scores) ** 2, 1e-18))
        )

    below, above = (likeliest(frequencies, condition(bound)) for bound in (sprt.elo0, sprt.elo1))
    return tally.units * (above - below)


@settings(max_examples=4)
@given(
    st.one_of(st.tuples(*[st.integers(1, 60)] * 5), st.tuples(*[st.integers(1, 60)] * 3)), sprts()
)
def test_likelihood_ratio_agrees_with_direct_maximisation(counts, sprt):
    tally = Tally(counts)
    assert sprt.llr(tally) == pytest.approx(slow_ratio(sprt, tally), abs=1e-3)


@pytest.mark.parametrize(
    ("counts", "elo0"),
    [((14, 47, 33, 25, 1), 250), ((42, 55, 55, 11, 7), 503), ((1, 1, 18, 1, 36), -476)],
)
def test_the_likeliest_of_several_stationary_distributions_is_taken(counts, elo0):
    """With bounds far above or below the results the condition allows several maxima."""
    sprt, tally = Sprt(elo0, elo0 + 10), Tally(counts)
    assert sprt.llr(tally) == pytest.approx(slow_ratio(sprt, tally), abs=1e-3)


@pytest.mark.parametrize("truth", [0, 80])
def test_the_test_errs_as_seldom_as_promised(truth):
    """Paired games of a known normalised strength: wrong verdicts in 1 match of 10.

    They come after as many pairs as Wald expects, and those of the last block that are too many. A
    ratio or a bound that is half or twice what it should be shows there before it does in errors.
    """
    rng = np.random.default_rng(4)
    # Tilted in proportion to the score, which hardly changes the deviation.
    level = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    places = np.linspace(0, 1, 5) - 0.5
    deviation = math.sqrt(level @ places**2)
    leads = np.array([truth, 80]) / ELO_PER_DEVIATION * math.sqrt(2)
    chances = level * (1 + leads[0] * places / deviation)
    sprt = Sprt(0, 80, alpha=0.1, beta=0.1)
    matches, block, wrong, pairs = 25, 20, 0, 0
    for _ in range(matches):
        seen = np.zeros(5, dtype=int)
        verdict = "continue"
        while verdict == "continue":
            seen += rng.multinomial(block, chances)
            verdict = sprt.verdict(Tally(tuple(seen)))
        wrong += verdict != ("accept H1" if truth else "accept H0")
        pairs += seen.sum()
    assert wrong <= 5
    expected = 0.8 * math.log(9) / (leads[1] ** 2 / 2)
    assert 0.95 < pairs / matches / (expected + block) < 1.4


@pytest.mark.parametrize(("bounds", "lead"), [((-50, 0), -0.06), ((-50, 0), 0.2), ((20, 90), 0.04)])
def test_running_verdicts_are_those_of_every_tally_by_itself(bounds, lead, monkeypatch):
    """At every pair of a simulated match, with few computations of the ratio."""
    sprt, rng, computed = Sprt(*bounds), np.random.default_rng(8), []
    slow = Sprt.most_likely

    def keeping(self, tally):
        computed.append(slow(self, tally))
        return computed[-1]

    monkeypatch.setattr(Sprt, "most_likely", keeping)
    running, counts, pairs, few = RunningSprt(sprt), [0] * 5, 0, 0
    assert running.verdict(Tally(counts)) == "continue"
    chances = np.array([0.08, 0.24, 0.36, 0.24, 0.08]) * (1 + lead * np.linspace(-4, 4, 5))
    before = RunningSprt(sprt)
    for score in rng.choice(5, size=50, p=chances):
        counts[score] += 1
        tally, times = Tally(counts), len(computed)
        before._last = running._last
        found = running.verdict(tally)
        few, pairs = few + (len(computed) > times), pairs + 1
        assert found == sprt.verdict(tally)
        # what saves computations is that bounds by an older one hold the true likelihoods
        units = likely_counts(tally)
        for (low, high), likely in zip(before._bounds(units), computed[-1], strict=False):
            assert low - 1e-9 <= units @ np.log(likely) <= high + 1e-9
        if found != "continue":
            break
    assert few < pairs / 2


# Matches.


def test_summary_text():
    pairs = [(0, 0)] * 34 + [(0, 0.5)] * 54 + [(1, 0)] * 31 + [(0.5, 0.5)] * 32
    pairs += [(1, 0.5)] * 64 + [(1, 1)] * 75
    summary = MatchSummary.of_pairs(pairs)
    assert summary.text().splitlines() == [
        "games 580: won 245, drawn 182, lost 153",
        "pairs 290: LL 34, LD 54, WL or DD 63, DW 64, WW 75",
        "score 57.93% of the points, 95 % interval [53.94%, 61.84%]",
        "Elo +55.6, 95 % interval [+27.5, +83.9]; likelihood of superiority above 99.99%",
        "normalised Elo +57.9, 95 % interval [+27.6, +89.3]",
    ]
    assert Sprt(0, 10).text(summary.tally) == (
        "test of normalised Elo +0 against +10: log-likelihood ratio 2.48 in (-2.94, 2.94),"
        " continue"
    )


def test_summary_of_extremes_can_be_read():
    assert MatchSummary.of_pairs([]).text() == "no games played"
    won = MatchSummary.of_pairs([(1, 1)]).text()
    assert "\nElo at least -636.4 (95 %); likelihood" in won
    assert "\nnormalised Elo unknown (these games set no bounds)" in won
    lost = MatchSummary.of_pairs([(0, 0)]).text()
    assert "\nElo at most +636.4 (95 %); likelihood" in lost
    few = MatchSummary.of_pairs([(1, 1), (1, 0)]).text()
    assert "\nElo +190.8, 95 % interval [-274.6, +942.7]; likelihood" in few
    assert all("inf" not in text for text in (won, lost, few))


test_errors = errors_of(globals())

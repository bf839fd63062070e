"""The arithmetic of match results: Elo, error bars and sequential tests.

A match is played in pairs of games: one opening, both colours. The two games of a pair are not
independent, so every error bar counts pairs (a pentanomial tally: five pair scores). Single games
have a trinomial tally and the same functions.

All intervals are 95 % intervals; near the least and the greatest score they contain the truth more
often than that, never much less often. All figures are the first player's; a score is points per
game, 0 to 1, with half a point for a draw.

Sources: for intervals of scores, E. L. Korn and B. I. Graubard, "Confidence intervals for
proportions with small expected number of positive counts estimated from survey data" (1998); for
the generalised sequential probability ratio test and normalised Elo, Michel Van den Bergh, "The
generalized maximum likelihood ratio for the expectation value of a distribution" (2019) and
"Comments on normalized Elo" and "Normalized Elo: practical" (2020); for the test itself, A. Wald,
"Sequential tests of statistical hypotheses" (1945).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, expit, ndtr, ndtri, stdtr, stdtrit

Floats = NDArray[np.float64]

ELO_PER_DEVIATION = 800 / math.log(10)
"""Normalised Elo of a player whose mean score is one standard deviation of a game above ½."""

SMALL_SAMPLE = 100
"""Below this number of values without bounds, Student's t allows for the error of their estimated
variance."""

UNSEEN = 0.2
"""A bound that did not occur is at most as frequent as makes its absence this probable."""

EMPTY_CLASS = 1e-3
"""The likelihood ratio's count for a score that never occurred (fishtest's convention)."""

INTERVAL = ", 95 % interval"
"""Words before an interval in reports of several lines."""

PAIR_CLASSES = ("LL", "LD", "WL or DD", "DW", "WW")
GAME_CLASSES = ("L", "D", "W")


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval; low <= value <= high, and either end may be infinite."""

    value: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """Half the width of the interval: the figure after ±."""
        return (self.high - self.low) / 2

    def text(self, form: str = "+.1f", *, named: str = "") -> str:
        """Returns the value and its 95 % interval; an open end is written in words.

        form: the format of the numbers.
        named: words before the interval, such as ", 95 % interval".
        """
        value, low, high = (format(number, form) for number in (self.value, self.low, self.high))
        if math.isfinite(self.low) and math.isfinite(self.high):
            return f"{value}{named} [{low}, {high}]"
        if math.isfinite(self.low) or math.isfinite(self.high):
            lower = math.isfinite(self.low)
            bound = f"at least {low.strip()}" if lower else f"at most {high.strip()}"
            return f"{value} (95 %: {bound})" if math.isfinite(self.value) else f"{bound} (95 %)"
        value = value if math.isfinite(self.value) else "unknown"
        return f"{value} (these games set no bounds)"

    def plain(self) -> list[float | None]:
        """Value, low and high as JSON has them: None where infinite or nan."""
        values = (self.value, self.low, self.high)
        return [value if math.isfinite(value) else None for value in values]


class Figured:
    """A result whose figures are its fields.

    called: names of fields in the figures that differ from those in the class.
    """

    called: ClassVar[dict[str, str]] = {}

    def figures(self) -> dict[str, Any]:
        """Returns the fields as plain values, for JSON; numbers that are not finite are None."""
        return {
            self.called.get(name, name): value.plain() if isinstance(value, Estimate) else value
            for name, value in vars(self).items()
        }


@dataclass(frozen=True)
class Tally:
    """The number of units, pairs of games or single games, that ended with each score.

    counts: in ascending order of score; five classes for pairs (LL, LD, WL or DD, DW, WW), three
        for single games (L, D, W).

    Raises ValueError for other lengths and for counts that are not whole numbers of at least 0.
    """

    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.counts) not in (len(GAME_CLASSES), len(PAIR_CLASSES)):
            raise ValueError(
                f"expected 5 counts of pairs or 3 of single games, found {len(self.counts)}"
            )
        if not all(isinstance(count, Integral) and count >= 0 for count in self.counts):
            raise ValueError(f"expected counts that are whole and >= 0, found {self.counts}")
        # NumPy's integers overflow and print differently.
        object.__setattr__(self, "counts", tuple(int(count) for count in self.counts))

    def mirrored(self) -> Tally:
        """Returns the results from the second player's side."""
        return Tally(self.counts[::-1])

    @property
    def games_per_unit(self) -> int:
        """2 for pairs of games, 1 for single games."""
        return len(self.counts) // 2

    @property
    def units(self) -> int:
        """The number of pairs, or of single games."""
        return sum(self.counts)

    @property
    def games(self) -> int:
        """The number of games."""
        return self.units * self.games_per_unit

    @property
    def points(self) -> float:
        """The first player's points, with half a point for a draw."""
        return sum(place * count for place, count in enumerate(self.counts)) / 2

    @property
    def score(self) -> float:
        """Mean score per game, 0 to 1; ½ without games."""
        return self.points / self.games if self.games else 0.5

    @property
    def variance(self) -> float:
        """Variance of the units' score per game, with the divisor n, not n - 1."""
        mean = self.score
        places = np.linspace(0, 1, len(self.counts))
        return float(np.dot(self.counts, (places - mean) ** 2)) / max(self.units, 1)

    @property
    def uniform(self) -> bool:
        """Whether all units have the same score, so that their variance is unknown."""
        return sum(count > 0 for count in self.counts) <= 1


def elo(score: float) -> float:
    """Elo difference of a player with this score per game; infinite for 0 and 1.

    Elo = -400 log10(1/score - 1). Raises ValueError for a score outside [0, 1].
    """
    if not 0 <= score <= 1:
        raise ValueError(f"expected a score in [0, 1], found {score}")
    if score in (0, 1):
        return math.inf if score else -math.inf
    return 400 * (math.log10(score) - math.log10(1 - score))


def expected_score(elo_difference: float) -> float:
    """Score per game of a player this much Elo stronger: the inverse of `elo`, in [0, 1]."""
    return float(expit(elo_difference * math.log(10) / 400))


def mean_interval(
    values: Iterable[float], *, bounds: tuple[float, float] = (-math.inf, math.inf)
) -> Estimate:
    """Mean of `values` with its 95 % interval, in their unit, such as points per game.

    values: one for each independent unit; for games played in pairs, the mean of each pair.
    bounds: least and greatest possible value; the interval stays within them. Not for few values
        that are themselves means of many things, because the interval would be too wide.

    Without bounds the interval is Student's t, normal for 100 values and more. With both it is that
    of a share p of successes (Clopper and Pearson, 1934) in the number of independent trials that
    would have the variance of this mean (Korn and Graubard, 1998). The variance is that of the
    values and of one more with the greatest variance, p (1 - p). If a bound never occurred, the
    interval reaches at least to its end for values of which a share 1 - 0.2^(1/n) equals the bound.

    Equal values have no variance, but they show that other values are rare: the interval of the
    share of others ends at 1 - 0.025^(1/n) (Clopper and Pearson), and these could lie at either
    bound. Without bounds the interval is then infinite.
    Without values the mean is NaN and the interval is `bounds`.

    Raises ValueError for a value that is not finite or out of bounds.
    """
    array = np.array(list(values), dtype=np.float64)
    low, high = bounds
    if not low < high:
        raise ValueError(f"expected bounds with low < high, found {bounds}")
    if not np.all(np.isfinite(array) & (array >= low) & (array <= high)):
        raise ValueError(f"expected finite values within {bounds}, found {array}")
    if array.size == 0:
        return Estimate(math.nan, low, high)
    if array.min() == array.max():
        return _uniform_interval(float(array[0]), array.size, bounds)
    seen = array.min() == low, array.max() == high
    return _spread_interval(float(array.mean()), float(array.var()), array.size, bounds, seen)


def score_interval(tally: Tally) -> Estimate:
    """Score per game with its 95 % interval within [0, 1]: `mean_interval` of the units' scores.

    Without games: ½ in [0, 1].
    """
    if tally.uniform:
        return _uniform_interval(tally.score, tally.units, (0.0, 1.0))
    seen = tally.counts[0] > 0, tally.counts[-1] > 0
    return _spread_interval(tally.score, tally.variance, tally.units, (0.0, 1.0), seen)


def elo_interval(tally: Tally) -> Estimate:
    """Elo difference with its 95 % interval: `score_interval`, both ends converted to Elo.

    If all games were won, +inf with an interval open above; if all were lost, the mirror image.
    Without games: 0 with an interval open on both sides.
    """
    score = score_interval(tally)
    return Estimate(elo(score.value), elo(score.low), elo(score.high))


def normalised_elo_interval(tally: Tally) -> Estimate:
    """Normalised Elo, the score's lead in standard deviations of a game, with its 95 % interval.

    (score - ½) / √(2 variance over pairs) · 800 / ln 10; for single games without the 2. The
    interval allows for the error of the deviation, see `_lowest_lead`. If all units have the same
    score: 0 or ±inf, with an interval open on both sides, because the deviation is unknown.
    """
    lead = tally.score - 0.5
    if tally.uniform:
        return Estimate(math.copysign(math.inf, lead) if lead else 0.0, -math.inf, math.inf)
    scale = ELO_PER_DEVIATION / math.sqrt(tally.games_per_unit)
    value = lead / math.sqrt(tally.variance)
    low, high = _lowest_lead(tally), -_lowest_lead(tally.mirrored())
    return Estimate(value * scale, min(low, value) * scale, max(high, value) * scale)


def _lowest_lead(tally: Tally) -> float:
    """Returns the lower end of the 95 % interval of the lead over ½, in deviations of a unit.

    A lead t is that of wins and losses of which the share (1 + t / √(1 + t²)) / 2 is won, and the
    end is Clopper and Pearson's for that share, in the number of independent trials that would have
    the variance of the share of this tally (as in `mean_interval`). By the delta method, with the
    scores' distances z from their mean in deviations, n trials become n (1 + t²)² / Σ p̂ φ², where
    φ = z - t (z² - 1) / 2 also has the error of the deviation; 1/n is the error of second order.
    A unit with a score of ¼ is added first, because rare losses may not have occurred yet.
    """
    counts = np.append(tally.counts, 1)
    scores = np.append(np.linspace(0, 1, len(tally.counts)), 0.25)
    units = counts.sum()
    mean = counts @ scores / units
    deviation = math.sqrt(counts @ (scores - mean) ** 2 / units)
    lead, distances = (mean - 0.5) / deviation, (scores - mean) / deviation
    influence = distances - lead / 2 * (distances**2 - 1)
    spread = counts @ influence**2 / units / (1 + lead**2) ** 2
    trials = units / (spread + 1 / units)
    root = math.sqrt(1 + lead**2)
    lost = trials / (2 * root * (root + abs(lead)))  # the smaller share, without cancellation
    won = trials - lost
    if lead < 0:
        won, lost = lost, won
    share = float(betaincinv(won, lost + 1, 0.025))
    return (share - 0.5) / math.sqrt(share * (1 - share)) if share else -math.inf


def superiority(tally: Tally) -> float:
    """Likelihood that the first player is the stronger, 0 to 1.

    Φ((score - ½) / standard error), Student's t below 100 units. If all n units have the same
    score, it is ½ for drawn units. Else it is 1 - ½^(n + 1) for the winner: the posterior
    probability of winning more than half of the units under a uniform prior. Without games: ½.
    """
    lead = tally.score - 0.5
    units = tally.units
    if tally.uniform:
        doubt = 0.5 ** (units + 1)
        return 0.5 if lead == 0 else 1 - doubt if lead > 0 else doubt
    errors = lead / math.sqrt(tally.variance / units)
    if units >= SMALL_SAMPLE:
        return float(ndtr(errors))
    return float(stdtr(units - 1, errors * math.sqrt((units - 1) / units)))


def _spread_interval(
    mean: float, variance: float, units: int, bounds: tuple[float, float], seen: tuple[bool, bool]
) -> Estimate:
    """Returns the interval of a mean of values that differ.

    variance: with the divisor n.
    seen: whether the least and the greatest possible value occurred.
    """
    low, high = bounds
    if math.isinf(high - low):
        quantile = ndtri(0.975) if units >= SMALL_SAMPLE else stdtrit(units - 1, 0.975)
        degrees = units if units >= SMALL_SAMPLE else units - 1
        margin = float(quantile) * math.sqrt(variance / degrees)
        return Estimate(mean, max(mean - margin, low), min(mean + margin, high))
    share = (mean - low) / (high - low)
    most = share * (1 - share)
    cautious = (units * variance / (high - low) ** 2 + most) / (units + 1)
    trials = units * most / cautious
    wins, losses = share * trials, (1 - share) * trials
    least, greatest = betaincinv(wins, losses + 1, 0.025), betaincinv(wins + 1, losses, 0.975)
    others = UNSEEN ** (1 / units)
    least = least if seen[0] else min(least, share * others)
    greatest = greatest if seen[1] else max(greatest, 1 - (1 - share) * others)
    return Estimate(mean, *(low + float(end) * (high - low) for end in (least, greatest)))


def _uniform_interval(value: float, units: int, bounds: tuple[float, float]) -> Estimate:
    """Returns the interval of `units` values all equal to `value`."""
    share = 0.025 ** (1 / units) if units else 0.0
    low, high = (share * value + (1 - share) * bound for bound in bounds)
    return Estimate(value, min(low, value), max(high, value))


@dataclass(frozen=True)
class MatchSummary:
    """A match of pairs of games in figures, from the first player's side.

    wins, draws, losses: numbers of games.
    tally: the same games by pairs.
    """

    wins: int
    draws: int
    losses: int
    tally: Tally
    unit: ClassVar[str] = "Elo"

    @classmethod
    def of_pairs(cls, pairs: Iterable[Sequence[float]]) -> MatchSummary:
        """Returns the summary of pairs of games, given as the first player's points: 1, 0.5 or 0.

        pairs: may be counted already, by a `Counter`. An unfinished last pair must be left out.
        """
        counted = Counter(pairs if isinstance(pairs, Counter) else map(tuple, pairs))
        if not all(len(pair) == 2 and {*pair} <= {0, 0.5, 1} for pair in counted):
            raise ValueError(f"expected pairs of points 0, 0.5 or 1, found {[*counted]}")
        wins, draws, losses = (
            sum(count * pair.count(result) for pair, count in counted.items())
            for result in (1, 0.5, 0)
        )
        counts = [0] * len(PAIR_CLASSES)
        for pair, count in counted.items():
            counts[round(2 * sum(pair))] += count
        return cls(wins, draws, losses, Tally(tuple(counts)))

    @property
    def games(self) -> int:
        """The number of games."""
        return self.tally.games

    @property
    def pairs(self) -> int:
        """The number of pairs of games."""
        return self.tally.units

    @property
    def score(self) -> Estimate:
        """Points per game: see `score_interval`."""
        return score_interval(self.tally)

    @property
    def elo(self) -> Estimate:
        """Elo difference: see `elo_interval`."""
        return elo_interval(self.tally)

    @property
    def normalised_elo(self) -> Estimate:
        """Normalised Elo difference: see `normalised_elo_interval`."""
        return normalised_elo_interval(self.tally)

    @property
    def superiority(self) -> float:
        """Likelihood of being the stronger player: see `superiority`."""
        return superiority(self.tally)

    def first_player(self) -> tuple[int, int, Estimate, float]:
        """Returns the first player's wins and draws, its Elo difference, and its score."""
        return self.wins, self.draws, self.elo, self.score.value

    def brief(self, names: Sequence[str]) -> str:
        """Returns the score in a few words."""
        return f"{names[0]} {100 * self.score.value:.1f} % of {names[-1]}"

    def figures(self) -> dict[str, Any]:
        """Returns the summary as plain values, for JSON."""
        return {
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "score": self.score.plain(),
            "elo": self.elo.plain(),
            "normalised_elo": self.normalised_elo.plain(),
            "superiority": self.superiority,
        }

    def text(self) -> str:
        """Returns a report of a few lines, units included, without a newline at its end."""
        if self.games == 0:
            return "no games played"
        score, difference, normalised = self.score, self.elo, self.normalised_elo
        counts = zip(PAIR_CLASSES, self.tally.counts, strict=True)
        tallied = ", ".join(f"{name} {count}" for name, count in counts)
        lines = [
            f"games {self.games}: won {self.wins}, drawn {self.draws}, lost {self.losses}",
            f"pairs {self.pairs}: {tallied}",
            f"score {score.text('.2%', named=f' of the points{INTERVAL}')}",
            f"Elo {difference.text(named=INTERVAL)}; likelihood of superiority"
            f" {_chance(self.superiority)}",
            f"normalised Elo {normalised.text(named=INTERVAL)}",
        ]
        return "\n".join(lines)


def _chance(probability: float) -> str:
    """Returns a probability in per cent that is never rounded to a certainty."""
    if probability > 0.9999:
        return "above 99.99%"
    return "below 0.01%" if probability < 0.0001 else f"{probability:.2%}"

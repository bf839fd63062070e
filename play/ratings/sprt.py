"""The generalised sequential probability ratio test: stop a match once it has decided.

Sources: A. Wald, "Sequential tests of statistical hypotheses" (1945); Michel Van den Bergh, "The
generalized maximum likelihood ratio for the expectation value of a distribution" (2019) and
"Normalized Elo: practical" (2020).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit

from play.ratings.statistics import ELO_PER_DEVIATION, EMPTY_CLASS, Floats, Tally

__all__ = ["RunningSprt", "Sprt", "Verdict"]

Verdict = Literal["accept H1", "accept H0", "continue"]


@dataclass(frozen=True)
class Sprt:
    """A sequential test of H1: elo1 against H0: elo0, which stops as soon as one is accepted.

    elo0, elo1: the normalised Elo differences of the hypotheses.
    alpha: probability of accepting H1 at elo0.
    beta: probability of accepting H0 at elo1.

    Raises ValueError unless elo0 < elo1, both finite, alpha and beta in (0, 1), and alpha + beta
    < 1.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not -math.inf < self.elo0 < self.elo1 < math.inf:
            raise ValueError(f"expected finite elo0 < elo1, found {self.elo0} and {self.elo1}")
        for name, risk in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < risk < 1:
                raise ValueError(f"expected {name} in (0, 1), found {risk}")
        if self.alpha + self.beta >= 1:
            raise ValueError(f"expected alpha + beta < 1, found {self.alpha + self.beta}")

    @property
    def lower(self) -> float:
        """The log-likelihood ratio at or below which H0 is accepted: ln(beta / (1 - alpha))."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The log-likelihood ratio at or above which H1 is accepted: ln((1 - beta) / alpha)."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, tally: Tally) -> float:
        """Generalised log-likelihood ratio of H1 to H0, natural logarithm; always finite.

        N · Σ p̂ ln(p1 / p0), where p̂ are the observed frequencies, and p0, p1 the most likely
        distributions that satisfy each hypothesis. 0 without games.
        """
        if tally.units == 0:
            return 0.0
        return log_ratio(likely_counts(tally), *self.most_likely(tally))

    def most_likely(self, tally: Tally) -> tuple[Floats, Floats]:
        """Returns the distributions p0 and p1 of `llr` for a tally with games."""
        counts = likely_counts(tally)
        # the mean of two games has a deviation √2 smaller than one game
        root = math.sqrt(tally.games_per_unit)
        first, second = (
            _likely_with_lead(counts / counts.sum(), bound / ELO_PER_DEVIATION * root)
            for bound in (self.elo0, self.elo1)
        )
        return first, second

    def verdict(self, tally: Tally) -> Verdict:
        """Returns the verdict so far; once a hypothesis is accepted, the test is over."""
        return self.verdict_by(self.llr(tally))

    def verdict_by(self, ratio: float) -> Verdict:
        """Returns the verdict of a log-likelihood ratio."""
        if ratio >= self.upper:
            return "accept H1"
        return "accept H0" if ratio <= self.lower else "continue"

    def text(self, tally: Tally) -> str:
        """Returns the test, its log-likelihood ratio for a tally and its verdict, in one line."""
        return (
            f"test of normalised Elo {self.elo0:+g} against {self.elo1:+g}: log-likelihood"
            f" ratio {self.llr(tally):.2f} in ({self.lower:.2f}, {self.upper:.2f}),"
            f" {self.verdict(tally)}"
        )


class RunningSprt:
    """The verdicts of a test on a tally that grows, without a computation for each.

    A distribution that meets a hypothesis bounds the likelihood of every later tally under it from
    below, and its Lagrange multiplier bounds it from above. The ratio is computed again only if
    these bounds do not exclude a decision.
    """

    def __init__(self, test: Sprt) -> None:
        self.test = test
        self._last: list[tuple[Floats, Floats, float]] = []

    def verdict(self, tally: Tally) -> Verdict:
        """Returns the verdict so far, that of `Sprt.verdict`."""
        test = self.test
        if not tally.units:
            return test.verdict(tally)
        counts = likely_counts(tally)
        if self._last:
            (below0, above0), (below1, above1) = self._bounds(counts)
            if test.lower < below1 - above0 - 1e-6 and above1 - below0 + 1e-6 < test.upper:
                return "continue"
        both = test.most_likely(tally)
        self._last = [self._kept(counts, likely) for likely in both]
        return test.verdict_by(log_ratio(counts, *both))

    def _kept(self, counts: Floats, likely: Floats) -> tuple[Floats, Floats, float]:
        """Returns the logarithms of a most likely distribution p and of 1 + λ value, and a slack.

        A normalised hypothesis is not convex. Its distributions have a mean value of at most 0,
        less than 0 by the square of how far their deviation is from p's (see `_likely_with_lead`).
        Where λ is negative, which shows in the class of ½, that part adds the slack to the bound of
        each unit, for any deviation up to ½.
        """
        pull = np.log(counts / counts.sum() / likely)
        middle = float(np.expm1(pull[len(pull) // 2]))
        if middle <= 0.0:
            return np.log(likely), pull, 0.0
        scores = np.linspace(0, 1, len(likely))
        sigma = math.sqrt(np.dot(likely, (scores - np.dot(likely, scores)) ** 2))
        return np.log(likely), pull, middle * (max(sigma, 0.5 - sigma) / sigma) ** 2

    def _bounds(self, counts: Floats) -> list[tuple[float, float]]:
        """Returns bounds of the logarithm of the likelihood under either hypothesis."""
        units = counts.sum()
        free = np.dot(counts, np.log(counts / units))
        return [
            (np.dot(counts, log), free + min(units * slack - np.dot(counts, pull), 0.0))
            for log, pull, slack in self._last
        ]


def log_ratio(counts: Floats, likely0: Floats, likely1: Floats) -> float:
    """Returns the log-likelihood ratio of counts, of the second distribution to the first."""
    return float(np.dot(counts, np.log(likely1 / likely0)))


def likely_counts(tally: Tally) -> Floats:
    """Returns the counts of a tally for likelihoods: a score that never occurred counts a little.

    Frequencies below 1e-9 would be lost in rounding.
    """
    counts: Floats = np.maximum(tally.counts, max(EMPTY_CLASS, 1e-9 * tally.units))
    return counts


def _likely_with_zero_mean(frequencies: Floats, values: Floats) -> Floats:
    """Returns the most likely distributions on `values` of which the mean is 0.

    values: [problems, classes], each row with both signs; the result has the same shape.

    The solution is p = p̂ / (1 + λ value), where λ is the root of Σ p̂ value / (1 + λ value), which
    decreases monotonically (Van den Bergh 2019). No p exceeds 1, which brackets λ.
    """
    ends = (frequencies - 1) / np.where(values == 0, np.nan, values)
    low = np.nanmax(np.where(values > 0, ends, -np.inf), axis=1, keepdims=True)
    high = np.nanmin(np.where(values < 0, ends, np.inf), axis=1, keepdims=True)
    rising = (frequencies * values).sum(axis=1, keepdims=True) > 0
    end = np.where(rising, high, low)
    # λ runs from its end of the bracket to 0 as step goes from 0 to 1. Counted from there, no
    # digits cancel for a class that hardly occurs: its 1 + λ value starts at p̂ exactly.
    start = np.where(ends == end, frequencies, 1 + end * values)
    step_low, step_high = np.zeros_like(end), np.ones_like(end)
    step = np.full_like(end, 0.5)
    signs = np.stack([values > 0, values < 0])
    for _ in range(60):
        rest = start - step * end * values
        parts = frequencies * np.abs(values) / rest
        # Newton's steps to the point where the reciprocals of both sums, nearly straight lines, are
        # equal
        sums = (signs * parts).sum(axis=-1, keepdims=True)
        slopes = (signs * parts * end * values / rest).sum(axis=-1, keepdims=True) / sums**2
        too_far = (sums[0] > sums[1]) == rising
        step_low, step_high = np.where(too_far, step_low, step), np.where(too_far, step, step_high)
        last, step = step, step + (1 / sums[0] - 1 / sums[1]) / (slopes[0] - slopes[1])
        # the other end has already been tried
        outside = ~((step_low < step) & (step < step_high)) & (step != last)
        step = np.where(outside, (step_low + step_high) / 2, step)
        if np.all(np.abs(step - last) <= 1e-14 * step):
            break
    likely: Floats = frequencies / (start - step * end * values)
    return likely


def _likely_with_lead(frequencies: Floats, lead: float) -> Floats:
    """Returns the most likely distribution of scores whose mean is `lead` deviations above ½.

    Where the likelihood is stationary under that condition, the scores

        values = score - ½ - lead·σ/2 · (1 + ((score - mean) / σ)²),   mean = ½ + lead·σ

    have mean 0. That gives a distribution for any deviation σ; it is a solution if its mean is
    ½ + lead·σ. There can be several, because the condition is not convex when the lead is larger
    than the observed one, so the whole range of σ is searched and the likeliest is returned.
    """
    scores = np.linspace(0, 1, len(frequencies))
    if abs(lead) < 1e-12:  # below the rounding error of a score
        level: Floats = _likely_with_zero_mean(frequencies, scores[np.newaxis] - 0.5)[0]
        return level
    if lead < 0:
        return _likely_with_lead(frequencies[::-1], -lead)[::-1]

    def standardised(deviations: Floats) -> Floats:
        return (scores - 0.5) / deviations[:, np.newaxis] - lead

    def likely(deviations: Floats) -> Floats:
        sigma = deviations[:, np.newaxis]
        return _likely_with_zero_mean(
            frequencies,
            scores - 0.5 - lead * sigma / 2 * (1 + standardised(deviations) ** 2),
        )

    def excess(deviations: Floats) -> Floats:
        # The variance, in σ², above 1: zero where the mean is ½ + lead·σ, and with a tiny lead
        # more precise than the mean.
        squares = (likely(deviations) * standardised(deviations) ** 2).sum(axis=1)
        difference: Floats = squares - 1
        return difference

    from scipy.optimize import brentq  # takes a tenth of a second, which other matches are spared

    solutions: list[float] = []
    for low, high in _possible_deviations(scores, lead):
        # Classes that hardly occur put solutions very near the ends of the range.
        grid = low + (high - low) * expit(np.linspace(-28, 28, 160))
        signs = np.sign(excess(grid))
        solutions += (
            brentq(lambda sigma: float(excess(np.array([sigma]))[0]), grid[i], grid[i + 1])
            for i in np.flatnonzero(signs[:-1] * signs[1:] <= 0)
        )
    if not solutions:
        raise ArithmeticError(
            f"no distribution has a lead of {lead} deviations, for frequencies {frequencies}"
        )
    candidates = likely(np.array(solutions))
    best: Floats = candidates[np.argmax(np.log(candidates) @ frequencies)]
    return best


def _possible_deviations(scores: Floats, lead: float) -> list[tuple[float, float]]:
    """Returns the ranges of σ in which the values of `_likely_with_lead` have both signs, lead > 0.

    The value of ½ is always negative; that of ½ + b is positive for σ in b/lead · (1 ± c) with
    c = 1/√(1 + lead²). No distribution on [0, 1] has a variance above mean (1 - mean): σ <= c/2.
    """
    root = math.sqrt(1 + lead**2)
    c = 1 / root
    rest = lead**2 / (root + root**2)  # 1 - c, without cancellation for a tiny lead
    ranges = []
    for b in scores[scores > 0.5] - 0.5:
        low, high = b / lead * rest, min(b / lead * (1 + c), c / 2)
        if low < high:
            ranges.append((float(low), float(high)))
    return ranges

"""Agreement of an evaluator with a book: Samuel's coefficient, and shares of moves predicted.

Intervals are 95 % intervals from resampling whole games, because moves of one game are alike
(bootstrap, B. Efron 1979).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from games.counted import counted
from learner.books.book import BookEntry
from learner.books.book_rows import BookRows
from play.ratings.statistics import Estimate
from search import Evaluator

__all__ = ["Agreement", "Difference", "agreement", "compare"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Agreement:
    """Agreement of an evaluator with the moves of a book; one game sets no bounds.

    coefficient: C = (L - H) / (L + H), where L and H count the legal moves rated lower and higher
        than the book move; moves rated the same count in neither (Samuel 1959).
    strict: the same with ties in the denominator, so that indifference does not pay.
    shares: shares of book moves rated first, second and third; among moves rated the same, the
        probability of that place in a random order.
    entries: number of entries.
    games: the numbers of the games, [games].
    lower, higher, tied: the counts of each game, [games].
    """

    coefficient: Estimate
    strict: Estimate
    shares: tuple[Estimate, Estimate, Estimate]
    entries: int
    games: Ints
    lower: Floats
    higher: Floats
    tied: Floats

    def text(self) -> str:
        """Returns C, and how often the preferred move comes first, second and third."""
        shares = ", ".join(
            f"{name} {100 * share.value:.1f} %"
            for name, share in zip(("first", "second", "third"), self.shares, strict=True)
        )
        return (
            f"C {self.coefficient.text('.3f')}, ties counted {self.strict.text('.3f')}, of"
            f" {counted(self.entries, 'move')}; {shares}"
        )


@dataclass(frozen=True)
class Difference:
    """The agreement of one evaluator minus that of another, on the same entries."""

    coefficient: Estimate
    strict: Estimate
    first: Estimate


def agreement(
    evaluator: Evaluator, entries: Iterable[BookEntry], *, draws: int = 2000, seed: int = 0
) -> Agreement:
    """Returns the agreement of an evaluator with the moves of a book.

    draws: number of resamplings of the bootstrap.
    seed: seed of the bootstrap.

    Raises ValueError if there are no entries.
    """
    rows = BookRows.of(entries)
    games, sums = _by_game(evaluator, rows)
    drawn = _draw(len(games), draws, seed)
    total = sums.sum(axis=0, keepdims=True)
    estimates = [
        _estimate(statistic(total)[0], statistic(drawn @ sums), len(games))
        for statistic in STATISTICS
    ]
    return Agreement(
        estimates[0],
        estimates[1],
        (estimates[2], estimates[3], estimates[4]),
        len(rows.first),
        games,
        *sums[:, :3].T.copy(),
    )


def compare(
    first: Evaluator,
    second: Evaluator,
    entries: Iterable[BookEntry],
    *,
    draws: int = 2000,
    seed: int = 0,
) -> Difference:
    """Returns the agreement of `first` minus that of `second`, both on the same resampled games.

    Raises ValueError if there are no entries.
    """
    rows = BookRows.of(entries)
    games, sums = _by_game(first, rows)
    _, other_sums = _by_game(second, rows)
    drawn = _draw(len(games), draws, seed)
    estimates = [
        _estimate(
            (
                statistic(sums.sum(axis=0, keepdims=True))
                - statistic(other_sums.sum(axis=0, keepdims=True))
            )[0],
            statistic(drawn @ sums) - statistic(drawn @ other_sums),
            len(games),
        )
        for statistic in STATISTICS[:3]
    ]
    return Difference(*estimates)


def _by_game(evaluator: Evaluator, rows: BookRows) -> tuple[Ints, Floats]:
    """Returns the games, and for each its counts.

    The counts are L, H, ties, entries, and entries rated 1st, 2nd and 3rd.
    """
    if not len(rows):
        raise ValueError("expected entries of a book, found none")
    values = rows.values(evaluator)
    own = values[rows.chosen][rows.entry]
    lower = np.add.reduceat(values < own, rows.first, dtype=np.float64)
    higher = np.add.reduceat(values > own, rows.first, dtype=np.float64)
    tied = np.add.reduceat(values == own, rows.first, dtype=np.float64) - 1.0
    ranked = [
        np.where((higher <= place) & (place <= higher + tied), 1.0 / (tied + 1.0), 0.0)
        for place in range(3)
    ]
    columns = np.stack([lower, higher, tied, np.ones_like(lower), *ranked], axis=1)
    games, index = np.unique(rows.games, return_inverse=True)
    sums = np.zeros((len(games), columns.shape[1]))
    np.add.at(sums, index, columns)
    return games, sums


def _coefficient(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray((sums[:, 0] - sums[:, 1]) / (sums[:, 0] + sums[:, 1]))


def _strict(sums: Floats) -> Floats:
    return np.asarray((sums[:, 0] - sums[:, 1]) / sums[:, :3].sum(axis=1))


def _first(sums: Floats) -> Floats:
    return np.asarray(sums[:, 4] / sums[:, 3])


def _second(sums: Floats) -> Floats:
    return np.asarray(sums[:, 5] / sums[:, 3])


def _third(sums: Floats) -> Floats:
    return np.asarray(sums[:, 6] / sums[:, 3])


STATISTICS = (_coefficient, _strict, _first, _second, _third)


def _draw(games: int, draws: int, seed: int) -> Floats:
    """Returns how often each game is drawn in each resampling; [draws, games]."""
    random = np.random.default_rng(seed)
    return random.multinomial(games, np.full(games, 1.0 / games), size=draws).astype(np.float64)


def _estimate(value: float, drawn: Floats, games: int) -> Estimate:
    good = drawn[~np.isnan(drawn)]
    # Resampling a single game gives that game again, which says nothing of others.
    known = games > 1 and len(good) > 0
    low, high = np.quantile(good, [0.025, 0.975]) if known else (-np.inf, np.inf)
    return Estimate(float(value), float(low), float(high))

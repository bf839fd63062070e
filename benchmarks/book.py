"""Compares learned evaluators with a book: `python -m benchmarks.book PDN ... [options]`.

A quarter of the games is held out; a polynomial and signature tables over the same 27 terms and the
same material learn from the rest, and the table shows their agreement with the moves of the
held-out games, with differences paired by game.

Samuel's figures: 0.2 rising to about 0.6 in learning by generalisation (1959). His books were
moves of masters. C leaves out moves rated the same, so that an evaluator that cannot tell most
moves apart gets a high one; "ties" has them in its denominator.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import games
from games.contract import Game
from games.features import FeatureSet
from learner.books.agreement import (
    Agreement,
    BookRows,
    _by_game,
    agreement,
    parts_of,
)
from learner.books.book import (
    BookEntry,
    BookReport,
    read_records,
    record_entries,
)
from learner.books.cells import Floats, MovePairs
from learner.books.signature import SignatureTables
from learner.online.samuel1959 import powers_of_two
from play.ratings.statistics import Estimate, mean_interval
from search import Evaluator, LinearEvaluator, as_evaluator
from search.evaluators.signature import layout_of

#: Power of two of the largest weight, as Samuel has it, before scaling.
TOP_POWER = 18


@dataclass(kw_only=True, eq=False, repr=False)
class BookPolynomial(SignatureTables):
    """Learns the weights of a feature set's terms from preferred moves; material is fixed.

    features: a feature set or its name (None: that of the game's signature tables).
    material: as for `SignatureTables`; its terms belong to the set, their weights are fixed.

    A term's coefficient is C = (L - H) / (L + H), where L and H count the other moves for which it
    is lower or higher than for the preferred one; weights are signed powers of two of these
    (`learner.online.samuel1959.powers_of_two`), the largest 1 before scaling.

    After `fit` also `coefficients_`: C; 0 for material.
    """

    features: Any = None

    def _set_up(self, game: Game) -> tuple[FeatureSet, tuple[str, ...]]:
        features = self.features
        material: tuple[str, ...] = ("men", "kings", "superiority", "PIECES")
        if features is None:
            layout = layout_of(game)
            features, material = layout.features, layout.material
        if isinstance(features, str):
            if features not in game.features:
                raise ValueError(
                    f"features: expected one of {', '.join(game.features) or 'none'} for"
                    f" {game.name}, found {features!r}"
                )
            features = game.features[features]
        if self.material is not None:
            material = tuple(features.names)
        material = tuple(term for term in material if term in features.terms)
        self._evaluator = LinearEvaluator(game, features, {}, name="book")
        self.coefficients_ = np.zeros(len(features))
        return features, material

    def _inputs(self, rows: BookRows, terms: Floats) -> dict[str, NDArray[Any]]:
        return {"terms": (rows.signs[:, None] * terms).astype(np.float32)}

    def _learn(self, pairs: MovePairs) -> Floats:
        learned = self._worths == 0
        terms = self._kept["terms"]
        self.coefficients_ = np.zeros(len(learned))
        self.coefficients_[learned] = _agreements(pairs, terms[:, learned])
        self._slopes = powers_of_two(self.coefficients_, TOP_POWER) / 2.0**TOP_POWER
        return np.asarray(terms @ self._slopes)

    def _apply_scale(self, scale: float) -> None:
        self._evaluator.weights[:] = self._worths + scale * self._slopes


def _agreements(pairs: MovePairs, terms: NDArray[np.float32]) -> Floats:
    """Returns C of each term, [terms]; 0 for a term in which moves never differ."""
    agreements = np.zeros(terms.shape[1])
    for place, column in enumerate(terms.T):
        ahead = column[pairs.better] - column[pairs.worse]
        lower, higher = float((ahead > 0).sum()), float((ahead < 0).sum())
        agreements[place] = (lower - higher) / (lower + higher) if lower + higher else 0.0
    return agreements


GAME = games.load("checkers")
LEARNERS: dict[str, Callable[[], Any]] = {
    "polynomial": BookPolynomial,
    "tables": SignatureTables,
}
HELD_OUT = 4  # every fourth game


@dataclass(frozen=True)
class Difference:
    """The agreement of one evaluator minus that of another, on the same entries."""

    coefficient: Estimate
    strict: Estimate
    first: Estimate


def compare(first: Evaluator, second: Evaluator, entries: Iterable[BookEntry]) -> Difference:
    """Returns the agreement of `first` minus that of `second`, game by game.

    Raises ValueError if there are no entries.
    """
    rows = BookRows.of(entries)
    both = zip(parts_of(_by_game(first, rows)), parts_of(_by_game(second, rows)), strict=True)
    differences = [_linear(*one) - _linear(*other) for one, other in both]
    loose, strict, best = (mean_interval(d) for d in differences[:3])
    return Difference(_twice(loose), _twice(strict), best)


def _linear(sums: Floats, sizes: Floats) -> Floats:
    """Returns values of games whose mean is the share, and whose variance is that of its error."""
    share = sums.sum() / sizes.sum()
    return np.asarray(share + (sums - share * sizes) / sizes.mean())


def _twice(share: Estimate) -> Estimate:
    """Returns a difference of L - H from one of L."""
    return Estimate(2 * share.value, 2 * share.low, 2 * share.high)


def read(options: argparse.Namespace) -> list[BookEntry]:
    """Returns the entries of PDN files, and prints which games were left out."""
    report, paths, side = BookReport(), options.paths, options.side
    began = time.perf_counter()
    records = read_records(GAME, paths, side=side, black_first=options.black_first, report=report)
    entries = [
        entry
        for number, record in enumerate(records)
        for entry in record_entries(record, number=number, side=side, report=report)
    ]
    took = time.perf_counter() - began
    print(f"{report.games} games, {report.entries} positions with a preferred move, {took:.0f} s")
    left = ", ".join(f"{count} {reason}" for reason, count in report.positions.most_common())
    print(f"  left out: {left or 'nothing'}; {len(report.skipped)} games")
    for skipped in report.skipped[:20]:
        print(f"  {skipped}")
    return entries


def line(name: str, found: Agreement) -> str:
    """Returns one line of the table."""
    first, second, third = found.shares
    shares = f"{first.value:6.1%} {second.value:6.1%} {third.value:6.1%}"
    return f"{name:<24}{found.coefficient.text('.3f'):>24}{found.strict.text('.3f'):>24}  {shares}"


def learned(entries: list[BookEntry]) -> dict[str, Evaluator]:
    """Returns the evaluator that each learner fits to the same entries."""
    return {name: make().fit(entries).evaluator_ for name, make in LEARNERS.items()}


def main() -> None:
    """Read a book, learn, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path, help="PDN files")
    parser.add_argument("--side", default="winner",
                        help="whose moves count: winner (default), both, player NAME")  # fmt: skip
    parser.add_argument("--black-first", action=argparse.BooleanOptionalAction,
                        help="results are Black-White (default: found out)")  # fmt: skip
    options = parser.parse_args()
    missing = [str(path) for path in options.paths if not path.is_file()]
    if missing:
        parser.error(f"expected PDN files, found none at {', '.join(missing)}")
    entries = read(options)
    learn = [entry for entry in entries if entry.game % HELD_OUT]
    held = [entry for entry in entries if entry.game % HELD_OUT == 0]
    if not learn or not held:
        parser.error(f"expected positions in at least {HELD_OUT} games, found {len(entries)}")
    print(f"learned from {len(learn)} moves, held out {len(held)}; 95 % intervals over games")
    print(f"terms: {', '.join(layout_of(GAME).features.names)}\n")
    print(
        f"{'':<24}{'C = (L-H)/(L+H)':>24}{'ties in denominator':>24}"
        f"  {'first':>6} {'second':>6} {'third':>6}"
    )
    for name in ("material", "classic"):
        print(line(name, agreement(as_evaluator(GAME, name), held)), flush=True)
    found = learned(learn)
    for name, evaluator in found.items():
        print(line(name, agreement(evaluator, held)), flush=True)
    ahead = compare(found["tables"], found["polynomial"], held)
    print(
        f"{'tables less polynomial':<24}{ahead.coefficient.text('.3f'):>24}"
        f"{ahead.strict.text('.3f'):>24}  first {100 * ahead.first.value:+.1f} %"
        f" [{100 * ahead.first.low:+.1f}, {100 * ahead.first.high:+.1f}]"
    )


if __name__ == "__main__":
    main()

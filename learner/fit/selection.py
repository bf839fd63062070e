"""Relevance of terms: Samuel's correlation with delta, the L1 path, and permutation importance.

These are three measures for any linear evaluator and stored positions. Samuel's own (1959) is how
often the sign of a term agrees with the sign of delta, the difference between the search's value
and the static value; it looks at one term at a time. The lasso (Tibshirani 1996) takes terms in one
by one as its penalty falls, each for its contribution beside those before it. Permutation
importance (Breiman 2001) is the loss of predictions when a term is shuffled among the positions,
with the weights as they are: the use that the evaluator makes of a term, not the use that could be
made of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from learner.fit.logistic import LogisticFit, measure
from learner.fit.targets import expectations, fit_scale
from learner.positions.shards import Rows
from search import LinearEvaluator

__all__ = ["TermReport", "entries", "report_text", "select_terms", "sign_correlations"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TermReport:
    """The figures of one term.

    term: the name of the term.
    weight: its weight.
    correlation: mean agreement of its sign with that of delta, -1 to 1; 0 if they are never both
        other than 0.
    entry: its place in the order in which the L1 path takes terms in, from 1; None if it never
        does.
    importance: growth of the mean cross-entropy when the term is shuffled.
    spread: standard deviation of the importance over the shuffles.
    rank: from 1, by the mean of its three ranks; 0 for a fixed term.
    """

    term: str
    weight: float
    correlation: float
    entry: int | None
    importance: float
    spread: float
    rank: int


def select_terms(
    evaluator: LinearEvaluator,
    rows: Rows,
    *,
    fixed: Sequence[str] = (),
    baseline: Mapping[str, float] | None = None,
    scale: float | None = None,
    blend: float = 0.5,
    repeats: int = 5,
    most: int = 200_000,
    seed: int = 0,
) -> list[TermReport]:
    """Returns a report on every term of the evaluator's feature set: fixed terms, then by rank.

    evaluator: the linear evaluator; it and the stored values may have different units.
    rows: positions with their labels, preferably quiet, distinct, and of games that the evaluator
        has not learned from.
    fixed: terms that are not up for selection.
    baseline: the weights whose static value delta is measured from (None: those of the fixed terms
        alone, so that delta is all that the other terms could explain; from the evaluator's own
        static value, a term correlates less the better its weight is).
    scale, blend: see `learner.fit.targets.expectations`.
    repeats: number of shuffles of each term.
    most: at most this many rows are used, drawn at random.
    seed: seed of the drawing and the shuffles.

    Raises ValueError for no rows, unknown terms, or values that do not predict results.
    """
    names = evaluator.features.names
    base = dict(baseline) if baseline is not None else {}
    unknown = [name for name in (*fixed, *base) if name not in names]
    if unknown:
        raise ValueError(
            f"fixed, baseline: expected terms of {', '.join(names)}, found"
            f" {', '.join(map(str, unknown[:8]))}"
        )
    if not len(rows):
        raise ValueError("rows: expected at least one, found none")
    if baseline is None:
        base = {name: evaluator.term_weights()[name] for name in fixed}
    random = np.random.default_rng(seed)
    if len(rows) > most:
        rows = rows.take(np.sort(random.choice(len(rows), most, replace=False)))
    weights = rows.count.astype(np.float64)
    if scale is None:
        scale = fit_scale(rows.value, rows.result, sample_weight=weights)
    expected = expectations(rows.value, rows.result, scale=scale, blend=blend)
    terms = measure(evaluator.features, rows.positions).astype(np.float64)
    margin = terms @ np.array([base.get(name, 0.0) for name in names])
    if margin.any():  # convert to the unit of the stored values
        margin *= fit_scale(margin, 2 * expected - 1, sample_weight=weights) / scale
    free = np.array([name not in fixed for name in names])

    correlations = sign_correlations(terms, rows.value - margin, sample_weight=weights)
    order: list[int | None] = [None] * len(names)
    target = logit(np.clip(expected, 0.01, 0.99)) - scale * margin
    for place, entry in zip(
        np.flatnonzero(free), entries(terms[:, free], target, sample_weight=weights), strict=True
    ):
        order[place] = entry
    importance, spread = _permutation(
        evaluator.weights, names, terms, expected, weights, repeats, int(random.integers(1 << 31))
    )
    reports = [
        TermReport(
            name,
            float(evaluator.weights[i]),
            float(correlations[i]),
            order[i],
            float(importance[i]),
            float(spread[i]),
            0,
        )
        for i, name in enumerate(names)
    ]
    return [report for report in reports if report.term in fixed] + _ranked(
        [report for report in reports if report.term not in fixed]
    )


def sign_correlations(terms: Any, delta: Any, *, sample_weight: Any = None) -> Floats:
    """Returns the mean of sign(term) * sign(delta) over the rows where neither is 0; [terms].

    It is 0 if no such row exists. Samuel's running correlation forgets, because his weights changed
    meanwhile; this is its limit for constant weights.
    """
    signs, of_delta = np.sign(terms), np.sign(np.asarray(delta, dtype=np.float64))
    weights = np.abs(of_delta) * (1.0 if sample_weight is None else sample_weight)
    agreed = (weights * of_delta) @ signs
    seen = weights @ np.abs(signs)
    correlations: Floats = np.divide(agreed, seen, out=np.zeros(len(agreed)), where=seen > 0)
    return correlations


def entries(terms: Any, target: Any, *, sample_weight: Any = None) -> list[int | None]:
    """Returns the place, from 1, at which the lasso takes each term in as its penalty falls to 0.

    Terms count in units of their root mean square. It is None for terms that are never taken in:
    terms that are always 0, and terms that others replace entirely.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lars_path_gram

    weights = np.ones(len(terms)) if sample_weight is None else sample_weight
    root = np.sqrt(weights / weights.sum())[:, None]
    scaled = np.asarray(terms, dtype=np.float64) * root
    unit = np.sqrt(np.square(scaled).sum(axis=0))
    found: list[int | None] = [None] * len(unit)
    usable = np.flatnonzero(unit > 0)
    if not len(usable):
        return found
    scaled = scaled[:, usable] / unit[usable]
    with warnings.catch_warnings():
        # Of terms that say the same one is left out, which is what None tells.
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, _, coefficients = lars_path_gram(
            scaled.T @ (target * root[:, 0]), scaled.T @ scaled, n_samples=1, method="lasso"
        )
    ever = coefficients.any(axis=1)
    first = np.where(ever, (coefficients != 0).argmax(axis=1), coefficients.shape[1])
    for number, place in enumerate(np.argsort(first, kind="stable")[: ever.sum()], start=1):
        found[usable[place]] = number
    return found


def _permutation(
    weights: Floats,
    names: Sequence[str],
    terms: Floats,
    expected: Floats,
    sample_weight: Floats,
    repeats: int,
    seed: int,
) -> tuple[Floats, Floats]:
    from sklearn.inspection import permutation_importance

    if not weights.any():
        return np.zeros(len(names)), np.zeros(len(names))
    model = LogisticFit(names)
    model.weights_ = weights
    # the evaluator's values have a unit of their own
    model.K_ = fit_scale(terms @ weights, 2 * expected - 1, sample_weight=sample_weight)
    found = permutation_importance(
        model,
        terms,
        expected,
        n_repeats=repeats,
        random_state=seed,
        sample_weight=sample_weight,
    )
    return found.importances_mean, found.importances_std


def _ranked(reports: list[TermReport]) -> list[TermReport]:
    """Returns the reports in the order of the mean of their ranks, which is filled in."""
    last = len(reports) + 1
    measures = (
        lambda report: -abs(report.correlation),
        lambda report: report.entry or last,
        lambda report: -report.importance,
    )
    total = dict.fromkeys((report.term for report in reports), 0)
    for measure_of in measures:
        for rank, report in enumerate(sorted(reports, key=measure_of)):
            total[report.term] += rank
    order = sorted(reports, key=lambda report: total[report.term])
    return [replace(report, rank=rank) for rank, report in enumerate(order, start=1)]


def report_text(reports: Sequence[TermReport]) -> str:
    """Returns the reports as text; importance is in thousandths of the cross-entropy."""
    width = max([len(report.term) for report in reports] + [len("term")])
    lines = [
        f"{'rank':>4}  {'term':<{width}} {'weight':>11} {'correlation':>11} {'L1':>5}  shuffled"
    ]
    for report in reports:
        lines.append(
            f"{report.rank or 'fix':>4}  {report.term:<{width}} {report.weight:>11.5g}"
            f" {report.correlation:>+11.3f} {report.entry or '-':>5}"
            f"  {1000 * report.importance:+.3f} ± {1000 * report.spread:.3f}"
        )
    lines.append(
        "correlation: of the term's sign with that of delta; L1: when the lasso takes it in;\n"
        "shuffled: what the cross-entropy grows by, in thousandths, when the term is"
    )
    return "\n".join(lines)

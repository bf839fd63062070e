"""Relevance of terms: Samuel's correlation with delta, and permutation importance.

Samuel's measure (1959) is how often the sign of a term agrees with the sign of delta, the
difference between the search's value and the static value; it looks at one term at a time.
Permutation importance (Breiman 2001) is the loss of predictions when a term is shuffled among the
positions, with the weights as they are: the use that the evaluator makes of a term, not the use
that could be made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learner.fit.logistic import LogisticFit, measure
from learner.fit.targets import expectations, fit_scale
from learner.positions.shards import Rows
from search import LinearEvaluator

__all__ = ["TermReport", "report_text", "select_terms", "sign_correlations"]

Floats = NDArray[np.float64]
#: Share of the result in what is predicted, and shuffles of each term.
BLEND, REPEATS = 0.5, 5


@dataclass(frozen=True)
class TermReport:
    """The figures of one term.

    term: the name of the term.
    weight: its weight.
    correlation: mean agreement of its sign with that of delta, -1 to 1; 0 if they are never both
        other than 0.
    importance: growth of the mean cross-entropy when the term is shuffled.
    spread: standard deviation of the importance over the shuffles.
    fixed: whether it is never learned.
    """

    term: str
    weight: float
    correlation: float
    importance: float
    spread: float
    fixed: bool


def select_terms(
    evaluator: LinearEvaluator, rows: Rows, *, fixed: Sequence[str] = ()
) -> list[TermReport]:
    """Returns a report on every term of the evaluator's feature set, by importance.

    evaluator: the linear evaluator; it and the stored values may have different units.
    rows: positions with their labels, preferably quiet, distinct, and of games that the evaluator
        has not learned from.
    fixed: terms that are never learned, which come first. Delta is measured from their value, so
        that it is all that the other terms could explain; from the evaluator's own value a term
        correlates less the better its weight is.

    Raises ValueError for no rows, unknown terms, or values that do not predict results.
    """
    names = evaluator.features.names
    unknown = [name for name in fixed if name not in names]
    if unknown:
        raise ValueError(
            f"fixed: expected terms of {', '.join(names)}, found {', '.join(map(str, unknown[:8]))}"
        )
    if not len(rows):
        raise ValueError("rows: expected at least one, found none")
    counts = rows.count.astype(np.float64)
    scale = fit_scale(rows.value, rows.result, sample_weight=counts)
    expected = expectations(rows.value, rows.result, scale=scale, blend=BLEND)
    terms = measure(evaluator.features, rows.positions).astype(np.float64)
    held = np.array([name in fixed for name in names])
    margin = terms @ np.where(held, evaluator.weights, 0.0)
    if margin.any():  # convert to the unit of the stored values
        margin *= fit_scale(margin, 2 * expected - 1, sample_weight=counts) / scale
    correlations = sign_correlations(terms, rows.value - margin, sample_weight=counts)
    importance, spread = _permutation(evaluator.weights, names, terms, expected, counts)
    columns = np.column_stack([evaluator.weights, correlations, importance, spread]).tolist()
    reports = [
        TermReport(name, weight, correlation, loss, deviation, name in fixed)
        for name, (weight, correlation, loss, deviation) in zip(names, columns, strict=True)
    ]
    return sorted(reports, key=lambda report: (not report.fixed, -report.importance))


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


def _permutation(
    weights: Floats, names: Sequence[str], terms: Floats, expected: Floats, counts: Floats
) -> tuple[Floats, Floats]:
    from sklearn.inspection import permutation_importance

    if not weights.any():
        return np.zeros(len(names)), np.zeros(len(names))
    model = LogisticFit(names)
    model.weights_ = weights
    # the evaluator's values have a unit of their own
    model.K_ = fit_scale(terms @ weights, 2 * expected - 1, sample_weight=counts)
    found = permutation_importance(
        model, terms, expected, n_repeats=REPEATS, random_state=0, sample_weight=counts
    )
    return found.importances_mean, found.importances_std


def report_text(reports: Sequence[TermReport]) -> str:
    """Returns the reports as text; importance is in thousandths of the cross-entropy."""
    width = max([len(report.term) for report in reports] + [len("term")])
    lines = [f"{'rank':>4}  {'term':<{width}} {'weight':>11} {'correlation':>11}  shuffled"]
    for number, report in enumerate(reports, 1 - sum(report.fixed for report in reports)):
        lines.append(
            f"{'fix' if report.fixed else number:>4}  {report.term:<{width}} {report.weight:>11.5g}"
            f" {report.correlation:>+11.3f}"
            f"  {1000 * report.importance:+.3f} ± {1000 * report.spread:.3f}"
        )
    lines.append(
        "correlation: of the term's sign with that of delta\n"
        "shuffled: what the cross-entropy grows by, in thousandths, when the term is"
    )
    return "\n".join(lines)

"""The result of a fit: the terms, the loss on games that judge, and the doubts."""

from __future__ import annotations

from dataclasses import dataclass

from learner.regression.validation import CalibrationBin

__all__ = ["Change", "Fitted", "FittedTerm"]


@dataclass(frozen=True)
class FittedTerm:
    """A term after the fit.

    weight: in the unit of values.
    error: its standard error by games; NaN if it was not learned, lies on a bound, or if only the
        penalty tells it from other terms.
    pull: how far the penalty holds it from where the loss alone is least, as `error`.
    worth: what the mean loss would grow by without it, after the others have taken its place, by
        the quadratic at the minimum.
    explained: share of its square that the other terms explain.
    rows: rows in which it is not 0.
    note: "", `fixed`, `never occurs` (in what was fitted), `constant`, `rare`, `a sum of others`
        or `explained by others`.
    """

    name: str
    start: float
    weight: float
    error: float
    pull: float
    worth: float
    explained: float
    rows: int
    note: str


@dataclass(frozen=True)
class Change:
    """The mean loss on the games that judge, before and after, with the 95 % interval by games."""

    rows: int
    games: int
    before: float
    after: float
    low: float
    high: float


@dataclass(frozen=True)
class Fitted:
    """The result of a fit.

    scale: K.
    tried: penalties and the losses to expect with them, in the order tried.
    doubts: what of the traces may make the fit promise more than a match keeps.
    bins: calibration on the games that judge; by results if they are known, else by targets.
    """

    terms: tuple[FittedTerm, ...]
    scale: float
    alpha: float
    tried: tuple[tuple[float, float], ...]
    loss: float
    steps: int
    settled: bool
    rows: int
    games: int
    judged: Change
    bins: tuple[CalibrationBin, ...]
    doubts: tuple[str, ...]

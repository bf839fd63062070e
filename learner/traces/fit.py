"""Weights that best foretell results: judged on games apart.

Standard errors are those of games, because the rows of a game share its result.

Sources: P. Österlund's method for the chess program Texel (2014); K.-Y. Liang and S. Zeger,
"Longitudinal Data Analysis Using Generalized Linear Models" (1986), for errors by clusters;
K. Takeuchi (1976), for the loss to expect, by which the penalty is chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from learner.options import LOSSES, check_options, choice, ranged
from learner.positions.filters import Games
from learner.regression.matrix import Matrix
from learner.regression.newton import Minimum, minimum
from learner.regression.sums import EXACT, sums_of_others
from learner.regression.targets import expectations, fit_scale, mean_loss
from learner.regression.validation import calibration, students_quantile
from learner.traces.doubts import doubts
from learner.traces.fitted import Change, Fitted, FittedTerm
from learner.traces.parameters import Term, parameters
from learner.traces.traces import TraceError, Traces

__all__ = ["Settings", "fit_traces"]

Floats = NDArray[np.float64]
#: Penalties that are tried, most first, on at most so many rows.
PATH, PATH_ROWS = (10.0, 1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7), 1_000_000
#: Stop a trial fit when the next step would gain less than this.
ROUGH = 1e-7
#: Fewest games that judge.
FEWEST = 10
#: The scale lies within this factor of that of the values to start from.
FAR = 8.0
#: A term is rare in fewer rows, or explained by others if this share of its square is.
RARE, EXPLAINED = 100, 0.99


@dataclass(frozen=True)
class Settings:
    """Options of a fit.

    loss: `cross_entropy`, or `squared` (Texel's).
    blend: share of the result in the targets, where a row has a value too.
    alpha: penalty, None to choose it. The mean loss grows by alpha / 2 times the square of each
        weight less its start, in logits for a term at its root mean square.
    scale: K, by which a value becomes the logit of an expected score. None to fit it to `value`, or
        with the other terms to those that are fixed, or to the weights to start from, or 1.
    held_out: share of the games that judge.
    seed: decides which games these are.
    """

    loss: str = choice("cross_entropy", LOSSES)
    blend: float = ranged(0.5, 0, 1)
    alpha: float | None = ranged(None, 0)
    scale: float | None = ranged(None, above=0)
    held_out: float = ranged(0.1, above=0, high=0.4)
    seed: int = ranged(0, 0)

    def __post_init__(self) -> None:
        check_options(self)


def fit_traces(
    traces: Traces,
    asked: dict[str, Term],
    settings: Settings,
    *,
    say: Callable[[str], None] = lambda text: None,
) -> Fitted:
    """Returns the weights that minimise the loss, with their intervals.

    asked: what is asked of some terms; the others start at 0 and are free.
    say: told of each step.

    Raises TraceError if the traces do not determine the weights.
    """
    return _Fit(traces, asked, settings, say).run()


class _Fit:
    def __init__(
        self,
        traces: Traces,
        asked: dict[str, Term],
        settings: Settings,
        say: Callable[[str], None],
    ) -> None:
        self.traces, self.asked, self.settings = traces, asked, settings
        self.say = say
        share = settings.held_out
        self.judging = self._part(0.0, share)
        self.learned = traces.weight * ~self.judging
        self.rows, self.sums = traces.matrix.occurrences(), traces.matrix.slope(traces.weight)
        even = np.square(self.sums) / traces.weight.sum()
        self.constant = even >= traces.matrix.squares(traces.weight) * (1 - EXACT)
        seen = traces.matrix.squares(self.learned)
        self.absent = [name for name, some in zip(traces.names, seen, strict=True) if not some]
        self.parameters = parameters(traces.names, asked, self.absent)
        games = len(np.unique(traces.game[self.judging]))
        if games < FEWEST:
            raise TraceError(
                f"game: expected at least {FEWEST} games that judge, found {games} of"
                f" {traces.game.max() + 1}"
            )
        start = np.array([asked.get(name, Term()).weight for name in traces.names])
        self.start_values = traces.matrix.times(start)
        self.targets, self.scale = self._targets()
        if settings.scale is None and traces.value is None and self.parameters.base.any():
            self.scale = self._joint_scale()
        #: the penalties that were tried, and their losses
        self.tried: list[tuple[float, float]] = []

    def _part(self, low: float, high: float) -> NDArray[np.bool_]:
        games = np.arange(int(self.traces.game.max()) + 1)
        held: NDArray[np.bool_] = Games(low, high, self.settings.seed).holds(games)
        return held[self.traces.game] & (self.traces.weight > 0)

    def _targets(self) -> tuple[Floats, float]:
        """Returns the targets of the rows, and K."""
        value, scale = self.traces.value, self.settings.scale
        if self.traces.result is None:
            if scale is None or value is None:
                raise TraceError("--scale: expected K for values without results")
            return expit(scale * value), scale
        results = 2.0 * self.traces.result - 1.0
        started = bool((self.start_values * self.learned).any())
        values = self.start_values if value is None and started else value
        if scale is None and values is not None:
            try:
                scale = fit_scale(values, results, sample_weight=self.learned)
            except ValueError as error:
                if value is not None:
                    raise TraceError(str(error)) from None
                # weights that are all wrong: an expectation for their usual value
                scale = float(1 / np.sqrt(np.average(np.square(values), weights=self.learned)))
        if value is None or scale is None:
            return self.traces.result, scale or 1.0
        return expectations(value, results, scale=scale, blend=self.settings.blend), scale

    def _matrix(self) -> Matrix:
        made = self.parameters
        matrix = self.traces.matrix.mapped(made.place, made.factor, len(made.names))
        self.unit = np.sqrt(matrix.squares(self.learned) / self.learned.sum())
        return matrix

    def _joint_scale(self) -> float:
        """Returns K at which the loss is least, with the other terms free, on some games."""
        held = self.traces.matrix.times(self.parameters.base)
        rows = np.flatnonzero(self.learned)[: PATH_ROWS // 10]
        matrix, weight = self._matrix().take(rows), self.learned[rows]
        numbers = np.zeros(matrix.columns)

        def slope(scale: float) -> float:
            nonlocal numbers
            least = minimum(
                matrix, self.targets[rows], weight, scale * held[rows], numbers, enough=ROUGH,
                squared=self.settings.loss == "squared", ridge=PATH[-1] * np.square(self.unit),
            )  # fmt: skip
            numbers = least.weights
            return float(least.slopes @ held[rows])

        low, high = (self.scale * factor for factor in (1 / FAR, FAR))
        ends = slope(low), slope(high)
        if not ends[0] < 0 < ends[1]:
            return self.scale  # the results do not follow what is fixed
        return float(brentq(slope, low, high, rtol=1e-4))

    # --- the fit --------------------------------------------------------------------------------

    def run(self) -> Fitted:
        traces, made = self.traces, self.parameters
        matrix, learned = self._matrix(), self.learned
        margin = self.scale * traces.matrix.times(made.weights(made.start))
        alpha, start = self._choose(matrix, margin, learned)
        least = self._minimum(
            matrix, margin, learned, start, alpha,
            after=lambda step, loss: self.say(f"step {step}: loss {loss:.6f}"),
        )  # fmt: skip
        sums = sums_of_others(least.bend, made.names)
        if sums and not alpha:
            raise TraceError(
                "terms: expected each to say something of its own, found "
                + "; ".join(f"{made.names[j]} = {told}" for j, (told, _) in sums.items())
                + ": leave some out, fix them, or let a penalty (--alpha) decide"
            )
        self.summed = {j for own, (_, others) in sums.items() for j in (own, *others)}
        return self._described(matrix, margin, learned, least, alpha)

    def _minimum(
        self, matrix: Matrix, margin: Floats, weight: Floats, start: Floats, alpha: float,
        targets: Floats | None = None, **more: Any,
    ) -> Minimum:  # fmt: skip
        """Returns the minimum in logits: K times the parameters."""
        made = self.parameters
        return minimum(
            matrix, self.targets if targets is None else targets, weight, margin, start,
            squared=self.settings.loss == "squared",
            ridge=alpha * np.square(self.unit),
            low=self.scale * (made.low - made.start), high=self.scale * (made.high - made.start),
            **more,
        )  # fmt: skip

    def _choose(self, matrix: Matrix, margin: Floats, learned: Floats) -> tuple[float, Floats]:
        """Returns alpha and weights to start from."""
        settings, start = self.settings, np.zeros(len(self.parameters.names))
        if settings.alpha is not None:
            return settings.alpha, start
        share = min(1.0, PATH_ROWS / max(1, int((learned > 0).sum())))
        rows = np.flatnonzero(self._part(settings.held_out, settings.held_out + share))
        part, best, lowest = matrix.take(rows), start, np.inf
        for alpha in PATH:
            least = self._minimum(
                part, margin[rows], learned[rows], start, alpha, self.targets[rows], enough=ROUGH
            )
            start, loss = least.weights, self._expected(part, rows, least, alpha, share)
            self.tried.append((alpha, loss))
            self.say(f"alpha {alpha:g}: loss {loss:.6f} expected on other games")
            if loss < lowest:
                best, lowest = start, loss
            losses = [loss for _, loss in self.tried]
            if len(losses) > 2 and lowest < min(losses[-2:]):
                break  # smaller penalties only lead further away
        return min(self.tried, key=lambda one: one[1])[0], best

    def _expected(
        self, matrix: Matrix, rows: NDArray[np.int64], least: Minimum, alpha: float, share: float
    ) -> float:
        """Returns the mean loss to expect on other games, with all rows in place of a share.

        The loss of the rows that were fitted is too low by the trace of the inverse of its second
        derivative, with the penalty's, times the variance of its slope by games.
        """
        total = self.learned[rows].sum()
        meat = matrix.scatter(least.slopes, self.traces.game[rows]) / total**2
        curved = least.bend + np.diag(alpha * np.square(self.unit))
        excess = float(np.trace(np.linalg.lstsq(curved, meat, rcond=None)[0]))
        return least.loss + excess * (1 + share) / 2

    def _loss(self, logits: Floats, rows: Any) -> tuple[float, Floats]:
        """Returns the mean loss of logits of some rows, and each row's loss times its weight."""
        weight, targets = self.traces.weight[rows], self.targets[rows]
        return mean_loss(self.settings.loss, logits, targets, weight)[:2]

    # --- what is known of the weights -----------------------------------------------------------

    def _described(
        self, matrix: Matrix, margin: Floats, learned: Floats, found: Minimum, alpha: float
    ) -> Fitted:
        traces, made, total = self.traces, self.parameters, learned.sum()
        numbers = self.scale * made.start + found.weights
        weights = made.weights(made.start + found.weights / self.scale)
        size = len(made.names)
        inside = (numbers > self.scale * made.low) & (numbers < self.scale * made.high)
        inside &= ~np.isin(np.arange(size), list(self.summed))
        free = np.flatnonzero(inside)
        among = np.ix_(free, free)
        bare = np.linalg.inv(found.bend[among])
        meat = matrix.scatter(found.slopes, traces.game)[among] / total**2
        games = len(np.unique(traces.game[learned > 0]))
        error, pull, worth, explained = (np.full(size, np.nan) for _ in range(4))
        spread = bare @ meat @ bare * games / max(1, games - 1)
        error[free] = np.sqrt(np.diag(spread)) / self.scale
        held = alpha * np.square(self.unit) * found.weights
        pull[free] = np.abs(bare @ held[free]) / self.scale
        worth[free] = np.square(numbers[free]) / (2 * np.diag(bare))
        explained[free] = 1 - 1 / (np.diag(found.bend)[free] * np.diag(bare))
        terms = []
        for i, name in enumerate(traces.names):
            j, factor, never = made.place[i], abs(made.factor[i]), made.factor[i] == 0
            note = (
                "never occurs" if name in self.absent
                else "fixed" if never
                else "constant" if self.constant[i]
                else "rare" if self.rows[i] < RARE
                else "a sum of others" if j in self.summed
                else "explained by others" if explained[j] > EXPLAINED
                else ""
            )  # fmt: skip
            terms.append(FittedTerm(
                name=name,
                start=self.asked.get(name, Term()).weight,
                weight=float(weights[i]),
                error=np.nan if never else float(error[j] * factor),
                pull=np.nan if never else float(pull[j] * factor),
                worth=np.nan if never else float(worth[j]),
                explained=np.nan if never else float(explained[j]),
                rows=int(self.rows[i]),
                note=note,
            ))  # fmt: skip
        logits = margin + matrix.times(found.weights)
        rows = np.flatnonzero(self.judging)
        judged, shares = self._judged(logits, rows), expit(logits[rows])
        seen = self.targets if traces.result is None else traces.result
        bins = calibration(
            shares, seen[rows], sample_weight=traces.weight[rows], groups=traces.game[rows]
        )
        return Fitted(
            tuple(terms), self.scale, alpha, tuple(self.tried), found.loss, found.steps,
            found.settled, int((learned > 0).sum()), games, judged, tuple(bins),
            (*doubts(traces, size), *self._values_doubted(matrix, margin, found, alpha)),
        )  # fmt: skip

    def _values_doubted(
        self, matrix: Matrix, margin: Floats, blended: Minimum, alpha: float
    ) -> tuple[str, ...]:
        """Returns a doubt about the values, if results alone foretell the games that judge better.

        Values by weights far from right hold a fit there.
        """
        results, rows = self.traces.result, np.flatnonzero(self.judging)
        if self.traces.value is None or results is None or self.settings.blend == 1:
            return ()
        plain = self._minimum(
            matrix, margin, self.learned, blended.weights, alpha, results, enough=ROUGH
        )
        weight, loss = self.traces.weight[rows], self.settings.loss

        def losses(least: Minimum) -> Floats:
            logits = margin + matrix.times(least.weights)
            scale = fit_scale(logits, 2 * results - 1, sample_weight=self.learned, loss=loss)
            return mean_loss(loss, scale * logits[rows], results[rows], weight)[1]

        try:
            change, error, _ = self._growth(losses(blended), losses(plain), rows)
        except ValueError:  # nothing rises with the results
            return ()
        if change > -2 * error:
            return ()
        return (
            f"value: results alone foretell the games that judge better, by {-change:.4f} ±"
            f" {2 * error:.4f}; if your weights are far from right, use --blend 1",
        )

    def _judged(self, logits: Floats, rows: NDArray[np.int64]) -> Change:
        before, old = self._loss(self.scale * self.start_values[rows], rows)
        after, new = self._loss(logits[rows], rows)
        change, error, games = self._growth(old, new, rows)
        margin = students_quantile(games) * error
        return Change(len(rows), games, before, after, change - margin, change + margin)

    def _growth(
        self, old: Floats, new: Floats, rows: NDArray[np.int64]
    ) -> tuple[float, float, int]:
        """Returns the mean growth of a loss, its standard error by games, and their number.

        old, new: [rows], each row's loss times its weight.
        """
        weight = self.traces.weight[rows]
        mean = float((new - old).sum() / weight.sum())
        _, game = np.unique(self.traces.game[rows], return_inverse=True)
        games = int(game.max()) + 1
        away = np.bincount(game, new - old - mean * weight)
        error = np.sqrt(away @ away * games / max(1, games - 1)) / weight.sum()
        return mean, float(error), games

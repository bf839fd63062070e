"""Joint Elo ratings of several players from the games between them (Bradley and Terry, 1952).

The fit is scikit-learn's logistic regression: it takes fractional weights, so that a draw is half
a win, keeps a player who won everything finite, and is among Plysmith's dependencies already.
"""

import math
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from play.ratings.statistics import Estimate, Figured, Tally

Floats = NDArray[np.float64]

ELO_PER_NAT = 400 / math.log(10)
"""Elo in one unit of log-odds."""

PRIOR_ELO = 1000.0
"""Standard deviation, in Elo, of the strengths expected before any game is seen. So wide that it
moves nothing the games decide; it keeps finite what they leave open."""

PRIOR_UNITS = 3
"""Number of units of the largest possible variance that are added to each pairing's variance.
With n equal units this is as cautious as the rule of three, which expects up to 3/n of others."""


@dataclass(frozen=True)
class Rating(Figured):
    """One player's rating.

    name: the player.
    elo: the rating, with the 95 % interval of its difference from the anchor.
    games: number of games played.
    score: points per game; ½ without games.
    """

    name: str
    elo: Estimate
    games: int
    score: float


@dataclass(frozen=True)
class _Results:
    """Arrays over the pairings.

    contrasts: [pairings, players], 1 for the first player of each and -1 for the second.
    won: the first player's points.
    variance: variance of a unit's score per game.
    shared: [pairings, pairings], the covariance of the points of two pairings, 0 on the diagonal;
        None if pairings are independent.
    """

    contrasts: Floats
    units: Floats
    games: Floats
    won: Floats
    variance: Floats
    shared: Floats | None = None

    @property
    def lost(self) -> Floats:
        return self.games - self.won


def rate(table: Mapping[tuple[str, str], Tally], *, anchor: str) -> list[Rating]:
    """Rate every player of a round robin, or of any other set of pairings; the best come first.

    table: results for players (a, b) from a's side; a pairing may also be (b, a), or both.
    anchor: the player whose rating is exactly 0; all other ratings and intervals are differences
        from it.

    Ratings maximise the Bradley-Terry likelihood, a draw being half a win for each, together with a
    normal prior around the players' mean (`PRIOR_ELO`). The intervals come from the Fisher
    information with the variance seen between pairs of games, not the one that the model assumes
    (the sandwich of White 1982): draws and shared openings narrow or widen it. If no chain of
    points leads from the anchor to a player, its rating has no upper bound (Ford 1957). The
    interval is then open above, and its lower end gives players who won everything only the least
    score that a 95 % interval allows. The same holds for lower bounds.

    Raises ValueError for a player paired with itself, an empty table, and an anchor not in it.
    """
    names = sorted({name for pairing in table for name in pairing})
    _check(table, names, anchor)
    return _rated(_collect(table, names), names, anchor)


def rate_rounds(
    rounds: Sequence[Mapping[tuple[str, str], tuple[float, int]]], *, anchor: str
) -> list[Rating]:
    """Rate players of games in which several pairings have a result at once, as `rate` does.

    rounds: for each round the points of the first player of each pairing (a, b), and the number of
        games between the two. A pairing has the same first player in all rounds.
    anchor: the player whose rating is exactly 0.

    The intervals take rounds as independent of each other, not the results within a round.

    Raises ValueError as `rate` does.
    """
    pairings = list(dict.fromkeys(pairing for one in rounds for pairing in one))
    names = sorted({name for pairing in pairings for name in pairing})
    _check(pairings, names, anchor)
    figures = np.array([[one.get(pairing, (0.0, 0)) for pairing in pairings] for one in rounds])
    points, games = figures[..., 0], figures[..., 1]
    units, played, won = (games > 0).sum(axis=0), games.sum(axis=0), points.sum(axis=0)
    beyond = points - games * (won / played)
    variance = (beyond**2).sum(axis=0) * units / played**2
    # reduced like the pairings' variances in _covariance, so that it remains a covariance
    shares = np.sqrt(units / (units + PRIOR_UNITS))
    shared = beyond.T @ beyond * np.outer(shares, shares)
    np.fill_diagonal(shared, 0.0)
    contrasts = _contrasts(pairings, names)
    results = _Results(contrasts, units.astype(np.float64), played, won, variance, shared)
    return _rated(results, names, anchor)


def strengths(
    table: Mapping[tuple[str, str], Tally], *, anchor: str
) -> tuple[list[str], Floats, Floats]:
    """Returns the players, their strengths [players] in log-odds, and the covariance of these.

    `rate` gives this for each player alone, in Elo; raises ValueError as it does.
    """
    names = sorted({name for pairing in table for name in pairing})
    _check(table, names, anchor)
    results = _collect(table, names)
    fitted = _fit(results)
    return names, fitted, _covariance(results, fitted, np.zeros(len(results.won), dtype=bool))


def _rated(results: _Results, names: list[str], anchor: str) -> list[Rating]:
    zero = names.index(anchor)
    chains = _chains(results)
    above, below = ~chains[zero], ~chains[:, zero]

    values, margins = _differences(results, np.zeros(len(results.won), dtype=bool), zero)
    lows, highs = values - margins, values + margins
    if above.any():
        values_low, margins_low = _differences(*_doubted(results, chains, winners=True), zero)
        lows = np.where(above, np.minimum(values_low - margins_low, values), lows)
    if below.any():
        values_high, margins_high = _differences(*_doubted(results, chains, winners=False), zero)
        highs = np.where(below, np.maximum(values_high + margins_high, values), highs)
    lows, highs = np.where(below, -np.inf, lows), np.where(above, np.inf, highs)

    played = np.abs(results.contrasts).T @ results.games
    firsts, seconds = results.contrasts > 0, results.contrasts < 0
    points = firsts.T @ results.won + seconds.T @ results.lost
    ratings = [
        Rating(
            name,
            Estimate(*(float(ends[index]) for ends in (values, lows, highs))),
            int(played[index]),
            float(points[index] / played[index]) if played[index] else 0.5,
        )
        for index, name in enumerate(names)
    ]
    return sorted(ratings, key=lambda rating: (-rating.elo.value, rating.name))


def _check(pairings: Iterable[tuple[str, str]], names: list[str], anchor: str) -> None:
    for first, second in pairings:
        if first == second:
            raise ValueError(f"expected pairings of two players, found {first!r} with itself")
    if anchor not in names:
        raise ValueError(f"expected an anchor among the players {names}, found {anchor!r}")


def _collect(table: Mapping[tuple[str, str], Tally], names: list[str]) -> _Results:
    played = {pairing: tally for pairing, tally in table.items() if tally.units}
    figures = [(one.units, one.games, one.points, one.variance) for one in played.values()]
    units, games, won, variance = np.array(figures, dtype=np.float64).reshape(-1, 4).T
    return _Results(_contrasts(played, names), units, games, won, variance)


def _contrasts(pairings: Collection[tuple[str, str]], names: list[str]) -> Floats:
    contrasts = np.zeros((len(pairings), len(names)))
    for row, (first, second) in enumerate(pairings):
        contrasts[row, names.index(first)], contrasts[row, names.index(second)] = 1, -1
    return contrasts


def _differences(results: _Results, settled: NDArray[np.bool_], zero: int) -> tuple[Floats, Floats]:
    """Returns all players' differences from player `zero`, in Elo, and their intervals' margins.

    settled: the pairings whose points are treated as exact.
    """
    strengths = _fit(results)
    covariance = _covariance(results, strengths, settled)
    variance = np.diag(covariance) + covariance[zero, zero] - 2 * covariance[zero]
    # Rounding may leave the variance of the anchor's difference from itself just below 0.
    margins: Floats = ELO_PER_NAT * ndtri(0.975) * np.sqrt(np.maximum(variance, 0))
    return ELO_PER_NAT * (strengths - strengths[zero]), margins


def _fit(results: _Results) -> Floats:
    """Strengths in log-odds, of mean 0."""
    from sklearn import exceptions, linear_model  # it delays a match by 0.25 s

    pairings, players = results.contrasts.shape
    if pairings == 0:
        return np.zeros(players)
    regression = linear_model.LogisticRegression(
        C=(PRIOR_ELO / ELO_PER_NAT) ** 2, fit_intercept=False, solver="newton-cholesky", tol=1e-9
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", exceptions.ConvergenceWarning)
        # Each pairing twice, as won and as lost by the first player.
        regression.fit(
            np.concatenate([results.contrasts, results.contrasts]),
            np.repeat([1, 0], pairings),
            sample_weight=np.concatenate([results.won, results.lost]),
        )
    strengths: Floats = regression.coef_[0]
    return strengths


def _covariance(results: _Results, strengths: Floats, settled: NDArray[np.bool_]) -> Floats:
    """Covariance of the strengths, in squared log-odds: H⁻¹ (V + P) H⁻¹.

    P is the prior's precision, H is P plus the information Σ games · p (1 - p) · x xᵀ, and V is the
    variance of the points, Σ x xᵀ · variance of a pairing's points, plus Σ x yᵀ · covariance of two
    pairings' points if they share games.
    """
    contrasts, units = results.contrasts, results.units
    expected = expit(contrasts @ strengths)
    # No score with mean p between 0 and 1 varies more than p (1 - p).
    largest = expected * (1 - expected)
    variance = (units * results.variance + PRIOR_UNITS * largest) / (units + PRIOR_UNITS)
    points_variance = np.where(settled, 0, results.games**2 / units * variance)
    prior = np.eye(len(strengths)) * (ELO_PER_NAT / PRIOR_ELO) ** 2
    information = contrasts.T @ ((results.games * largest)[:, np.newaxis] * contrasts)
    spread = contrasts.T @ (points_variance[:, np.newaxis] * contrasts)
    if results.shared is not None:
        open_ones = np.where(settled, 0.0, 1.0)
        spread += contrasts.T @ (results.shared * np.outer(open_ones, open_ones)) @ contrasts
    inverse = np.linalg.inv(information + prior)
    covariance: Floats = inverse @ (spread + prior) @ inverse
    return covariance


def _chains(results: _Results) -> NDArray[np.bool_]:
    """[players, players]: whether a chain of points leads from one player to another.

    A player who took points from another cannot be infinitely far below; chains of such points
    bound two ratings against each other.
    """
    firsts, seconds = results.contrasts > 0, results.contrasts < 0
    took = (firsts.T * results.won) @ seconds + (seconds.T * results.lost) @ firsts > 0
    chains: NDArray[np.bool_] = took | np.eye(len(took), dtype=bool)
    for _ in range(len(took).bit_length()):  # squaring doubles the length of the chains
        chains = chains @ chains
    return chains


def _doubted(
    results: _Results, chains: NDArray[np.bool_], *, winners: bool
) -> tuple[_Results, NDArray[np.bool_]]:
    """The results with the least score plausible for players who won everything, and their places.

    Players who bound each other form a group; between groups one side won everything. Each such
    pairing is given the score 0.025^(1/n), where n is the number of such units won by the winning
    group (`winners`) or lost by the losing group. That is the end of Clopper and Pearson's interval
    for them together.
    """
    group = (chains & chains.T).argmax(axis=1)
    first, second = results.contrasts.argmax(axis=1), results.contrasts.argmin(axis=1)
    one_sided = group[first] != group[second]
    first_won = results.won > 0
    owner = group[np.where(first_won == winners, first, second)]
    units = np.bincount(owner[one_sided], results.units[one_sided], minlength=len(group))[owner]
    share = 0.025 ** (1 / np.maximum(units, 1))
    doubted = results.games * np.where(first_won, share, 1 - share)
    return replace(results, won=np.where(one_sided, doubted, results.won)), one_sided

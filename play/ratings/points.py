"""Summaries of matches with dice: points per game with an interval over pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from play.ratings.statistics import INTERVAL, Estimate, mean_interval
from programs.phrases import counted

__all__ = ["DiceSummary"]

#: Points of a gammon and of a backgammon.
GAMMON, BACKGAMMON = 2.0, 3.0


class DiceSummary:
    """A match in points, from the first player's side.

    points: the first player's points in both games of each pair, [pairs, 2].
    luck: the first player's luck in the same games, by `play.matches.luck`, or None.
    cubes: the value of the cube at the end of the same games; None without a cube.
    bounds: minimum and maximum points of a game.

    mean: points per game with the 95 % interval.
    adjusted: luck-adjusted points per game with the 95 % interval; None without `luck`.
    standard_error: standard error of `mean`; NaN for fewer than two pairs.
    adjusted_error: standard error of `adjusted`; NaN without `luck`.

    The two games of a pair have the same dice, so error bars count pairs. Raises ValueError for
    other shapes and for points out of bounds.
    """

    unit = "points a game"

    def __init__(
        self,
        points: ArrayLike,
        luck: ArrayLike | None = None,
        *,
        cubes: ArrayLike | None = None,
        bounds: tuple[float, float] = (-math.inf, math.inf),
    ) -> None:
        self.points = _pairs(points)
        #: points before the cube multiplies them: 1 for a plain game, 2 for a gammon
        self._sizes = self.points if cubes is None else self.points / _pairs(cubes)
        means = self.points.mean(axis=1)
        self.mean = mean_interval(means, bounds=bounds)
        self.standard_error = _standard_error(means)
        self.adjusted: Estimate | None = None
        self.adjusted_error = math.nan
        #: factor by which luck adjustment cuts the variance
        self.variance_cut = math.nan
        if luck is not None:
            dealt = _pairs(luck)
            if dealt.shape != self.points.shape:
                raise ValueError(f"luck: expected {self.pairs} pairs, found {len(dealt)}")
            without = (self.points - dealt).mean(axis=1)
            self.adjusted = mean_interval(without)
            self.adjusted_error = _standard_error(without)
            if self.adjusted_error > 0:
                self.variance_cut = (self.standard_error / self.adjusted_error) ** 2

    @property
    def pairs(self) -> int:
        """The number of pairs of games."""
        return len(self.points)

    @property
    def games(self) -> int:
        """The number of games."""
        return self.points.size

    def won(self, least: float = 0.0) -> int:
        """Returns the number of games that the first player won.

        least: points that these games count at least, before the cube multiplies them.
        """
        return int(((self._sizes > 0) & (self._sizes >= least)).sum())

    def lost(self, least: float = 0.0) -> int:
        """Returns the number of games that the other player won.

        least: points that these games count at least, before the cube multiplies them.
        """
        return int(((self._sizes < 0) & (-self._sizes >= least)).sum())

    def first_player(self) -> tuple[int, int, Estimate, float]:
        """Returns the first player's wins and draws, and its points a game with and without ends.

        The draws are the undecided games.
        """
        won = self.won()
        return won, self.games - won - self.lost(), self.mean, self.mean.value

    def brief(self, names: Sequence[str]) -> str:
        """Returns the points a game in a few words."""
        return f"{names[0]} {self.mean.value:+.3f} a game against {names[-1]}"

    def figures(self) -> dict[str, Any]:
        """Returns the summary as plain values, for JSON; numbers that are not finite are None."""
        return {
            "games": self.games,
            "points_per_game": self.mean.plain(),
            "standard_error": _finite(self.standard_error),
            "wins": self.won(),
            "gammons": self.won(GAMMON),
            "backgammons": self.won(BACKGAMMON),
            "losses": self.lost(),
            "gammons_lost": self.lost(GAMMON),
            "backgammons_lost": self.lost(BACKGAMMON),
            "without_luck": None if self.adjusted is None else self.adjusted.plain(),
            "standard_error_without_luck": _finite(self.adjusted_error),
            "variance_cut": _finite(self.variance_cut),
        }

    def text(self) -> str:
        """Returns a report of a few lines, units included, without a newline at its end."""
        if not self.pairs:
            return "no games played"
        undecided = int((self.points == 0).sum())
        lines = [
            f"games {self.games}: won {_by_size(self.won)}, lost {_by_size(self.lost)}"
            + (f", undecided {undecided}" if undecided else ""),
            f"points per game {self.mean.text('+.4f', named=INTERVAL)}, standard error"
            f" {self.standard_error:.4f}, from {counted(self.pairs, 'pair')}",
        ]
        if self.adjusted is not None:
            lines.append(
                f"luck-adjusted {self.adjusted.text('+.4f', named=INTERVAL)}, standard error"
                f" {self.adjusted_error:.4f}; variance cut {self.variance_cut:.1f} times"
            )
        return "\n".join(lines)


def _pairs(values: ArrayLike) -> NDArray[np.float64]:
    points = np.asarray(values, dtype=np.float64)
    if points.size == 0:
        return np.zeros((0, 2))
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"expected two games a pair, found an array of shape {points.shape}")
    return points


def _standard_error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def _by_size(count: Callable[..., int]) -> str:
    gammons = counted(count(GAMMON), "gammon")
    return f"{count()} ({gammons}, of which {counted(count(BACKGAMMON), 'backgammon')})"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

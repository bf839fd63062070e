"""Summaries of games of more than two players: first places, places and points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

from games.values import places
from play.ratings.statistics import Estimate, Figured, mean_interval

__all__ = ["PlaceSummary", "Standing"]

OPEN = (-math.inf, math.inf)
#: The outcomes of all players in every game of a round.
Round = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Standing(Figured):
    """The places of a player in a match, with 95 % intervals over rounds.

    first: the share of games in which the player alone was first; draws are nobody's.
    place: the mean place, from 1; players with the same outcome share the mean of their places.
    points: the mean outcome; its interval assumes that no outcome can occur that nobody had.
    """

    name: str
    first: Estimate
    place: Estimate
    points: Estimate


@dataclass(frozen=True)
class PlaceSummary:
    """A match of more than two players.

    names: the players.
    rounds: their outcomes, [rounds][games][players].
    """

    names: tuple[str, ...]
    rounds: Sequence[Round]
    unit: ClassVar[str] = "share of first places"

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(map(len, self.rounds))

    def standings(self) -> list[Standing]:
        """Returns the standing of each player, in the order of the names."""
        count = len(self.names)
        seen = {points for games in self.rounds for one in games for points in one}
        bounds = min(seen, default=0.0), max(seen, default=0.0)
        standings = []
        for player, name in enumerate(self.names):
            first, place, points = [], [], []
            for games in self.rounds:
                own = [places(outcomes)[player] for outcomes in games]
                first.append(own.count(1.0) / count)
                place.append(sum(own) / count)
                points.append(sum(outcomes[player] for outcomes in games) / count)
            standings.append(
                Standing(
                    name,
                    mean_interval(first, bounds=(0.0, 1.0)),
                    mean_interval(place, bounds=(1.0, float(count))),
                    mean_interval(points, bounds=bounds if bounds[0] < bounds[1] else OPEN),
                )
            )
        return standings

    def orders(self) -> list[dict[tuple[str, str], tuple[float, int]]]:
        """Returns how often the first of each pair of players came before the second, by round.

        Equal outcomes count half. With it comes the number of their games, as in `rate_rounds`.
        """
        orders = []
        for games in self.rounds:
            counts = {}
            for (i, first), (j, second) in combinations(enumerate(self.names), 2):
                points = [(one[i] > one[j]) - (one[i] < one[j]) for one in games]
                counts[first, second] = (sum(points) / 2 + len(points) / 2, len(points))
            orders.append(counts)
        return orders

    def first_player(self) -> tuple[int, int, Estimate, float]:
        """Returns the games that the first player alone won, those all drew, its share, and it."""
        outcomes = [one for games in self.rounds for one in games]
        share = self.standings()[0].first
        wins = sum(one[0] > max(one[1:]) for one in outcomes)
        return wins, sum(min(one) == max(one) for one in outcomes), share, share.value

    def brief(self, names: Sequence[str] = ()) -> str:
        """Returns the share of first places in a few words."""
        best = max(self.standings(), key=lambda standing: standing.first.value)
        return f"{best.name} first in {100 * best.first.value:.1f} %"

    def figures(self) -> dict[str, Any]:
        """Returns the summary as plain values, for JSON."""
        standings = [standing.figures() for standing in self.standings()]
        return {"games": self.games, "standings": standings}

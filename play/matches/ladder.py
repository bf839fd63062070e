"""Round robins: joint ratings, or in games with dice points per game, all with the same dice.

Pair i of every match has the same dice. So a player's points in the pairs i of all its matches are
not independent, and their sum is one unit of the error bar.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from games.contract import Game
from play.matches.driver import play_all
from play.matches.report import Match, outcome_bounds
from play.matches.units import Pairs, Rounds, units_of
from play.players.player import Player
from play.ratings.bradley_terry import rate, rate_rounds
from play.ratings.statistics import Estimate, Figured, mean_interval

__all__ = ["LadderStanding", "ladder", "standings"]


@dataclass(frozen=True)
class LadderStanding(Figured):
    """A player of a ladder: points per game against all others, with the 95 % interval."""

    called = {"points": "points_per_game"}
    name: str
    points: Estimate
    games: int


def ladder(game: Game, players: Sequence[Player], **options: Any) -> tuple[list[Any], list[Match]]:
    """Play a match of every group of players that fills the seats; returns standings and matches.

    options: those of `play_all`; `games` are those of each match, by default 200 of two players
        without dice.

    Standings are best first: with dice `LadderStanding`s, else Bradley and Terry's `Rating`s, in
    which the first player is rated 0. With more than two players ratings count each pair of a game:
    the one with the better outcome won, equal outcomes are a draw. Intervals treat rounds as
    independent, but not the games of a round or the pairs of a game.

    Ctrl-C or an external engine that fails ends the ladder: standings then cover the games played,
    the last match says so, and players without a game are missing. Raises ValueError for fewer than
    two players or seats, or two players of one name.
    """
    matches = play_all(game, players, **options)
    rated = RATED.get(units_of(game))
    return standings(matches) if rated is None else rated(matches, players[0].name), matches


def _by_pairs(matches: Sequence[Match], anchor: str) -> list[Any]:
    played = [match for match in matches if match.games] or matches
    table = {(match.names[0], match.names[1]): match.summary().tally for match in played}
    return rate(table, anchor=anchor)


def _by_rounds(matches: Sequence[Match], anchor: str) -> list[Any]:
    rounds = [orders for match in matches for orders in match.summary().orders()]
    return rate_rounds(rounds, anchor=anchor) if rounds else []


#: Ratings of players, the first of whom is rated 0, by the kind of their matches.
RATED: dict[Any, Callable[[Sequence[Match], str], list[Any]]] = {Pairs: _by_pairs}
RATED[Rounds] = _by_rounds


def standings(matches: Sequence[Match]) -> list[LadderStanding]:
    """Points per game of every player with a game, best first; matches have the same dice."""
    names = dict.fromkeys(name for match in matches for name in match.names)
    rows = []
    for name in names:
        played = [
            np.array(match.points).sum(axis=1) * (1 if match.names[0] == name else -1)
            for match in matches
            if name in match.names and match.units
        ]
        if not played:
            continue
        units = max(map(len, played))
        points, counts = np.zeros(units), np.zeros(units)
        for one in played:
            points[: len(one)] += one
            counts[: len(one)] += 2
        if counts.min() == counts.max():
            values, bounds = points / counts, outcome_bounds(matches[0].game)
        else:  # linear approximation of a ratio: unplayed games count as the mean
            mean = points.sum() / counts.sum()
            values, bounds = mean + (points - mean * counts) / counts.mean(), (-np.inf, np.inf)
        rows.append(LadderStanding(name, mean_interval(values, bounds=bounds), int(counts.sum())))
    return sorted(rows, key=operator.attrgetter("points.value"), reverse=True)

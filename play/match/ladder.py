"""Round robins: joint ratings, or in games with dice points per game, all with the same dice.

Pair i of every match has the same dice. So a player's points against all others in the pairs of one
number are one unit of the error bar, for any number of other players.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from games.contract import Game
from games.whole_files import write_figure
from play.match.driver import play_all
from play.match.report import Match, outcome_bounds
from play.players.player import Player
from play.ratings.bradley_terry import Rating, rate, rate_rounds
from play.ratings.statistics import Estimate, as_figures, mean_interval

__all__ = ["Standing", "ladder", "plot_estimates", "plot_ladder", "standings"]


@dataclass(frozen=True)
class Standing:
    """A player of a ladder: points per game against all others, with the 95 % interval."""

    name: str
    points: Estimate
    games: int

    def figures(self) -> dict[str, Any]:
        """Returns the same as plain values, for JSON."""
        return as_figures(self, points="points_per_game")


def ladder(game: Game, players: Sequence[Player], **options: Any) -> tuple[list[Any], list[Match]]:
    """Play a match of every group of players that fills the seats; returns standings and matches.

    options: those of `play_match`; `games` are those of each match, by default 200 of two players
        without dice.

    Standings are best first: with dice `Standing`s, else Bradley and Terry's `Rating`s, in which
    the first player is rated 0. With more than two players these are by who came before whom, equal
    outcomes being a draw; their intervals take rounds as independent of each other, not the orders
    of the players within a game or the games of a round.

    Ctrl-C or an external engine that fails ends the ladder: standings then cover the games played,
    the last match says so, and players without a game are missing. Raises ValueError for fewer than
    two players or seats, or two players of one name.
    """
    matches = play_all(game, players, **options)
    if game.dice:
        return standings(matches), matches
    anchor = players[0].name
    if game.players == 2:
        played = [match for match in matches if match.games] or matches
        table = {(match.names[0], match.names[1]): match.summary().tally for match in played}
        return rate(table, anchor=anchor), matches
    rounds = [orders for match in matches for orders in match.summary().orders()]
    return rate_rounds(rounds, anchor=anchor) if rounds else [], matches


def standings(matches: Sequence[Match]) -> list[Standing]:
    """Points per game of every player with a game, best first; matches have the same dice."""
    names = dict.fromkeys(name for match in matches for name in match.names)
    found = []
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
        else:  # linear approximation of a ratio: values with the mean of all games
            mean = points.sum() / counts.sum()
            values, bounds = mean + (points - mean * counts) / counts.mean(), (-np.inf, np.inf)
        found.append(Standing(name, mean_interval(values, bounds=bounds), int(counts.sum())))
    return sorted(found, key=operator.attrgetter("points.value"), reverse=True)


def plot_ladder(path: Any, ratings: Sequence[Rating], title: str) -> None:
    """Write a PNG of ratings with 95 % intervals, best on top; an arrow is an open interval."""
    rows = [(rating.name, rating.elo) for rating in ratings]
    label = f"Elo, 95 % interval of the difference from {anchor_name(ratings)}"
    plot_estimates(path, rows, title, label=label, room=20)


def plot_estimates(
    path: Any,
    rows: Sequence[tuple[str, Estimate]],
    title: str,
    *,
    label: str,
    room: float,
    digits: int = 0,
) -> None:
    """Write a PNG of estimates with their intervals, the first on top; an arrow is an open one.

    rows: name and estimate of each.
    title: title of the picture.
    label: label of the axis.
    room: least space beside the outermost ends, in the unit of the estimates.
    digits: decimal places of the values.

    Raises ValueError if there are no rows.
    """
    if not rows:
        raise ValueError("plot: expected one estimate or more, found none")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.4 + 0.45 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    ends = [end for _, e in rows for end in (e.low, e.value, e.high)]
    finite = [end for end in ends if math.isfinite(end)]
    room += 0.08 * (max(finite) - min(finite))
    left, right = min(finite) - room, max(finite) + room
    for place, (_, estimate) in enumerate(reversed(rows)):
        interval = [max(estimate.low, left), min(estimate.high, right)]
        axes.plot(interval, [place, place], color="tab:blue", linewidth=2)
        axes.plot([estimate.value], [place], "o", color="tab:blue")
        for end, edge, arrow in ((estimate.low, left, "<"), (estimate.high, right, ">")):
            if math.isinf(end):
                axes.plot([edge], [place], arrow, color="tab:blue", clip_on=False)
        axes.annotate(
            f"{estimate.value:+.{digits}f}",
            (estimate.value, place),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
        )
    axes.set_yticks(range(len(rows)), [name for name, _ in reversed(rows)])
    axes.set_ylim(-0.6, len(rows) - 0.2)
    axes.set_xlim(left, right)
    arrows = "; arrow: no bound" if len(finite) < len(ends) else ""
    figure.supxlabel(f"{label}{arrows}", fontsize="medium")  # wider than the axes, as names may be
    axes.set_title(title, loc="left")
    axes.grid(axis="x", alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    write_figure(path, figure)


def anchor_name(ratings: Sequence[Rating]) -> str:
    """Returns the player whose rating is 0 by definition."""
    for rating in ratings:
        if rating.elo.low == rating.elo.high == rating.elo.value:
            return rating.name
    return "the anchor"

"""A round robin with joint ratings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from games.contract import Game
from games.errors import MoveError
from play.match.match import Match, play_match
from play.match.openings import Openings
from play.players.limits import Limits
from play.players.player import Player
from play.ratings.bradley_terry import Rating, rate
from play.ratings.statistics import Estimate
from play.workers import Workers

__all__ = ["check_players", "ladder", "plot_estimates", "plot_ladder"]


def ladder(
    game: Game,
    players: Sequence[Player],
    *,
    limits: Limits,
    games: int = 200,
    openings: Callable[[], Openings] | None = None,
    threads: int = 2,
    workers: Workers | None = None,
    seed: int = 0,
    progress: Callable[[Match], None] | None = None,
) -> tuple[list[Rating], list[Match]]:
    """Every player against every other, `games` games each; ratings (best first) and matches.

    The first player is the anchor, rated 0. Raises ValueError for fewer than two players or two
    of one name. Ctrl-C ends it, and so does a program of others that fails: ratings then cover what
    was played, the last match says so, and players who had not played yet are left out.
    """
    check_players(players)
    matches: list[Match] = []
    pairings = [(a, b) for i, a in enumerate(players) for b in players[i + 1 :]]
    for first, second in pairings:
        try:
            match = play_match(
                game,
                first,
                second,
                limits=limits,
                games=games,
                openings=openings() if openings is not None else None,
                threads=threads,
                workers=workers,
                seed=seed,
                progress=progress,
            )
        except (MoveError, ChildProcessError) as error:
            if not matches:
                raise
            matches[-1].failure = str(error)
            break
        matches.append(match)
        if match.interrupted or match.failure:
            break
    table = {(match.first, match.second): match.summary().tally for match in matches}
    return rate(table, anchor=players[0].name), matches


class Named(Protocol):
    """Whoever has a name."""

    @property
    def name(self) -> str:
        """By which it is known in a ladder."""


def check_players(players: Sequence[Named]) -> None:
    """ValueError for fewer than two players or two of one name."""
    names = [player.name for player in players]
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"expected two or more players of different names, found {names}")


def plot_ladder(path: Any, ratings: Sequence[Rating], title: str) -> None:
    """Write a PNG: ratings with their 95 % intervals, best on top; arrows where one is open."""
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
    """Write a PNG: estimates with their intervals, the first on top; arrows where one is open.

    label: of the axis. room: beside the outermost ends, at least, in the unit of the estimates.
    digits: after the point of the values written. Raises ValueError where there are no rows.
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
    figure.supxlabel(f"{label}{arrows}", fontsize="medium")  # names may be wider than the axes
    axes.set_title(title, loc="left")
    axes.grid(axis="x", alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120, format="png")


def anchor_name(ratings: Sequence[Rating]) -> str:
    """The player whose rating is 0 by definition."""
    for rating in ratings:
        if rating.elo.low == rating.elo.high == rating.elo.value:
            return rating.name
    return "the anchor"
